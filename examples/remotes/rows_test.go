//go:build peers

package remotes

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
)

// rows has PyIceberg read and write rows through Icefield, and notes it as one step.
func (r *report) rows(t *testing.T, python *peers.Python, s *server, l *lake) {
	const name = "PyIceberg: read, append, delete, evolve"
	t.Run(name, func(t *testing.T) {
		remote := map[string]string{"uri": l.remote.url}
		if l.remote.warehouse != "" {
			remote["warehouse"] = l.remote.warehouse
		}
		maps.Copy(remote, l.remote.files)
		lake := map[string]string{"uri": l.url}
		maps.Copy(lake, l.remote.files)
		scenario, err := json.Marshal(map[string]any{"remote": remote, "lake": lake, "shelf": shelf, "desk": desk})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			cell := "yes"
			if t.Failed() {
				cell = "FAILED"
			}
			r.add(s, name, cell, "")
		}()
		output := python.Run(t, "rows.py", string(scenario))
		if !strings.HasSuffix(strings.TrimSpace(output), "rows: all steps passed") {
			t.Fatal(output)
		}
	})
}
