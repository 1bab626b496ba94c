package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy/audit/audittest"
)

// What a process does when it is killed, or its standard output closed, is seen
// from outside: the test binary runs itself.
const (
	childTask = "ICEFIELD_AUDIT_TEST_TASK"
	childPath = "ICEFIELD_AUDIT_TEST_PATH"
)

func TestMain(m *testing.M) {
	task, ok := map[string]func() error{"record": childRecords, "stdout": childStdout, "limit": childLimited}[os.Getenv(childTask)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := task(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, task, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childTask+"="+task, childPath+"="+path)
	cmd.Stderr = new(strings.Builder)
	return cmd
}

// childRecords records for ever, and says what is recorded.
func childRecords() error {
	log, err := Open(Options{Sink: File, Path: os.Getenv(childPath), FailClosed: true, MaxSize: 200000, Keep: 1000})
	if err != nil {
		return err
	}
	results := make(chan string)
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d", w, i)
				if err := record(log, id); err != nil {
					id = err.Error()
				}
				results <- id
				_ = log.Record(context.Background(), event("read"), false)
			}
		}()
	}
	for id := range results {
		if _, err := fmt.Println(id); err != nil {
			return err
		}
	}
	return nil
}

func TestWhatWasRecordedSurvivesAKill(t *testing.T) {
	path := trailPath(t)
	cmd := child(t, "record", path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if said = append(said, lines.Text()); len(said) == 2000 {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.Error(t, cmd.Wait())
	require.GreaterOrEqual(t, len(said), 2000)

	trail, _, err := audittest.Read(path)
	require.NoError(t, err)
	there := audittest.Permitted(trail)["prod"]
	for _, id := range said {
		if strings.Contains(id, "-") && !there[id] {
			t.Errorf("%s was recorded and is not there", id)
		}
	}
}

// childStdout records on a standard output that nobody reads any more.
func childStdout() error {
	// The reader goes away after the first line, and says so on the standard input.
	log, err := Open(Options{Sink: Stdout, FailClosed: true, Logger: quiet})
	if err != nil {
		return err
	}
	if err := record(log, "first"); err != nil {
		return err
	}
	if _, err := os.Stdin.Read(make([]byte, 1)); err == nil {
		return errors.New("the standard input should have ended")
	}
	if err := record(log, "second"); !errors.Is(err, mounts.Unavailable) {
		return fmt.Errorf("recorded on a closed pipe: %w", err)
	}
	if s := log.Status(); s.State != Failing || s.Reason != "broken pipe" || s.Refused != 1 {
		return fmt.Errorf("status %+v", s)
	}
	_ = log.Record(context.Background(), event("read"), false)
	if err := log.Close(); err == nil {
		return errors.New("Close did not say what is lost")
	}
	_, err = fmt.Fprintln(os.Stderr, "alive")
	return err
}

func TestAClosedStandardOutputDoesNotEndTheProcess(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd := child(t, "stdout", "")
	cmd.Stdout = w
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, w.Close())
	first, err := bufio.NewReader(r).ReadString('\n')
	require.NoError(t, err)
	lines, _ := audittest.Parse([]byte(first))
	require.Equal(t, []string{"first"}, ids(lines))
	require.NoError(t, r.Close())
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait(), cmd.Stderr)
	require.Equal(t, "alive\n", cmd.Stderr.(*strings.Builder).String())
}

// childLimited records until its files may not grow any more.
func childLimited() error {
	log, err := Open(Options{Sink: File, Path: os.Getenv(childPath), FailClosed: true, Logger: quiet})
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 5000, Max: 1 << 40}); err != nil {
		return err
	}
	refused := 0
	for i := range 100 {
		if err := log.Record(context.Background(), numberedEvent(i), true); errors.Is(err, mounts.Unavailable) {
			refused++
		} else if err != nil {
			return err
		} else if refused > 0 {
			return errors.New("written although the file is full")
		}
	}
	if s := log.Status(); refused == 0 || s.Reason != "file too large" {
		return fmt.Errorf("%d refused, status %+v", refused, s)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 40, Max: 1 << 40}); err != nil {
		return err
	}
	if err := record(log, "again"); err != nil {
		return err
	}
	_, err = fmt.Fprint(os.Stderr, refused)
	return errors.Join(err, log.Close())
}

func TestAFileThatMayNotGrowIsARefusalAndNoEnd(t *testing.T) {
	path := trailPath(t)
	cmd := child(t, "limit", path)
	require.NoError(t, cmd.Run(), cmd.Stderr)
	lines, torn, err := audittest.Read(path)
	require.NoError(t, err)
	require.Equal(t, 1, torn, "the line that was cut short")
	refused := cmd.Stderr.(*strings.Builder).String()
	require.Equal(t, []string{"lost 0 refused " + refused, "again"}, ids(lines)[len(lines)-2:])
	require.Contains(t, ids(lines), "0")
}
