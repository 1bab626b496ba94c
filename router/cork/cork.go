package cork

import (
	"context"
	"net"
	"sync"
)

// most is the largest write that is held back: the buffer of an HTTP server's
// connection.
const most = 4 << 10

// Listener wraps a listener, so that its connections can be corked.
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept implements net.Listener.
func (l listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn}, nil
}

// Conn is a connection that can be corked. All methods are safe for concurrent
// use; Cork and Uncork do nothing on a nil Conn.
type Conn struct {
	net.Conn

	mu     sync.Mutex
	corked bool
	held   []byte
	parts  [2][]byte
	err    error // of a write whose writer was told that it went well
}

// Cork holds back what is written, up to a second write or Uncork.
func (c *Conn) Cork() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
}

// Uncork writes what is still held back. If that fails, every further write does.
func (c *Conn) Uncork() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	if len(c.held) == 0 || c.err != nil {
		return
	}
	_, c.err = c.Conn.Write(c.held)
	c.held = c.held[:0]
}

// Write implements net.Conn.
func (c *Conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.err != nil:
		return 0, c.err
	case len(c.held) > 0:
		return c.both(p)
	case c.corked && len(p) <= most:
		c.held = append(c.held, p...)
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// both writes what was held back and p in one go. The lock is held.
func (c *Conn) both(p []byte) (int, error) {
	c.parts = [2][]byte{c.held, p}
	all := net.Buffers(c.parts[:])
	n, err := all.WriteTo(c.Conn)
	sent := int(n) - len(c.held)
	c.parts, c.held = [2][]byte{}, c.held[:0]
	if sent < 0 {
		c.err = err
		return 0, err
	}
	return sent, err
}

// CloseWrite closes the sending side, where the connection has such: an HTTP
// server does that before it closes the whole.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type key struct{}

// Context is an http.Server's ConnContext that From needs.
func Context(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*Conn); ok {
		return context.WithValue(ctx, key{}, c)
	}
	return ctx
}

// From is the connection of a request; nil if it cannot be corked.
func From(ctx context.Context) *Conn {
	c, _ := ctx.Value(key{}).(*Conn)
	return c
}
