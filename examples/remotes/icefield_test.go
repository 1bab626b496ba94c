//go:build peers

package remotes

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
)

// secondIcefield is another Icefield with one native catalog. It is mounted by its warehouse, so that it has a prefix.
func secondIcefield() *server {
	return &server{
		name: "Icefield",
		start: func(t *testing.T) *remote {
			folder := t.TempDir()
			config := filepath.Join(folder, "sister.hcl")
			text := `server {
  name   = "sister"
  listen = env("SISTER_LISTEN")
}
mount "/" {
  name               = "quarry"
  backend            = "native"
  catalog_url        = "bolt://${env("SISTER_DATA")}/catalog.db"
  warehouse_location = "${env("SISTER_DATA")}/warehouse"
  owner              = "sister"
}
`
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			address := launch.FreeAddress(t)
			launch.Start(t, launch.Command{
				Name: "sister", Path: launch.Binary(t), Args: []string{"serve", "--config", config},
				Env:   []string{"SISTER_LISTEN=" + address, "SISTER_DATA=" + folder},
				Ready: "http://" + address + "/ready",
			})
			uri := "http://" + address
			return &remote{
				url: uri, warehouse: "quarry", mount: `  profile = "icefield"`,
				direct: direct(t, uri, "quarry"), own: []string{address, "/v1/quarry"},
			}
		},
	}
}
