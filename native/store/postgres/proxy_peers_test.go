//go:build peers

package postgres

import (
	"bytes"
	"net"
	"net/url"
	"sync"
	"testing"
)

// cut is what a proxy does with what a client sends.
type cut int

const (
	pass         cut = iota
	beforeIt         // the server does not get it, and both sides are told
	afterIt          // the server gets it, and the client no answer
	swallow          // the server does not get it, and nobody is told anything
	swallowReply     // the server gets it, the client no answer, and nobody is told anything
)

// proxy stands between a store and its database and breaks a connection at the
// message that the test names.
type proxy struct {
	listener net.Listener
	server   string
	group    sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool
	what   cut
	marks  [][]byte
	times  int
	closed bool
	deaf   bool
}

func newProxy(t *testing.T, server string) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, server: server, conns: map[net.Conn]bool{}}
	p.group.Go(p.accept)
	t.Cleanup(func() {
		_ = l.Close()
		p.mu.Lock()
		p.closed = true
		for c := range p.conns {
			_ = c.Close()
		}
		p.mu.Unlock()
		p.group.Wait()
	})
	return p
}

// through is a URL that leads through the proxy.
func (p *proxy) through(t *testing.T, text string) string {
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.Host = p.listener.Addr().String()
	return u.String()
}

// arm does it to the next message that has one of the marks, so many times.
func (p *proxy) arm(what cut, times int, marks ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.times, p.marks = what, times, nil
	for _, m := range marks {
		p.marks = append(p.marks, []byte(m))
	}
}

// left is how many of the cuts are still to come.
func (p *proxy) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.times
}

// refuse turns new connections away, or no longer.
func (p *proxy) refuse(deaf bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = deaf
}

func (p *proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		deaf := p.deaf
		p.mu.Unlock()
		if deaf {
			_ = client.Close()
			continue
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		if !p.keep(client) || !p.keep(server) {
			_ = client.Close()
			_ = server.Close()
			return
		}
		silent := make(chan struct{})
		p.group.Go(func() { p.forth(client, server, silent) })
		p.group.Go(func() { p.back(client, server, silent) })
	}
}

// next says what to do with a message.
func (p *proxy) next(message []byte) cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.times == 0 {
		return pass
	}
	for _, m := range p.marks {
		if bytes.Contains(message, m) {
			p.times--
			return p.what
		}
	}
	return pass
}

func (p *proxy) forth(client, server net.Conn, silent chan struct{}) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			// As a broken network does, a swallowed connection tells the server
			// nothing.
			select {
			case <-silent:
			default:
				_ = server.Close()
			}
			return
		}
		switch p.next(buffer[:n]) {
		case beforeIt:
			_ = client.Close()
			_ = server.Close()
			return
		case afterIt:
			_, _ = server.Write(buffer[:n])
			_ = client.Close()
			_ = server.(*net.TCPConn).CloseWrite() // the server reads all before it sees the end
			return
		case swallow:
			close(silent)
			_, _ = client.Read(buffer) // until the client gives up
			return
		case swallowReply:
			close(silent)
			_, _ = server.Write(buffer[:n])
			_, _ = client.Read(buffer)
			return
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			_ = client.Close()
			return
		}
	}
}

func (p *proxy) back(client, server net.Conn, silent chan struct{}) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		select {
		case <-silent:
			if err != nil {
				return
			}
			continue
		default:
		}
		if err == nil {
			_, err = client.Write(buffer[:n])
		}
		if err != nil {
			_ = client.Close()
			_ = server.Close()
			return
		}
	}
}
