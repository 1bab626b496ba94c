//go:build peers

package peers

import (
	"bytes"
	"context"
	_ "embed"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
)

//go:embed java/pom.xml
var pom string

// classPath returns the Java class path of Iceberg's REST server, client and compatibility kit, after fetching everything
// on first use.
func classPath(t testing.TB) string {
	t.Helper()
	folder := cached(t, "java", pom, func(folder string) error { return copyJars(folder, pom) })
	return filepath.Join(folder, "lib", "*")
}

// copyJars lays the jars that a pom names, and what these need, into the folder "lib".
func copyJars(folder, pom string) error {
	file := filepath.Join(folder, "pom.xml")
	if err := os.WriteFile(file, []byte(pom), 0o644); err != nil {
		return err
	}
	return command("mvn", "--quiet", "--batch-mode", "--file", file,
		"dependency:copy-dependencies", "-DoutputDirectory="+filepath.Join(folder, "lib"))
}

// JavaServer is Iceberg's own REST server over a fresh catalog in a SQLite file and a fresh warehouse in a folder.
type JavaServer struct {
	*launch.Process
	URL string
}

// StartJavaServer starts one on a free port and waits until it serves. It is killed when the test ends.
func StartJavaServer(t testing.TB) *JavaServer {
	t.Helper()
	folder := t.TempDir()
	address := launch.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + address
	process := launch.Start(t, launch.Command{
		Name: "iceberg-java-rest",
		Path: "java",
		Args: []string{"-Xmx512m", "-cp", classPath(t), "org.apache.iceberg.rest.RESTCatalogServer"},
		Env: []string{
			"CATALOG_REST_PORT=" + port,
			"CATALOG_URI=jdbc:sqlite:" + filepath.Join(folder, "catalog.db"),
			"CATALOG_WAREHOUSE=file://" + filepath.Join(folder, "warehouse"),
		},
		Ready: url + "/v1/config",
		Wait:  2 * time.Minute,
	})
	return &JavaServer{process, url}
}

// RunJava compiles and runs a program of one source file that uses Iceberg's Java client, and returns what it printed on
// its standard output; a program that fails, fails the test and shows both outputs.
func RunJava(t testing.TB, file string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), scriptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "java", append([]string{"-Xmx512m", "-cp", classPath(t), file}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("java %s %s: %v\n%s\n%s", file, strings.Join(args, " "), err, tail(stdout.String()), tail(stderr.String()))
	}
	return stdout.String()
}
