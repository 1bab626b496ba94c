//go:build peers

package remotes

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/icefield/icefield/examples/internal/peers"
)

// pyIceberg is the suite that PyIceberg goes through.
func pyIceberg(ctx context.Context, python *peers.Python) []step {
	run := func(name string) func(k *kit) {
		return func(k *kit) {
			remote := map[string]string{"uri": cmp.Or(k.lake.remote.past, k.lake.remote.url)}
			if k.lake.remote.warehouse != "" {
				remote["warehouse"] = k.lake.remote.warehouse
			}
			maps.Copy(remote, k.lake.remote.files)
			lake := map[string]string{"uri": k.lake.url}
			maps.Copy(lake, k.lake.remote.files)
			scenario, err := json.Marshal(map[string]any{"remote": remote, "lake": lake, "shelf": shelf, "desk": desk, "step": name})
			k.no(err, "encode")
			output, err := python.Command(ctx, "rows.py", string(scenario)).CombinedOutput()
			if text := strings.TrimSpace(string(output)); err != nil || !strings.HasSuffix(text, name+": all steps passed") {
				k.failf("rows.py %s: %v\n%s", scenario, err, text[max(0, len(text)-6000):])
			}
		}
	}
	return []step{
		{"PyIceberg: read, append, delete rows", run("rows")},
		{"PyIceberg: create in a transaction, add a column", run("evolves")},
	}
}
