package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// binaryEnv names the binary to test. Main sets it for the tests that it runs; it is left alone where it is set already,
// so that a binary that was built in another way (with the race detector, or installed) can be tested as it is.
const binaryEnv = "ICEFIELD_TEST_BINARY"

// Main builds the icefield binary once, runs the package's tests and removes the binary. It returns the exit status.
func Main(m *testing.M) int {
	if os.Getenv(binaryEnv) != "" {
		return m.Run()
	}
	folder, err := os.MkdirTemp("", "icefield-binary-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "icefield")
	build := exec.Command("go", "build", "-o", path, "github.com/icefield/icefield/cmd/icefield") // #nosec G204 -- the only variable is a path in the folder made above
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "the icefield binary does not build:", err)
		return 1
	}
	if err := os.Setenv(binaryEnv, path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Binary returns the path of the icefield binary that Main built.
func Binary(t testing.TB) string {
	t.Helper()
	path := os.Getenv(binaryEnv)
	if path == "" {
		t.Fatalf("%s is not set: the package's TestMain must call launch.Main", binaryEnv)
	}
	return path
}
