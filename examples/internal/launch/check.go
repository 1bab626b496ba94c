package launch

import (
	"os"
	"os/exec"
	"testing"
)

// Check runs "icefield check" on a configuration, which must find nothing wrong.
func Check(t testing.TB, env []string, config string) {
	t.Helper()
	cmd := exec.Command(Binary(t), "check", config) // #nosec G204 -- the binary that Main built, on the configuration that a test wrote, without a shell
	cmd.Env = append(os.Environ(), env...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("icefield check %s: %v\n%s", config, err, output)
	}
}
