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

// Python is an interpreter that has PyIceberg, pyarrow and DuckDB.
type Python struct {
	Path string // the interpreter
	home string
}

// NewPython returns the interpreter, after installing everything on first use.
func NewPython(t testing.TB) *Python {
	t.Helper()
	folder := cached(t, "python", requirements+duckdbHome, func(folder string) error {
		list, layout := filepath.Join(folder, "requirements.txt"), filepath.Join(folder, "duckdb_home.py")
		if err := os.WriteFile(list, []byte(requirements), 0o644); err != nil {
			return err
		}
		if err := os.WriteFile(layout, []byte(duckdbHome), 0o644); err != nil {
			return err
		}
		if err := command("python3", "-m", "venv", filepath.Join(folder, "venv")); err != nil {
			return err
		}
		python := filepath.Join(folder, "venv", "bin", "python")
		if err := command(python, "-m", "pip", "install", "--quiet", "--requirement", list); err != nil {
			return err
		}
		return command(python, layout, filepath.Join(folder, "home"))
	})
	return &Python{Path: filepath.Join(folder, "venv", "bin", "python"), home: filepath.Join(folder, "home")}
}

// scriptLimit is how long a script may run.
const scriptLimit = 10 * time.Minute

// Command returns the command that runs a script or, for the first argument "-c", a program text. Its home is one
// without any settings of the user, in which DuckDB's extensions are installed.
func (p *Python) Command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, p.Path, args...)
	cmd.Env = append(os.Environ(), "HOME="+p.home, "PYTHONDONTWRITEBYTECODE=1", "PYTHONUNBUFFERED=1")
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
