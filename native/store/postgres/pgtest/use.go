//go:build peers

package pgtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// shared is the cluster of a test binary. The testing package has no end of all
// tests but the return of TestMain.
var shared struct {
	sync.Mutex
	cluster *Cluster
	main    bool
}

// Main runs the tests of a package and ends the shared cluster, if one was
// started.
func Main(m *testing.M) int {
	shared.main = true
	code := m.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.cluster != nil {
		shared.cluster.remove()
	}
	return code
}

// Shared is the cluster that all tests of a package share. The package's TestMain
// calls Main.
func Shared(t testing.TB) *Cluster {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if !shared.main {
		t.Fatal("the package has no TestMain that calls pgtest.Main")
	}
	if shared.cluster == nil {
		c, err := start()
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster = c
	}
	return shared.cluster
}

// NewDatabase makes an empty database, which goes with the test.
func (c *Cluster) NewDatabase(t testing.TB) (url string) {
	t.Helper()
	name := fmt.Sprint("test", c.databases.Add(1))
	c.Exec(t, "CREATE DATABASE "+name)
	t.Cleanup(func() {
		// The cluster may be down, or gone.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if conn, err := pgx.Connect(ctx, c.URL("postgres")); err == nil {
			_, _ = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
			_ = conn.Close(ctx)
		}
	})
	return c.URL(name)
}

// Exec runs a statement as the superuser.
func (c *Cluster) Exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	c.ExecIn(t, c.URL("postgres"), sql, args...)
}

// ExecIn runs a statement in the database of a URL.
func (c *Cluster) ExecIn(t testing.TB, url, sql string, args ...any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// CutConnections ends every session of the cluster, in the middle of whatever it
// does.
func (c *Cluster) CutConnections(t testing.TB) {
	t.Helper()
	c.Exec(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
}

// Stop stops the server as an administrator would: it ends all sessions and
// writes everything.
func (c *Cluster) Stop(t testing.TB) {
	t.Helper()
	c.end()
}

// Begin starts a server that was stopped or crashed, on its old port.
func (c *Cluster) Begin(t testing.TB) {
	t.Helper()
	c.end()
	if err := c.begin(); err != nil {
		t.Fatalf("postgres does not start again: %v\n%s", err, c.log())
	}
}

// Restart stops the server and starts it.
func (c *Cluster) Restart(t testing.TB) {
	t.Helper()
	c.Begin(t)
}

// Crash ends the server at once, as a power failure would but for the system's
// memory; it recovers when it is started again.
func (c *Cluster) Crash(t testing.TB) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.data(), "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	c.end()
}
