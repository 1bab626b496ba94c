//go:build peers

package spark

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

func TestTour(t *testing.T) {
	const steps = 46
	output := peers.NewSpark(t).Run(t, "tour", start(t))
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range lines {
		t.Log(line)
	}
	var last struct{ Steps int }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Steps != steps {
		t.Errorf("the tour ends after %d steps and not %d (%v)", last.Steps, steps, err)
	}
}

// start runs spark.hcl on a fresh folder and returns its URL.
func start(t *testing.T) string {
	t.Helper()
	address := launch.FreeAddress(t)
	env := []string{"SPARK_LISTEN=" + address, "SPARK_DATA=" + t.TempDir()}
	launch.Check(t, env, "spark.hcl")
	launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "spark.hcl"}, Env: env,
		Ready: "http://" + address + "/ready",
	})
	return "http://" + address
}
