package main

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBuildIsDescribedByWhatTheToolchainStamped(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.99", Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
		{Key: "vcs.modified", Value: "true"}, {Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"},
	}}
	assert.Equal(t, "icefield v1.2.3 (0123456789ab, modified, 2026-01-02T03:04:05Z) go1.99 linux/arm64", describeBuild(info).String())
	assert.Equal(t, "icefield devel go1.99", describeBuild(&debug.BuildInfo{GoVersion: "go1.99", Main: debug.Module{Version: "(devel)"}}).String())
}
