package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/rest"
)

// bareServer speaks HTTP by hand, so that it can stop anywhere. It counts the
// requests that it began to read.
type bareServer struct {
	url string
	l   net.Listener

	mu     sync.Mutex
	seen   []bareRequest
	config string
	// answer deals with everything but /v1/config; it returns whether the
	// connection goes on.
	answer func(conn net.Conn, r bareRequest) bool
}

type bareRequest struct {
	method, target string
	header         http.Header
	body           []byte
}

// everything is a configuration that offers every operation.
func everything(more string) string {
	list, err := json.Marshal(capabilities.All().Endpoints())
	if err != nil {
		panic(err)
	}
	return `{"defaults":{},"overrides":{},"endpoints":` + string(list) + more + `}`
}

func newBareServer(t testing.TB, config string) *bareServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &bareServer{url: "http://" + l.Addr().String(), l: l, config: config}
	var conns sync.WaitGroup
	open := map[net.Conn]bool{}
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			open[conn] = true
			s.mu.Unlock()
			conns.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for conn := range open {
			conn.Close()
		}
		s.mu.Unlock()
		conns.Wait()
	})
	return s
}

func (s *bareServer) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if strings.HasPrefix(r.RequestURI, "/v1/config") {
			fmt.Fprint(conn, httpReply(200, s.config))
			continue
		}
		s.mu.Lock()
		one := bareRequest{r.Method, r.RequestURI, r.Header, body}
		s.seen = append(s.seen, one)
		answer := s.answer
		s.mu.Unlock()
		if !answer(conn, one) {
			return
		}
	}
}

func (s *bareServer) will(answer func(net.Conn, bareRequest) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.seen = answer, nil
}

func (s *bareServer) requests() []bareRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

func (s *bareServer) open(t testing.TB, change ...func(*rest.Config)) *rest.Backend {
	t.Helper()
	c := rest.Config{URL: s.url, Writable: true, Request: time.Minute}
	for _, f := range change {
		f(&c)
	}
	b, err := rest.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

func httpReply(status int, body string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
}

func says(text string) func(net.Conn, bareRequest) bool {
	return func(conn net.Conn, _ bareRequest) bool { io.WriteString(conn, text); return true }
}

func saysAndHangsUp(text string) func(net.Conn, bareRequest) bool {
	return func(conn net.Conn, _ bareRequest) bool { io.WriteString(conn, text); return false }
}

func resets(conn net.Conn, _ bareRequest) bool {
	conn.(*net.TCPConn).SetLinger(0)
	return false
}

// changes are one request of everything that changes a catalog.
func changes() []mounts.Request {
	return slices.DeleteFunc(mounttest.Requests(), func(r mounts.Request) bool { return !capabilities.Changes().Has(r.Op()) })
}

const someKey = "01890f2c-5b3e-7c1d-9a4b-2f6e8d0c1b3a"

func withKey(ctx context.Context) context.Context {
	return mounts.WithCaller(ctx, mounts.Caller{Once: &mounts.Once{Key: someKey}})
}

// TestALostAnswerToAChangeIsAnUnknownOutcomeAndNothingIsSentTwice is every
// change x every place at which its answer can be lost, on a connection of its
// own and on one that was used before, with a key that the remote honours and
// without.
func TestALostAnswerToAChangeIsAnUnknownOutcomeAndNothingIsSentTwice(t *testing.T) {
	const full = `{"metadata-location":"s3://b/m.json","metadata":{"x":1},"namespace":["a"],"updated":[],"removed":[]}`
	stages := map[string]func(net.Conn, bareRequest) bool{
		"closed before an answer":  saysAndHangsUp(""),
		"reset before an answer":   resets,
		"half a status line":       saysAndHangsUp("HTTP/1.1 20"),
		"no HTTP":                  saysAndHangsUp("SSH-2.0-OpenSSH_9.6\r\n\r\n"),
		"half a header":            saysAndHangsUp("HTTP/1.1 200 OK\r\nContent-Le"),
		"cut in the body":          saysAndHangsUp("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n" + full),
		"cut in a chunk":           saysAndHangsUp("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"),
		"truncated JSON":           says(httpReply(200, full[:len(full)-1])),
		"not JSON":                 says(httpReply(200, "done")),
		"a login page":             says(strings.Replace(httpReply(200, "<html>log in</html>"), "application/json", "text/html", 1)),
		"an error under a success": says(httpReply(200, `{"error":{"message":"no","type":"CommitFailedException","code":409}}`)),
		"broken gzip":              says("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd"),
		"unknown encoding":         says("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 4\r\n\r\nabcd"),
		"accepted":                 says(httpReply(202, full)),
		"a part":                   says(httpReply(206, full)),
		"a redirect":               says("HTTP/1.1 307 Temporary Redirect\r\nLocation: /v1/elsewhere\r\nContent-Length: 0\r\n\r\n"),
		"see other":                says("HTTP/1.1 303 See Other\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n"),
		"500":                      says(httpReply(500, `{"error":{"message":"x","type":"InternalServerError","code":500}}`)),
		"500 HTML":                 says(httpReply(500, "<html>")),
		"502":                      says(httpReply(502, `{"error":{"message":"x","type":"CommitStateUnknownException","code":502}}`)),
		"503":                      says("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"),
		"504":                      says(httpReply(504, "")),
		"522":                      says(httpReply(522, "error code: 522")),
	}
	for _, config := range []string{everything(""), everything(`,"idempotency-key-lifetime":"PT30M"`)} {
		s := newBareServer(t, config)
		b := s.open(t)
		for stage, answer := range stages {
			for _, req := range changes() {
				for _, used := range []bool{false, true} {
					if used {
						s.will(says(httpReply(200, full)))
						if _, err := b.LoadNamespace(context.Background(), &mounts.LoadNamespaceRequest{Namespace: shared}); err != nil {
							t.Fatal(err)
						}
					}
					s.will(answer)
					_, err := mounts.Invoke(withKey(context.Background()), b, req)
					what := fmt.Sprintf("%s, %s, used=%v", req.Op(), stage, used)
					var e *mounts.Error
					if !errors.As(err, &e) || !e.OutcomeUnknown || e.Kind != mounts.BadGateway && e.Kind != mounts.Timeout {
						t.Errorf("%s: %v", what, err)
					} else if e.Op != req.Op() || !e.Ident.Equal(req.Object()) || strings.Contains(e.Message(), "127.0.0.1") {
						t.Errorf("%s: the error is %+v", what, e)
					}
					sent := s.requests()
					if len(sent) != 1 {
						t.Errorf("%s: sent %d times", what, len(sent))
						continue
					}
					want := ""
					if b.KeyLifetime() > 0 {
						want = someKey
					}
					if got := sent[0].header.Get("Idempotency-Key"); got != want {
						t.Errorf("%s: the key %q was sent, want %q", what, got, want)
					}
				}
			}
		}
	}
}

func TestASlowAnswerToAChangeIsAnUnknownOutcome(t *testing.T) {
	s := newBareServer(t, everything(""))
	for name, partly := range map[string]string{"no answer": "", "half of one": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"} {
		release := make(chan struct{})
		s.will(func(conn net.Conn, _ bareRequest) bool { io.WriteString(conn, partly); <-release; return false })
		b := s.open(t, func(c *rest.Config) { c.Request = 300 * time.Millisecond })
		var wg sync.WaitGroup
		for _, req := range changes() {
			wg.Go(func() {
				if e := wantKind(t, invoke(b, req), mounts.Timeout); !e.OutcomeUnknown {
					t.Errorf("%s, %s: %v", name, req.Op(), e)
				}
			})
		}
		wg.Wait()
		close(release)
	}
}

// TestACallerWhoLeavesAChangeKnowsWhetherItWasSent: the stack lets no caller end
// a change; whoever calls this backend directly may.
func TestACallerWhoLeavesAChangeKnowsWhetherItWasSent(t *testing.T) {
	s := newBareServer(t, everything(""))
	b := s.open(t)
	for _, req := range changes() {
		ctx, leave := context.WithCancel(context.Background())
		s.will(func(conn net.Conn, _ bareRequest) bool { leave(); return true })
		_, err := mounts.Invoke(ctx, b, req)
		if e := wantKind(t, err, mounts.Timeout); !e.OutcomeUnknown || !errors.Is(err, context.Canceled) {
			t.Errorf("%s, sent: %v", req.Op(), err)
		}
		s.will(says(""))
		_, err = mounts.Invoke(ctx, b, req)
		if e := wantKind(t, err, mounts.Timeout); e.OutcomeUnknown || len(s.requests()) != 0 {
			t.Errorf("%s, not sent: %v", req.Op(), err)
		}
	}
}

// TestAChangeThatWasNotSentSaysSo: the connection is refused, or the handshake
// fails, and not one byte of the change left.
func TestAChangeThatWasNotSentSaysSo(t *testing.T) {
	gone := newBareServer(t, everything(""))
	refused := gone.open(t, func(c *rest.Config) { c.InFlight = 1 })
	gone.l.Close()
	refused.Close() // the idle connection, so that another one is needed

	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, everything("")) }))
	defer secure.Close()
	pool := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	untrusted, err := rest.Open(context.Background(), rest.Config{URL: secure.URL, RootCAs: pool, Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer untrusted.Close()
	secure.TLS.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, errors.New("not today") }
	untrusted.Close()

	for name, b := range map[string]mounts.Backend{"refused": refused, "handshake": untrusted} {
		for _, req := range changes() {
			e := wantKind(t, invoke(b, req), mounts.Unavailable)
			if e.OutcomeUnknown || !strings.Contains(e.Message(), "nothing was sent") || !e.Ident.Equal(req.Object()) {
				t.Errorf("%s, %s: %+v", name, req.Op(), e)
			}
		}
	}
}

