//go:build peers

package peers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

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

func TestSparkHasIcebergsRuntime(t *testing.T) {
	output := peers.NewSpark(t).Run(t, "-c", `
from pyspark.sql import SparkSession
spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
runtime = spark._jvm.org.apache.iceberg.IcebergBuild.version()
memory = spark._jvm.java.lang.Runtime.getRuntime().maxMemory() >> 20
print("spark", spark.version, "iceberg", runtime, memory, "MiB", spark.sql("select 6 * 7").first()[0])
spark.stop()
`)
	var spark, iceberg string
	var memory, answer int
	if _, err := fmt.Sscanf(output, "spark %s iceberg %s %d MiB %d", &spark, &iceberg, &memory, &answer); err != nil || memory > 1024 || answer != 42 {
		t.Fatal(output, err)
	}
}

func TestNessieKeepsItsTablesInAStoreOfObjects(t *testing.T) {
	store := s3mem.New()
	if err := store.CreateBucket("stone"); err != nil {
		t.Fatal(err)
	}
	objects := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(objects.Close)
	server := peers.StartNessie(t, peers.Store{
		URL: objects.URL, Bucket: "stone", Region: "us-east-1", AccessKeyID: "test", SecretKey: "secret-of-the-test",
	})
	config, err := wire.New(server.URL, "").Config("quarry")
	if err != nil || config.Defaults["prefix"] != "main%7Cquarry" {
		t.Fatalf("the prefix of the warehouse is %q, which is what it is mounted for: %v", config.Defaults["prefix"], err)
	}
	catalog := wire.New(server.URL, "main|quarry")
	catalog.MustCreateNamespace(t, "a")
	catalog.MustCreateTable(t, "b", "a")
	table, err := catalog.LoadTable("b", "a")
	if err != nil || !strings.HasPrefix(table.MetadataLocation, "s3://stone/quarry/a/") {
		t.Fatalf("%+v, %v", table, err)
	}
}

// TestSeaweedFSCanBeHad is also what builds it ahead of the tests that need it.
func TestSeaweedFSCanBeHad(t *testing.T) {
	server := peers.StartSeaweedFS(t)
	config, err := wire.New(server.URL, "").Config(server.Bucket)
	if err != nil || config.Overrides["prefix"] != server.Bucket {
		t.Fatalf("the prefix of the table bucket is %q: %v", config.Overrides["prefix"], err)
	}
	answer, err := wire.New(server.URL, server.Bucket).Call(http.MethodGet, "/namespaces", nil)
	if err != nil || answer.Status < 400 {
		t.Fatalf("it lets in who has not logged in: %v, %v", answer, err)
	}
}
