//go:build peers

package peers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cached returns the cache folder for what recipe asks for, and makes it with fill unless it is complete already. fill is
// given an empty folder. Only one process fills at a time.
func cached(t testing.TB, kind, recipe string, fill func(folder string) error) string {
	t.Helper()
	home, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(recipe))
	folder := filepath.Join(home, "icefield-peers", kind+"-"+hex.EncodeToString(hash[:6]))
	complete := filepath.Join(folder, "complete")
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // which gives up the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(complete); err == nil {
		return folder
	}
	if err := os.RemoveAll(folder); err != nil { // half of an earlier attempt
		t.Fatal(err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fill(folder); err != nil {
		t.Fatalf("cannot get the %s peer: %v", kind, err)
	}
	if err := os.WriteFile(complete, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

// command runs a program to its end; the error holds what it printed.
func command(name string, args ...string) error {
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, output)
	}
	return nil
}