// TestARefusedLoginIsRenewedAndTheChangeSentAgain: a 401 says that nothing was
// done.
func TestARefusedLoginIsRenewedAndTheChangeSentAgain(t *testing.T) {
	const full = `{"metadata-location":"s3://b/m.json","metadata":{"x":1},"namespace":["a"],"updated":[],"removed":[]}`
	s := newBareServer(t, everything(`,"idempotency-key-lifetime":"PT30M"`))
	var mu sync.Mutex
	token := "first"
	b := s.open(t, func(c *rest.Config) {
		c.Auth = rest.Bearer(func() (string, error) {
			mu.Lock()
			defer mu.Unlock()
			return token, nil
		})
	})
	for _, req := range changes() {
		s.will(func(conn net.Conn, r bareRequest) bool {
			if r.header.Get("Authorization") == "Bearer second" {
				io.WriteString(conn, httpReply(200, full))
				return true
			}
			mu.Lock()
			defer mu.Unlock()
			token = "second"
			io.WriteString(conn, httpReply(401, ""))
			return true
		})
		if _, err := mounts.Invoke(withKey(context.Background()), b, req); err != nil {
			t.Errorf("%s: %v", req.Op(), err)
		}
		sent := s.requests()
		if len(sent) != 2 || !bytes.Equal(sent[0].body, sent[1].body) || sent[0].target != sent[1].target ||
			sent[0].header.Get("Idempotency-Key") != sent[1].header.Get("Idempotency-Key") {
			t.Errorf("%s: sent %+v", req.Op(), sent)
		}
		// Refused for good: still certain, and not the caller's fault.
		s.will(says(httpReply(401, "")))
		if e := wantKind(t, invoke(b, req), mounts.BadGateway); e.OutcomeUnknown || len(s.requests()) != 1 {
			t.Errorf("%s: %+v, sent %d times", req.Op(), e, len(s.requests()))
		}
		mu.Lock()
		token = "first"
		mu.Unlock()
	}
}

// TestWhatTheRemoteRefusedIsCertain: nothing of it was done, whatever the
// status, and nothing is sent again.
func TestWhatTheRemoteRefusedIsCertain(t *testing.T) {
	s := newBareServer(t, everything(""))
	b := s.open(t)
	for status, kind := range map[int]mounts.Kind{
		400: mounts.BadRequest, 403: mounts.Forbidden, 413: mounts.TooLarge, 429: mounts.RateLimited, 501: mounts.UnsupportedOperation,
	} {
		s.will(says(httpReply(status, fmt.Sprintf(`{"error":{"message":"no","type":"X","code":%d}}`, status))))
		for _, req := range changes() {
			if e := wantKind(t, invoke(b, req), kind); e.OutcomeUnknown {
				t.Errorf("%d, %s: %+v", status, req.Op(), e)
			}
		}
		if n := len(s.requests()); n != len(changes()) {
			t.Errorf("%d: %d requests for %d changes", status, n, len(changes()))
		}
	}
}

func TestAReadOnlyMountForwardsNoChange(t *testing.T) {
	s := newBareServer(t, everything(""))
	s.will(says(httpReply(204, "")))
	b := s.open(t, func(c *rest.Config) { c.Writable = false })
	for _, req := range changes() {
		wantKind(t, invoke(b, req), mounts.UnsupportedOperation)
		if b.Capabilities().Has(req.Op()) {
			t.Errorf("%s is among the capabilities", req.Op())
		}
	}
	if len(s.requests()) != 0 {
		t.Errorf("sent %+v", s.requests())
	}
}

// TestSuccessesThatAreNotQuiteTheSpecsCount: what was done is not reported as a
// failure for the sake of a status.
func TestSuccessesThatAreNotQuiteTheSpecsCount(t *testing.T) {
	const full = `{"metadata-location":"s3://b/m.json","metadata":{"x":1},"namespace":["a"],"updated":[],"removed":[],"vendor":1}`
	s := newBareServer(t, everything(""))
	b := s.open(t)
	nothing := capabilities.Of(capabilities.DropNamespace, capabilities.CommitTransaction, capabilities.RenameTable,
		capabilities.DropTable, capabilities.RenameView, capabilities.DropView)
	for _, req := range changes() {
		answers := []string{httpReply(200, full), httpReply(201, full)}
		if nothing.Has(req.Op()) {
			answers = append(answers, "HTTP/1.1 204 No Content\r\n\r\n", httpReply(200, ""), httpReply(200, "{}"))
		}
		for _, answer := range answers {
			s.will(says(answer))
			if err := invoke(b, req); err != nil {
				t.Errorf("%s, answered %q: %v", req.Op(), answer, err)
			}
		}
	}
}
