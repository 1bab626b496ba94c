package embedded

import (
	"os"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// start runs embedded.hcl on a fresh folder and returns the process and its URL.
func start(t *testing.T) (*launch.Process, string) {
	t.Helper()
	address := launch.FreeAddress(t)
	env := []string{"ICEFIELD_LISTEN=" + address, "ICEFIELD_DATA=" + t.TempDir()}
	launch.Check(t, env, "embedded.hcl")
	server := launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "embedded.hcl"}, Env: env,
		Ready: "http://" + address + "/ready",
	})
	return server, "http://" + address
}
