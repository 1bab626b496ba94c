//go:build peers

package peers

import (
	"bytes"
	"context"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

//go:embed requirements.txt
var requirements string

//go:embed duckdb_home.py
var duckdbHome string

// Python is an interpreter with the packages of one of the peers.
type Python struct {
	Path string // the interpreter
	home string
	env  []string
}

// NewPython returns an interpreter that has PyIceberg, pyarrow and DuckDB, after installing everything on first use.
func NewPython(t testing.TB) *Python {
	t.Helper()
	folder := cached(t, "python", requirements+duckdbHome, func(folder string) error {
		layout := filepath.Join(folder, "duckdb_home.py")
		if err := os.WriteFile(layout, []byte(duckdbHome), 0o644); err != nil {
			return err
		}
		if err := installPython(folder, requirements); err != nil {
			return err
		}
		return command(interpreter(folder), layout, filepath.Join(folder, "home"))
	})
	return &Python{Path: interpreter(folder), home: filepath.Join(folder, "home")}
}

// installPython makes a virtual environment with what requirements names in the folder "venv".
func installPython(folder, requirements string) error {
	list := filepath.Join(folder, "requirements.txt")
	if err := os.WriteFile(list, []byte(requirements), 0o644); err != nil {
		return err
	}
	if err := command("python3", "-m", "venv", filepath.Join(folder, "venv")); err != nil {
		return err
	}
	return command(interpreter(folder), "-m", "pip", "install", "--quiet", "--no-cache-dir", "--requirement", list)
}

// interpreter is the one of the virtual environment in a folder.
func interpreter(folder string) string { return filepath.Join(folder, "venv", "bin", "python") }

// scriptLimit is how long a script may run.
const scriptLimit = 10 * time.Minute

// Command returns the command that runs a script or, for the first argument "-c", a program text. Its home is one
// without any settings of the user.
func (p *Python) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = append(os.Environ(), "HOME="+p.home, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1")
	cmd.Env = append(cmd.Env, p.env...)
	return cmd
}

// Run runs a script and returns what it printed on its standard output; a script that fails, fails the test and shows
// both outputs.
func (p *Python) Run(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), scriptLimit)
	defer cancel()
	cmd := p.Command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("python %s: %v\n%s\n%s", strings.Join(args, " "), err, tail(stdout.String()), tail(stderr.String()))
	}
	return stdout.String()
}

// tail cuts long output to its end, which is where a Python program says what went wrong.
func tail(output string) string {
	const limit = 6000
	if len(output) > limit {
		return "…" + output[len(output)-limit:]
	}
	return output
}
