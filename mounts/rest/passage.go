package rest

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// counted wraps the connections that dial makes, so that it can be told whether
// anything was written to them.
func counted(dial func(ctx context.Context, network, addr string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &wire{Conn: conn}, nil
	}
}

// wire counts the bytes that were written to a connection.
type wire struct {
	net.Conn
	written atomic.Int64
}

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.written.Add(int64(n))
	return n, err
}

// passage follows one request: whether it got a connection, and whether any byte
// of it was written. "Connection refused" and "outcome unknown" are told apart
// by it.
type passage struct {
	mu        sync.Mutex
	connected bool
	reused    bool // the present connection had served others before
	written   bool // on a connection before the present one
	conn      *wire
	from      int64 // what conn had written for others
}

// traced follows the requests made with the context that it returns. The
// transport may take another connection for a request of which nothing was
// written, and for a read in any case.
func traced(ctx context.Context) (context.Context, *passage) {
	p := &passage{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.written = p.wrote()
			p.connected, p.reused, p.conn = false, false, nil
		},
		GotConn: func(info httptrace.GotConnInfo) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.connected, p.reused = true, info.Reused
			conn := info.Conn
			if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
				conn = secure.NetConn() // what it handed over for a handshake is behind it
			}
			if w, ok := conn.(*wire); ok {
				p.conn, p.from = w, w.written.Load()
			}
		},
	}), p
}

// wrote reports whether any byte may have been written. The caller holds mu.
func (p *passage) wrote() bool {
	switch {
	case p.written:
		return true
	case p.conn != nil:
		return p.conn.written.Load() > p.from
	}
	return p.connected // a connection of somebody else's making
}

// reached reports whether the remote may have the request. Of a read only the
// last connection counts, of a change every byte that was ever written. It is
// called when the transport has ended with an error, which it does only when its
// writer has ended (persistConn.mapRoundTripError).
func (p *passage) reached(change bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if change {
		return p.wrote()
	}
	return p.connected
}

// stale reports whether the last connection had been used before.
func (p *passage) stale() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reused
}
