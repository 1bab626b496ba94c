package launch

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Command is a process to run.
type Command struct {
	Name  string        // for messages and for the log's file name
	Path  string        // the program
	Args  []string      // its arguments
	Dir   string        // its working folder; the test's own if empty
	Env   []string      // added to the test's environment
	Ready string        // a URL that answers 200 once the process serves; empty: Start does not wait
	Wait  time.Duration // how long to wait for that; 30 seconds if zero

	Stdout *os.File // where its standard output goes; to the log if nil
}

// Process is a process that was started.
type Process struct {
	Command
	log    string
	cmd    *exec.Cmd
	exited chan struct{} // closed once the process is gone, after err was set
	err    error
}

// Start runs the command and waits until it is ready. The process is killed at the end of the test, and the end of its
// log is shown if the test failed. A process that exits before it is ready, or is not ready in time, fails the test.
func Start(t testing.TB, command Command) *Process {
	t.Helper()
	folder := t.TempDir()
	p := &Process{Command: command, log: filepath.Join(folder, command.Name+".log")}
	t.Cleanup(func() {
		p.Kill()
		if _, race, found := strings.Cut(p.Output(), "WARNING: DATA RACE"); found { // it was built with the race detector
			t.Errorf("%s has a data race:\n%s", p.Name, race[:min(len(race), 4000)])
		}
		if t.Failed() {
			t.Logf("log of %s:\n%s", p.Name, p.Tail(3000))
		}
	})
	p.Restart(t)
	return p
}

// Restart runs the command of a process that is gone once more, appending to the same log, and waits until it is ready.
func (p *Process) Restart(t testing.TB) {
	t.Helper()
	file, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	p.cmd = exec.Command(p.Path, p.Args...) // #nosec G204 -- the program and arguments are those that a test wrote, without a shell
	p.cmd.Dir = p.Dir
	p.cmd.Env = append(os.Environ(), p.Env...)
	p.cmd.Stdout, p.cmd.Stderr = file, file
	if p.Stdout != nil {
		p.cmd.Stdout = p.Stdout
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%s does not start: %v", p.Name, err)
	}
	exited := make(chan struct{})
	p.exited = exited
	go func() {
		p.err = p.cmd.Wait()
		close(exited)
	}()
	if p.Ready != "" {
		p.await(t)
	}
}

func (p *Process) await(t testing.TB) {
	t.Helper()
	limit := p.Wait
	if limit == 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if answers(ctx, p.Ready) {
			return
		}
		select {
		case <-p.exited:
			t.Fatalf("%s exited before it was ready (%v):\n%s", p.Name, p.err, p.Tail(8000))
		case <-ctx.Done():
			t.Fatalf("%s is not ready after %v:\n%s", p.Name, limit, p.Tail(8000))
		case <-tick.C:
		}
	}
}

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close() // the status is all that is asked
	return response.StatusCode == http.StatusOK
}

// Kill ends the process with SIGKILL and returns once it is gone. It does nothing to a process that is gone already.
func (p *Process) Kill() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it fails for a process that is gone already
	<-p.exited
}

// Stop asks the process to end with SIGINT and waits for it; it returns what exec.Cmd.Wait returned. A process that is
// still there after limit is killed, which is an error.
func (p *Process) Stop(limit time.Duration) error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.exited:
		return p.err
	case <-timer.C:
		p.Kill()
		return errors.New(p.Name + " did not end in " + limit.String() + " after SIGINT")
	}
}

// Exited is closed once the process is gone.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Tail returns the last bytes of what the process printed.
func (p *Process) Tail(limit int) string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	content = bytes.ToValidUTF8(content, []byte("?"))
	if len(content) > limit {
		content = content[len(content)-limit:]
	}
	return string(content)
}

// Output returns everything that the process printed.
func (p *Process) Output() string { return p.Tail(1 << 30) }

// FreeAddress returns a loopback address that nothing listens on: the kernel hands out a port that was not in use, and
// hands out the same one again only after many others.
func FreeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
