//go:build peers

package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
)

// The script is checked against Iceberg's own server first: what it asserts is the protocol and not our habits.
func TestLifeCycleScriptHoldsForIcebergsOwnServer(t *testing.T) {
	t.Setenv("LENIENT", "1")
	ends(t, peers.NewPython(t).Run(t, "lifecycle.py", peers.StartJavaServer(t).URL), "lifecycle: all steps passed")
}

func TestPyIcebergLifeCycle(t *testing.T) {
	python := peers.NewPython(t)
	_, address := start(t)
	ends(t, python.Run(t, "lifecycle.py", address), "lifecycle: all steps passed")
	ends(t, python.Run(t, "lifecycle.py", address, "root"), "lifecycle: all steps passed") // as the mount's own catalog
}

// Without a file the server takes its fixed address, so this is the one test that needs 127.0.0.1:8181.
func TestPyIcebergLifeCycleWithoutConfiguration(t *testing.T) {
	const address = "http://127.0.0.1:8181"
	python := peers.NewPython(t)
	server := launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve"}, Dir: t.TempDir(), Ready: address + "/ready",
	})
	ends(t, python.Run(t, "lifecycle.py", address), "lifecycle: all steps passed")
	if err := server.Stop(30 * time.Second); err != nil {
		t.Errorf("the server ends on SIGINT with %v", err)
	}
	if _, err := os.Stat(filepath.Join(server.Dir, "icefield-data")); err != nil {
		t.Error(err)
	}
}

// TestKilledServerKeepsWhatPyIcebergWasTold is the crash test with real commits: rows appended by two PyIceberg processes
// to one table, so that they also lose races to each other.
func TestKilledServerKeepsWhatPyIcebergWasTold(t *testing.T) {
	const committers = 2
	python := peers.NewPython(t)
	server, address := start(t)
	ends(t, python.Run(t, "ledger.py", address, "prepare"), "ledger: prepared")

	folder := t.TempDir()
	stop := filepath.Join(folder, "stop")
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var running []*exec.Cmd
	var outputs []*strings.Builder
	var ledgers []string
	for number := range committers {
		ledger := filepath.Join(folder, fmt.Sprintf("ledger-%d", number))
		if err := os.WriteFile(ledger, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd, output := python.Command(ctx, "committer.py", address, fmt.Sprint(number), ledger, stop), &strings.Builder{}
		cmd.Stdout, cmd.Stderr = output, output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running, outputs, ledgers = append(running, cmd), append(outputs, output), append(ledgers, ledger)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for crash := range crashes {
		moreAcknowledged(t, ledgers, 3) // so that every life of the server has seen commits
		timer := time.NewTimer(time.Duration(random.IntN(150)) * time.Millisecond)
		<-timer.C
		server.Kill()
		told := copies(t, ledgers)
		server.Restart(t)
		if crash%4 == 0 { // a lost row stays lost: looking now and then finds it near its crash
			ends(t, python.Run(t, append([]string{"ledger.py", address, "held"}, told...)...), "ledger: every row accounted for")
		}
	}
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for number, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("committer %d: %v\n%s", number, err, outputs[number])
		}
	}
	result := python.Run(t, append([]string{"ledger.py", address, "check"}, ledgers...)...)
	ends(t, result, "ledger: every row accounted for")
	t.Log(strings.TrimSpace(result))
}

// moreAcknowledged waits until the ledgers together hold some more acknowledged rows than now.
func moreAcknowledged(t *testing.T, ledgers []string, more int) {
	t.Helper()
	count := func() (lines int) {
		for _, ledger := range ledgers {
			content, err := os.ReadFile(ledger)
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(content), "ok ")
		}
		return lines
	}
	before := count()
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for count() < before+more {
		select {
		case <-limit.C:
			t.Fatalf("no %d more commits were acknowledged within a minute", more)
		case <-tick.C:
		}
	}
}

// copies returns copies of the ledgers as they are now, without a line that is being written.
func copies(t *testing.T, ledgers []string) []string {
	t.Helper()
	var out []string
	for _, ledger := range ledgers {
		content, err := os.ReadFile(ledger)
		if err != nil {
			t.Fatal(err)
		}
		whole := content[:strings.LastIndexByte(string(content), '\n')+1]
		out = append(out, ledger+"-told")
		if err := os.WriteFile(out[len(out)-1], whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// ends asserts what the last line of a program's output is.
func ends(t *testing.T, output, last string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if lines[len(lines)-1] != last {
		t.Fatalf("the last line is not %q:\n%s", last, output)
	}
}
