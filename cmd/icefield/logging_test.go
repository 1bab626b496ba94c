package main

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLogsOutsideATerminalAreJSONWithDurationsInMilliseconds(t *testing.T) {
	var log bytes.Buffer
	newLogger(&log).Info("done", "duration", 1500*time.Microsecond, "status", 200)
	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	assert.Equal(t, 1.5, line["duration_ms"])
	assert.NotContains(t, line, "duration")
	assert.EqualValues(t, 200, line["status"])
}
