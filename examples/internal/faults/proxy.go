package faults

import (
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Mode is what the proxy does with a request.
type Mode string

const (
	Pass      Mode = "pass"         // forwards it
	Stop      Mode = "stopped"      // nothing listens: the connection is refused
	Hang      Mode = "hung"         // accepts the connection, reads the request and never answers
	Slow      Mode = "slow"         // forwards it and gives the answer only after SlowBy
	Status500 Mode = "500"          // an Iceberg error answer
	Status401 Mode = "401"          // an Iceberg error answer
	Login     Mode = "303 to login" // a redirect to a login page, which is there and answers 200 with HTML
	HTML      Mode = "HTML"         // 200 with a page
	Truncated Mode = "truncated"    // 200 and JSON that stops in the middle
)

// Broken are the modes in which no answer can be used.
func Broken() []Mode {
	return []Mode{Stop, Hang, Slow, Status500, Status401, Login, HTML, Truncated}
}

// Proxy is a reverse proxy to one server. Its methods may be called concurrently.
type Proxy struct {
	URL string

	address string
	forward http.Handler

	mu     sync.Mutex
	mode   Mode
	slowBy time.Duration
	calls  []string
	server *http.Server
	served chan struct{} // closed once server accepts nothing any more
	done   chan struct{} // closed when the mode changes or the proxy closes: a hung request ends
}

// New starts a proxy to target, in mode Pass, on a loopback port that it keeps for as long as the test lasts.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		address: listener.Addr().String(),
		mode:    Pass,
		done:    make(chan struct{}),
		forward: &httputil.ReverseProxy{
			// SetURL would join the decoded paths: names that hold an encoded slash must arrive as they were sent.
			Rewrite: func(r *httputil.ProxyRequest) {
				r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
				r.Out.Host = to.Host
			},
			Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
			ErrorLog:  log.New(io.Discard, "", 0),
		},
	}
	p.URL = "http://" + p.address
	p.serve(listener)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.done)
		p.stop()
	})
	return p
}

func (p *Proxy) serve(listener net.Listener) {
	server, served := &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}, make(chan struct{})
	p.server, p.served = server, served
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it ends by stop, with http.ErrServerClosed
	}()
}

// stop closes the server and waits until nothing accepts any more: before that a new connection would be taken and reset,
// where nobody listening refuses it.
func (p *Proxy) stop() {
	if p.server != nil {
		_ = p.server.Close() // connections are cut off whatever it says
		<-p.served
		p.server = nil
	}
}

// Set changes what happens to requests from now on; requests that hang are cut off. SlowBy is set by SetSlow.
func (p *Proxy) Set(t testing.TB, mode Mode) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode == mode {
		return
	}
	close(p.done)
	p.done = make(chan struct{})
	p.mode = mode
	if mode == Stop {
		p.stop()
		return
	}
	if p.server == nil {
		p.serve(p.listenAgain(t))
	}
}

// SetSlow is Set(Slow) with the time by which answers come late.
func (p *Proxy) SetSlow(t testing.TB, by time.Duration) {
	p.mu.Lock()
	p.slowBy = by
	p.mu.Unlock()
	p.Set(t, Slow)
}

// listenAgain takes the proxy's own port again. Another process may have it for a moment as the local end of an
// outgoing connection.
func (p *Proxy) listenAgain(t testing.TB) net.Listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		listener, err := net.Listen("tcp", p.address)
		if err == nil {
			return listener
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the proxy cannot listen on %s again: %v", p.address, err)
		case <-tick.C:
		}
	}
}

// Calls returns method and request URI of each request that reached the proxy so far, in whatever mode.
func (p *Proxy) Calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.calls...)
}

// Count returns how many requests reached the proxy so far, not counting those to /v1/config, with which a mount looks
// whether the remote is there.
func (p *Proxy) Count() int {
	count := 0
	for _, call := range p.Calls() {
		if !strings.Contains(call, "/v1/config") {
			count++
		}
	}
	return count
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	mode, slowBy, done := p.mode, p.slowBy, p.done
	p.calls = append(p.calls, r.Method+" "+r.URL.RequestURI())
	p.mu.Unlock()

	switch mode {
	case Pass:
		p.forward.ServeHTTP(w, r)
	case Hang:
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)) // a client that is gone is met below
		select {
		case <-done:
		case <-r.Context().Done():
		}
		panic(http.ErrAbortHandler) // no answer at all
	case Slow:
		p.late(w, r, slowBy, done)
	case Status500:
		answer(w, http.StatusInternalServerError, "application/json",
			`{"error":{"message":"secret-internal-detail","type":"InternalServerError","code":500}}`)
	case Status401:
		answer(w, http.StatusUnauthorized, "application/json",
			`{"error":{"message":"secret-internal-detail","type":"NotAuthorizedException","code":401}}`)
	case Login:
		if r.URL.Path == "/login" {
			answer(w, http.StatusOK, "text/html", page)
			return
		}
		w.Header().Set("Location", "/login")
		answer(w, http.StatusSeeOther, "text/html", page)
	case HTML:
		answer(w, http.StatusOK, "text/html", page)
	case Truncated:
		p.truncated(w, r)
	}
}

const page = "<!doctype html><html><body><h1>secret-internal-detail</h1><form>Please log in</form></body></html>"

func answer(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a client that is gone needs no answer
}

// late asks the server at once and hands its answer over when the time is up.
func (p *Proxy) late(w http.ResponseWriter, r *http.Request, by time.Duration, done <-chan struct{}) {
	held := record(p.forward, r)
	timer := time.NewTimer(by)
	defer timer.Stop()
	select {
	case <-timer.C:
		held.copyTo(w, held.body.Bytes())
	case <-done:
		panic(http.ErrAbortHandler)
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// truncated answers with the first half of the server's own answer, or of a plausible one where the server has none, and
// a length that fits: the transport sees nothing wrong, only the JSON is.
func (p *Proxy) truncated(w http.ResponseWriter, r *http.Request) {
	held := record(p.forward, r)
	body := held.body.Bytes()
	if len(body) < 20 || held.header.Get("Content-Encoding") != "" {
		body = []byte(`{"namespaces":[["sales"],["stock"]],"identifiers":[{"namespace":["sales"],"name":"t"}],"metadata":{"format-version":2}}`)
		held.header.Del("Content-Encoding")
	}
	held.status = http.StatusOK
	held.header.Set("Content-Type", "application/json")
	held.header.Del("Content-Length")
	held.copyTo(w, body[:len(body)/2])
}

type held struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func record(handler http.Handler, r *http.Request) *held {
	h := &held{status: http.StatusOK, header: http.Header{}}
	handler.ServeHTTP(h, r)
	return h
}

func (h *held) Header() http.Header         { return h.header }
func (h *held) WriteHeader(status int)      { h.status = status }
func (h *held) Write(p []byte) (int, error) { return h.body.Write(p) }

func (h *held) copyTo(w http.ResponseWriter, body []byte) {
	for name, values := range h.header {
		w.Header()[name] = values
	}
	w.WriteHeader(h.status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}
