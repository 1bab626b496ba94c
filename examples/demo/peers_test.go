//go:build peers

package demo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

func TestWhatTheDemoPrintsCanBePasted(t *testing.T) {
	python := peers.NewPython(t)
	demo := launch.Start(t, launch.Command{Name: "demo", Path: launch.Binary(t), Args: []string{"demo"}, Env: []string{"TMPDIR=" + t.TempDir()}})
	output := printed(t, demo, "Serving until you press Ctrl-C")

	folder := t.TempDir()
	snippet := func(heading, file string) string {
		_, rest, found := strings.Cut(output, "\n--- "+heading)
		if !found {
			t.Fatalf("the demo prints nothing for %s:\n%s", heading, output)
		}
		_, rest, _ = strings.Cut(rest, "\n") // the rest of the heading
		lines, _, _ := strings.Cut(rest, "\n---")
		lines, _, _ = strings.Cut(lines, "\nServing until")
		path := filepath.Join(folder, file)
		if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	result := python.Run(t, "pasted.py", snippet("PyIceberg", "snippet.py"), snippet("DuckDB", "snippet.sql"))
	if !strings.HasSuffix(strings.TrimSpace(result), "pasted: equal rows from PyIceberg and DuckDB") {
		t.Fatal(result)
	}
	if err := demo.Stop(20 * time.Second); err != nil {
		t.Errorf("the demo ends on Ctrl-C with %v", err)
	}
}

// printed waits until the process has printed a text and returns everything up to then.
func printed(t *testing.T, process *launch.Process, text string) string {
	t.Helper()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if output := process.Output(); strings.Contains(output, text) {
			return output
		}
		select {
		case <-limit.C:
			t.Fatalf("%s does not print %q:\n%s", process.Name, text, process.Output())
		case <-process.Exited():
			t.Fatalf("%s exited:\n%s", process.Name, process.Output())
		case <-tick.C:
		}
	}
}
