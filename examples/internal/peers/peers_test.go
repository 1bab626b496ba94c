//go:build peers

package peers_test

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/examples/internal/wire"
)

func TestPythonHasItsClientsAndDuckDBItsExtensions(t *testing.T) {
	output := peers.NewPython(t).Run(t, "-c", `
import duckdb, pyarrow, pyiceberg, pyiceberg_core
connection = duckdb.connect()
for extension in ("httpfs", "avro", "iceberg"):
    connection.execute(f"install {extension}")
    connection.execute(f"load {extension}")
print("pyiceberg", pyiceberg.__version__)
`)
	if !strings.HasPrefix(output, "pyiceberg 0.") {
		t.Fatal(output)
	}
}

func TestTheJavaServerServesACatalogAndAskedForPages(t *testing.T) {
	server := peers.StartJavaServer(t)
	catalog := wire.New(server.URL, "").WithSeparator(".")
	config, err := catalog.Config("")
	if err != nil {
		t.Fatal(err)
	}
	if config.Overrides["namespace-separator"] != "%2E" {
		t.Errorf("the server's namespace separator is %q, which is what it is mounted for", config.Overrides["namespace-separator"])
	}
	for _, name := range []string{"a", "b", "c"} {
		catalog.MustCreateNamespace(t, name)
	}
	names, pages, err := catalog.Namespaces().Walk(2)
	if err != nil || len(names) != 3 || pages != 2 {
		t.Fatalf("%q in %d pages, %v", names, pages, err)
	}
}
