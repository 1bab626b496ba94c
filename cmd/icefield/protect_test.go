package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

func TestLocationsOfOurOwnWarehousesAreKnownInEverySpelling(t *testing.T) {
	g := &governed{}
	assert.False(t, g.holds("s3://lake/warehouse/t"), "before there is any")
	require.NoError(t, g.set([]config.Mount{
		{Native: &config.Native{Warehouse: "s3://lake/warehouse"}}, {Native: &config.Native{Warehouse: "file:///srv/w"}}, {Rest: &config.Rest{}},
	}))
	for location, want := range map[string]bool{
		"s3://lake/warehouse": true, "s3://lake/warehouse/t": true, "s3a://lake/warehouse/t/": true, "s3n://lake/warehouse/t": true,
		"s3://lake/warehouse2/t": false, "s3://lake/other": false, "s3://partner/warehouse/t": false, "hdfs://lake/warehouse/t": false,
		"file:///srv/w/t": true, "/srv/w/t": true, "file:///srv/w2": false,
		// What readers could take for two places counts by its bucket.
		"s3://lake/other/../warehouse/t": true, "S3://lake/warehouse/t": true, "s3://lake//warehouse/t": true, "s3://lake/%2e%2e/x": true,
		"s3://partner/../lake/warehouse": false, "srv/w/t": true,
	} {
		assert.Equal(t, want, g.holds(location), location)
	}
}
