package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
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

// sinceThen is a duration that is worked out when the line is written.
type sinceThen struct{}

func (sinceThen) LogValue() slog.Value { return slog.DurationValue(2 * time.Millisecond) }

func TestDurationsAreInMillisecondsWhereverTheyStand(t *testing.T) {
	var log bytes.Buffer
	logger := newLogger(&log).With("wait", time.Second, "mount", "m").WithGroup("call")
	logger.Info("done", "kept", "x", "took", sinceThen{}, slog.Group("parts", "dial", time.Millisecond, "status", 200))
	var line map[string]any
	require.NoError(t, json.Unmarshal(log.Bytes(), &line))
	delete(line, "time")
	assert.Equal(t, map[string]any{"level": "INFO", "msg": "done", "wait_ms": 1000., "mount": "m",
		"call": map[string]any{"kept": "x", "took_ms": 2., "parts": map[string]any{"dial_ms": 1., "status": 200.}}}, line)
}
