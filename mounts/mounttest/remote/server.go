package remote

import (
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Names of the calls that are no operation of the table, and of all calls.
const (
	Config = "config"
	Token  = "token"
	AnyOp  = "*"
)

// Options are what cannot change while the server runs.
type Options struct {
	// Base is the path below which the catalog is served: "/api/catalog".
	Base string
	// Warehouse, if set, is the one that /v1/config knows.
	Warehouse string
	// TLS serves HTTPS with a certificate that no system trusts; see RootCAs.
	TLS bool
	// Catalog, if set, is a correct catalog of the REST spec, at "/v1/…" without
	// a prefix. Every operation that passes this server's dialect is put to it in
	// the spec's own form, and its answer is translated back; content that was
	// added to the Server is not used then. Scan plans, credentials and signing
	// are the Server's own either way (Quirks.Vend, Sign, Plans).
	Catalog http.Handler
}

// Seen is one request, as it arrived.
type Seen struct {
	// Op is the operation's name, Config or Token; empty for an unknown route.
	Op     string
	Method string
	// Path and Query are the raw request target, before and after the "?".
	Path, Query string
	Header      http.Header
	// Body is what came with a request to a catalog route.
	Body []byte
	// Form is the body of a token request.
	Form map[string][]string
	// Applied tells that the call came through to the catalog and was answered
	// with a success, whatever became of the answer.
	Applied bool
}

// Server is a running fake remote. All methods are safe for concurrent use.
type Server struct {
	// URL is the catalog's base URL: what a mount's catalog_url is set to.
	URL string

	opt  Options
	addr string

	mu      sync.Mutex
	arrived *sync.Cond // on mu: a request was recorded
	content map[string]*namespace
	quirks  Quirks
	faults  map[string]*Fault
	seen    []Seen
	forgets int
	tokens  map[string]int // what is left of its uses; negative: no end
	issued  int
	plans   map[string]int // times that a plan was asked after
	server  *httptest.Server
	closing chan struct{}
}

// New starts a server that the test's end stops.
func New(t testing.TB, opt Options) *Server {
	t.Helper()
	s := &Server{opt: opt, content: map[string]*namespace{}, faults: map[string]*Fault{}, tokens: map[string]int{}, plans: map[string]int{}}
	s.arrived = sync.NewCond(&s.mu)
	if err := s.listen("127.0.0.1:0"); err != nil {
		t.Fatalf("fake remote: %v", err)
	}
	s.URL = s.server.URL + opt.Base
	s.addr = s.server.Listener.Addr().String()
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) listen(addr string) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return err
	}
	s.closing = make(chan struct{})
	s.server = &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute}}
	if s.opt.TLS {
		s.server.EnableHTTP2 = true
		s.server.StartTLS()
	} else {
		s.server.Start()
	}
	return nil
}

// Stop takes the server off the network: its connections are closed and new
// ones refused. Content, quirks, faults and counts stay.
func (s *Server) Stop() {
	s.mu.Lock()
	server := s.server
	s.server = nil
	if server != nil {
		close(s.closing)
	}
	s.mu.Unlock()
	if server != nil {
		server.CloseClientConnections()
		server.Close()
	}
}

// Start brings a stopped server back at its old address.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		return
	}
	if err := s.listen(s.addr); err != nil {
		t.Fatalf("fake remote: %v", err)
	}
}

// RootCAs trusts the certificate of a server with Options.TLS.
func (s *Server) RootCAs() *x509.CertPool {
	s.mu.Lock()
	defer s.mu.Unlock()
	pool := x509.NewCertPool()
	if s.server != nil && s.server.Certificate() != nil {
		pool.AddCert(s.server.Certificate())
	}
	return pool
}

// Addr is the host and port it listens on.
func (s *Server) Addr() string { return s.addr }

// Tune changes the quirks.
func (s *Server) Tune(change func(*Quirks)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.quirks)
}

// Fail makes an operation fail from now on: its name, Config, Token or AnyOp
// (every one but Config and Token). A fault of the operation itself comes first.
func (s *Server) Fail(op string, fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[op] = &fault
}

// Heal removes every fault.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
}

// Requests returns what arrived since the last Forget, in order.
func (s *Server) Requests() []Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Applied is how many calls of an operation, since the last Forget, were carried
// out by the catalog.
func (s *Server) Applied(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, seen := range s.seen {
		if seen.Applied && (op == AnyOp || seen.Op == op) {
			n++
		}
	}
	return n
}

// Last returns the newest request; the zero Seen if there is none.
func (s *Server) Last() Seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.seen) == 0 {
		return Seen{}
	}
	return s.seen[len(s.seen)-1]
}

// Count is how many requests of an operation (AnyOp: of all, Config and Token
// included) arrived since the last Forget.
func (s *Server) Count(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count(op)
}

func (s *Server) count(op string) int {
	n := 0
	for _, seen := range s.seen {
		if op == AnyOp || seen.Op == op {
			n++
		}
	}
	return n
}

// Await returns when n requests of an operation have arrived since the last
// Forget, however they are answered. It waits without end: the test's own
// timeout bounds it.
func (s *Server) Await(op string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.count(op) < n {
		s.arrived.Wait()
	}
}

// Forget empties the record of requests.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = nil
	s.forgets++
}

// RevokeTokens makes every token handed out so far invalid.
func (s *Server) RevokeTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// fault returns what shall go wrong with this call, counting it.
func (s *Server) fault(op string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{op, AnyOp} {
		f := s.faults[name]
		if f == nil || name == AnyOp && (op == Config || op == Token) {
			continue
		}
		hit := *f
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				delete(s.faults, name)
			}
		}
		return hit
	}
	return Fault{}
}
