package rest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// brittle is a connection whose next write ends after so many bytes, if that is
// not negative.
type brittle struct {
	net.Conn
	after *atomic.Int64
}

func (b brittle) Write(p []byte) (int, error) {
	n := b.after.Swap(-1)
	if n < 0 || n > int64(len(p)) {
		return b.Conn.Write(p)
	}
	written, err := b.Conn.Write(p[:n])
	b.Conn.Close()
	return written, errors.Join(errors.New("broken pipe"), err)
}

// TestOnlyAChangeOfWhichBytesWereWrittenHasAnUnknownOutcome breaks connections
// in the write: fresh ones and ones that were used, before the first byte and
// behind it.
func TestOnlyAChangeOfWhichBytesWereWrittenHasAnUnknownOutcome(t *testing.T) {
	var served atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		served.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	for name, c := range map[string]struct {
		used    bool  // there is a connection that was used before
		refused bool  // no other one can be made
		after   int64 // bytes that get through
		sends   int64 // that arrive whole
		kind    mounts.Kind
		unknown bool
	}{
		"fresh, nothing written":                      {false, false, 0, 0, mounts.Unavailable, false},
		"fresh, a part written":                       {false, false, 20, 0, mounts.BadGateway, true},
		"used, nothing written, another is made":      {true, false, 0, 1, 0, false},
		"used, nothing written, another is refused":   {true, true, 0, 0, mounts.Unavailable, false},
		"used, a part written, another could be made": {true, false, 20, 0, mounts.BadGateway, true},
		"used, a part written, another is refused":    {true, true, 20, 0, mounts.BadGateway, true},
	} {
		config, err := Config{URL: srv.URL, Writable: true, Request: time.Minute}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		k := newClient(config)
		after, refuse := new(atomic.Int64), new(atomic.Bool)
		after.Store(-1)
		k.transport.DialContext = counted(func(ctx context.Context, network, addr string) (net.Conn, error) {
			if refuse.Load() {
				return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
			}
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return brittle{conn, after}, nil
		})
		drop := call{op: capabilities.DropTable, kind: kindCatalog, method: http.MethodDelete, url: srv.URL + "/x", key: "k"}
		commit := call{op: capabilities.CommitTable, kind: kindCatalog, method: http.MethodPost, url: srv.URL + "/x", body: []byte(`{"a":1}`), key: "k"}
		for _, change := range []call{drop, commit} {
			if c.used {
				refuse.Store(false)
				if _, err := k.do(context.Background(), change); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			} else {
				k.transport.CloseIdleConnections()
			}
			served.Store(0)
			refuse.Store(c.refused)
			after.Store(c.after)
			_, err := k.do(context.Background(), change)
			if n := served.Load(); n != c.sends {
				t.Errorf("%s, %s: arrived %d times, want %d", name, change.op, n, c.sends)
			}
			if c.kind == 0 {
				if err != nil {
					t.Errorf("%s, %s: %v", name, change.op, err)
				}
				continue
			}
			if e := mounts.AsError(err); e == nil || e.Kind != c.kind || e.OutcomeUnknown != c.unknown {
				t.Errorf("%s, %s: %v", name, change.op, err)
			}
		}
		k.close()
	}
}

// TestAChangeWhoseConnectionComesTooLateWasNotSent: the time is over before there
// is a connection.
func TestAChangeWhoseConnectionComesTooLateWasNotSent(t *testing.T) {
	config, err := Config{URL: "http://catalog.example", Writable: true, Request: 50 * time.Millisecond, Connect: time.Minute}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	k := newClient(config)
	defer k.close()
	k.transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err = k.do(context.Background(), call{op: capabilities.CommitTable, method: http.MethodPost, url: config.URL + "/x", body: []byte("{}")})
	if e := mounts.AsError(err); e == nil || e.Kind != mounts.Unavailable || e.OutcomeUnknown {
		t.Errorf("got %v", err)
	}
}
