//go:build peers

package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running PostgreSQL.
type Cluster struct {
	folder, bin string
	port        int
	password    string
	credential  *syscall.Credential
	life        io.Closer // the server runs until it is closed
	ended       chan struct{}
	databases   atomic.Int64
}

// admin is the cluster's superuser.
const admin = "icefield"

// keeper runs the server until its input ends, which it does with the tests,
// however they end.
const keeper = `"$1" -D "$2" -p "$3" -k "$2" -h 127.0.0.1 -c max_connections=200 -c shared_buffers=128MB >>"$2/server.log" 2>&1 &
server=$!
cat >/dev/null
kill -INT "$server" 2>/dev/null
wait "$server"`

// Start starts a cluster that ends with the test.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c, err := start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("end of the database's log:\n%s", c.log())
		}
		c.remove()
	})
	return c
}

func start() (*Cluster, error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "icefield-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{folder: folder, bin: bin, password: rand.Text()}
	if err := c.initialize(); err != nil {
		_ = os.RemoveAll(folder)
		return nil, err
	}
	// The port is free when it is chosen; somebody may be faster.
	for range 5 {
		if c.port, err = freePort(); err != nil {
			break
		}
		if err = c.begin(); err == nil {
			return c, nil
		}
	}
	log := c.log()
	_ = os.RemoveAll(folder)
	return nil, fmt.Errorf("postgres does not start: %w\n%s", err, log)
}

// programs is the folder that has both programs, of the newest release.
func programs() (string, error) {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	more, _ := filepath.Glob("/usr/pgsql-*/bin")
	slices.SortFunc(folders, func(a, b string) int { return release(b) - release(a) })
	for _, folder := range append(append(folders, more...), filepath.SplitList(os.Getenv("PATH"))...) {
		if _, err := os.Stat(filepath.Join(folder, "initdb")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(folder, "postgres")); err == nil {
			return folder, nil
		}
	}
	return "", errors.New("PostgreSQL's initdb and postgres are not on the PATH nor in /usr/lib/postgresql; install the package postgresql")
}

func release(folder string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
	return n
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// initialize makes the cluster's files.
func (c *Cluster) initialize() error {
	if os.Getuid() == 0 {
		if err := c.becomeSomebody(); err != nil {
			return err
		}
	}
	secret := filepath.Join(c.folder, "password")
	if err := os.WriteFile(secret, []byte(c.password), 0o644); err != nil {
		return err
	}
	cmd := c.command(filepath.Join(c.bin, "initdb"), "--pgdata", c.data(), "--username", admin, "--auth", "scram-sha-256", "--pwfile", secret,
		"--encoding", "UTF8", "--no-locale", "--no-instructions")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

func (c *Cluster) becomeSomebody() error {
	for _, name := range []string{"postgres", "nobody"} {
		somebody, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(somebody.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(somebody.Gid, 10, 32)
		if errUID != nil || errGID != nil {
			continue
		}
		c.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(c.folder, int(uid), int(gid))
	}
	return errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor nobody")
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

func (c *Cluster) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = c.folder
	// A group of its own: an interrupt at the terminal ends the tests, and they end
	// the server.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.credential, Setpgid: true}
	return cmd
}

// begin starts the server and waits until it answers.
func (c *Cluster) begin() error {
	cmd := c.command("/bin/sh", "-c", keeper, "keeper", filepath.Join(c.bin, "postgres"), c.data(), strconv.Itoa(c.port))
	life, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	c.life, c.ended = life, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(c.ended)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		if _, gone := os.Stat(filepath.Join(c.data(), "postmaster.pid")); gone != nil && strings.Contains(c.log(), "could not bind") {
			c.end()
			return errors.New("its port was taken")
		}
		select {
		case <-ctx.Done():
			c.end()
			return err
		case <-tick.C:
		}
	}
}

// end stops the server and waits for its end. It may be down already.
func (c *Cluster) end() {
	_ = c.life.Close()
	<-c.ended
}

func (c *Cluster) remove() {
	c.end()
	_ = os.RemoveAll(c.folder)
}

// log is the end of the server's log.
func (c *Cluster) log() string {
	text, _ := os.ReadFile(filepath.Join(c.data(), "server.log"))
	return string(text[max(0, len(text)-4000):])
}

// URL is how to connect to one of the cluster's databases.
func (c *Cluster) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(admin, c.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)),
		Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Password is the one in every URL.
func (c *Cluster) Password() string { return c.password }

// Address is where the server listens.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }
