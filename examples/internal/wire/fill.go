package wire

import (
	"testing"

	"github.com/icefield/icefield/native/jobs/jobstest"
)

// MustFillTable creates a table where the server chooses its place, puts files
// there and commits them as snapshots, or fails the test. It works where the
// warehouse is a folder of this machine.
func (c *Catalog) MustFillTable(t testing.TB, snapshots []jobstest.Snapshot, name string, levels ...string) *jobstest.Layout {
	t.Helper()
	c.MustCreateTable(t, name, levels...)
	table, err := c.LoadTable(name, levels...)
	if err != nil {
		t.Fatal(err)
	}
	layout := jobstest.New(t, table.Metadata.Location)
	for _, snapshot := range snapshots {
		layout.Append(snapshot)
	}
	if _, err := c.Commit([]any{}, layout.Updates, name, levels...); err != nil {
		t.Fatal(err)
	}
	return layout
}
