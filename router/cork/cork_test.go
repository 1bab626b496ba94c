package cork_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/router/cork"
)

// writes counts the writes of the connections that it accepts. It has no vectored
// ones, so that two buffers written together are two here.
type writes struct {
	net.Listener
	mu    sync.Mutex
	sizes []int
}

type counted struct {
	net.Conn
	to *writes
}

func (w *writes) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	return counted{conn, w}, err
}

func (c counted) Write(p []byte) (int, error) {
	c.to.mu.Lock()
	c.to.sizes = append(c.to.sizes, len(p))
	c.to.mu.Unlock()
	return c.Conn.Write(p)
}

func serve(t *testing.T, h http.HandlerFunc) (*httptest.Server, *writes) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	seen := &writes{Listener: server.Listener}
	server.Listener = cork.Listener(seen)
	server.Config.ConnContext = cork.Context
	server.Start()
	t.Cleanup(server.Close)
	return server, seen
}

func TestAnswersOfEverySizeArriveWholeCorkedOrNot(t *testing.T) {
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		conn := cork.From(r.Context())
		if conn == nil {
			t.Error("the request has no connection")
		}
		if r.URL.Path == "/corked" {
			conn.Cork()
			defer conn.Uncork()
		}
		if r.URL.Query().Get("chunked") == "" {
			w.Header().Set("Content-Length", strconv.Itoa(n))
		}
		for rest := strings.Repeat("x", n); rest != ""; { // in pieces of growing size
			piece := min(len(rest), 1+n-len(rest)*3/4)
			_, _ = io.WriteString(w, rest[:piece])
			rest = rest[piece:]
		}
	})
	for _, path := range []string{"/corked", "/plain"} {
		for _, query := range []string{"", "&chunked=1"} {
			for _, n := range []int{0, 1, 100, 3800, 4095, 4096, 4097, 9000, 20 << 10, 1 << 20} {
				resp, err := http.Get(server.URL + path + "?n=" + strconv.Itoa(n) + query)
				if err != nil {
					t.Fatal(err)
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || string(body) != strings.Repeat("x", n) {
					t.Errorf("%s %d%s: %d bytes, %v", path, n, query, len(body), err)
				}
			}
		}
	}
}

func TestNothingIsWrittenBeforeTheRestOfTheAnswerIsThere(t *testing.T) {
	var seen *writes
	server, seen := serve(t, func(w http.ResponseWriter, r *http.Request) {
		conn := cork.From(r.Context())
		conn.Cork()
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "ab")
		_ = http.NewResponseController(w).Flush()
		seen.mu.Lock()
		early := len(seen.sizes)
		seen.mu.Unlock()
		conn.Uncork()
		seen.mu.Lock()
		defer seen.mu.Unlock()
		if early != 0 || len(seen.sizes) != 1 {
			t.Errorf("%d writes before the cork was pulled, %d after", early, len(seen.sizes))
		}
	})
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); string(body) != "ab" {
		t.Errorf("%q, %v", body, err)
	}
}

// broken takes so many bytes and then fails once, as at a deadline that is
// lifted afterwards.
type broken struct {
	net.Conn
	takes int
	fails bool // and did so
	got   []byte
}

func (b *broken) Write(p []byte) (int, error) {
	if b.fails {
		b.takes = len(p)
	}
	n := min(len(p), b.takes)
	b.got = append(b.got, p[:n]...)
	b.takes -= n
	if n < len(p) {
		b.fails = true
		return n, os.ErrDeadlineExceeded
	}
	return n, nil
}

// one is a listener of one connection.
type one struct {
	net.Listener
	conn net.Conn
}

func (o one) Accept() (net.Conn, error) { return o.conn, nil }

func corkable(t *testing.T, inner net.Conn) *cork.Conn {
	t.Helper()
	conn, err := cork.Listener(one{conn: inner}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	return cork.From(cork.Context(context.Background(), conn))
}

// Whoever was told that it was written goes on with the connection: what comes
// next must not be taken for the rest of what is missing.
func TestAHeldWriteThatFailsFailsTheConnection(t *testing.T) {
	for name, end := range map[string]func(*cork.Conn) error{
		"by the cork": func(c *cork.Conn) error { c.Uncork(); return nil },
		"by the next": func(c *cork.Conn) error { _, err := c.Write([]byte("rest")); return err },
	} {
		inner := &broken{takes: 3}
		c := corkable(t, inner)
		c.Cork()
		if n, err := c.Write([]byte("answer")); n != 6 || err != nil || len(inner.got) != 0 {
			t.Fatalf("%s: %d, %v, %q", name, n, err, inner.got)
		}
		err := end(c)
		if name == "by the next" && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if n, err := c.Write([]byte("next answer")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: a further write: %d, %v", name, n, err)
		}
		if string(inner.got) != "ans" {
			t.Errorf("%s: the connection got %q", name, inner.got)
		}
	}
}

func TestAFailureInTheSecondPartIsToldWithWhatWasSent(t *testing.T) {
	inner := &broken{takes: 8}
	c := corkable(t, inner)
	c.Cork()
	_, _ = c.Write([]byte("head"))
	if n, err := c.Write([]byte("0123456789")); n != 4 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d, %v", n, err)
	}
	if string(inner.got) != "head0123" {
		t.Errorf("got %q", inner.got)
	}
}

func TestHalfOfAConnectionCanBeClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := cork.Listener(l).Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_ = client.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := client.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read %d, %v", n, err)
	}
	if _, err := client.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if n, err := conn.Read(make([]byte, 1)); n != 1 {
		t.Errorf("the other half: %d, %v", n, err)
	}
}

func TestWithoutAConnectionNothingIsCorked(t *testing.T) {
	c := cork.From(context.Background())
	c.Cork()
	c.Uncork()
	if c != nil {
		t.Error("a connection from nowhere")
	}
}
