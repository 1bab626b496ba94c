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

// cacheFolder is where everything that was fetched is kept.
func cacheFolder(t testing.TB) string {
	t.Helper()
	home, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(home, "icefield-peers")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// locked waits until no other process holds the lock of that name, and returns what gives it up.
func locked(t testing.TB, name string) (unlock func()) {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(cacheFolder(t), name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { lock.Close() } // which gives up the lock
}

// cached returns the cache folder for what recipe asks for, and makes it with fill unless it is complete already. fill is
// given an empty folder. Only one process fills at a time.
func cached(t testing.TB, kind, recipe string, fill func(folder string) error) string {
	t.Helper()
	hash := sha256.Sum256([]byte(recipe))
	name := kind + "-" + hex.EncodeToString(hash[:6])
	defer locked(t, name)()
	folder := filepath.Join(cacheFolder(t), name)
	complete := filepath.Join(folder, "complete")
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
