package router

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// lines is a log that tests can read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *lines) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// A backend that does not come back is answered for: a commit's outcome is then
// unknown, a read is just late. The handler still waits for the backend, so that
// a server that is shut down does not abandon a commit.
func TestADeadlineIsAnsweredWhileTheBackendStillWorks(t *testing.T) {
	for op, name := range map[capabilities.Op]string{
		capabilities.CommitTable: commitStateUnknown, capabilities.CommitTransaction: commitStateUnknown, capabilities.ReplaceView: commitStateUnknown,
		capabilities.CreateNamespace: "GatewayTimeoutException", capabilities.LoadTable: "GatewayTimeoutException",
	} {
		var log lines
		release, finished := make(chan struct{}), make(chan struct{})
		_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
			defer close(finished)
			<-release // deaf to its context
			return sample(req.Op()), nil
		})
		s := httptest.NewServer(New(Config{Tree: Catalog{Name: "icefield", Backend: b}, Timeout: 30 * time.Millisecond, Logger: log.logger()}))
		w := &wire{t: t, url: s.URL}
		g := w.do(op.Row().Verb, "/v1"+calls()[op].path, calls()[op].body)
		message := g.wantError(t, 504, name)
		if unknown := op.Row().Class != capabilities.Read; unknown != strings.Contains(message, "may have been applied") {
			t.Errorf("%v: %q", op, message)
		}
		select {
		case <-finished:
			t.Errorf("%v: the backend was not deaf", op)
		default:
		}
		close(release)
		s.Close() // waits for the handler
		<-finished
		if !strings.Contains(log.String(), "ended after its client was told of a timeout") {
			t.Errorf("%v: the late end is not logged: %s", op, log.String())
		}
	}
}

func TestADeadlineThatTheBackendMindsKeepsItsExactError(t *testing.T) {
	_, b := scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		<-ctx.Done()
		return nil, &mounts.Error{Kind: mounts.Unavailable, Err: ctx.Err()} // it knows that nothing was sent
	})
	w := serve(t, Config{Tree: Catalog{Backend: b}, Timeout: 20 * time.Millisecond})
	c := calls()[capabilities.CommitTable]
	w.do("POST", "/v1"+c.path, c.body).wantError(t, 503, "ServiceUnavailableException")
}

// A change goes on when its client has gone; a read stops.
func TestAChangeOutlivesItsClientAndAReadDoesNot(t *testing.T) {
	for _, op := range []capabilities.Op{capabilities.CommitTable, capabilities.LoadTable} {
		var log lines
		arrived, outcome, decide := make(chan struct{}), make(chan error, 1), make(chan struct{})
		_, b := scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			close(arrived)
			select {
			case <-ctx.Done():
				outcome <- ctx.Err()
				return nil, ctx.Err()
			case <-decide:
				outcome <- nil
				return sample(req.Op()), nil
			}
		})
		// The server's context of a request ends when the client is seen to be gone.
		gone := make(chan struct{})
		h := New(Config{Tree: Catalog{Name: "icefield", Backend: b}, Logger: log.logger()})
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			stop := context.AfterFunc(r.Context(), func() { close(gone) })
			defer stop()
			h.ServeHTTP(w, r)
		}))
		ctx, cancel := context.WithCancel(context.Background())
		r, err := http.NewRequestWithContext(ctx, op.Row().Verb, s.URL+"/v1"+calls()[op].path, strings.NewReader(calls()[op].body))
		if err != nil {
			t.Fatal(err)
		}
		left := make(chan struct{})
		go func() {
			defer close(left)
			if resp, err := http.DefaultClient.Do(r); err == nil {
				resp.Body.Close()
			}
		}()
		<-arrived
		cancel()
		<-left
		<-gone
		if op == capabilities.CommitTable {
			close(decide)
		}
		err = <-outcome
		if change := op == capabilities.CommitTable; change != (err == nil) {
			t.Errorf("%v: the backend saw %v", op, err)
		}
		s.Close()
		if op == capabilities.LoadTable && (!strings.Contains(log.String(), `"status":499`) || strings.Contains(log.String(), `"level":"WARN"`)) {
			t.Errorf("a client that left is logged as %s", log.String())
		}
	}
}

func TestABodyThatDoesNotArriveIsGivenUpAtTheDeadline(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, Timeout: 50 * time.Millisecond})
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn) // the server closes: the rest of the body has no meaning
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") || !strings.Contains(string(answer), "did not arrive in time") {
		t.Errorf("%v %s", err, answer)
	}
	if s.last() != nil {
		t.Error("the backend was asked")
	}
}

func TestAPanicIsAnInternalErrorAndOfACommitAnUnknownOutcome(t *testing.T) {
	var log lines
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) { panic("s3cret") })
	w := serve(t, Config{Tree: Catalog{Backend: b}, Logger: log.logger()})
	for op, name := range map[capabilities.Op]string{capabilities.LoadTable: "InternalServerError", capabilities.CommitTable: commitStateUnknown} {
		g := w.do(op.Row().Verb, "/v1"+calls()[op].path, calls()[op].body)
		g.wantError(t, 500, name)
		if strings.Contains(g.body, "s3cret") {
			t.Errorf("%v: %s", op, g.body)
		}
	}
	if text := log.String(); !strings.Contains(text, "s3cret") || !strings.Contains(text, "deadline_test.go") || !strings.Contains(text, `"status":500`) {
		t.Errorf("the panic is not in the log with its stack: %s", text)
	}
	// before anything was handed to a backend nothing can have happened
	w.do("POST", "/v1/namespaces/a/tables/t", "{").wantError(t, 400, "BadRequestException")
}

// An answer that is claimed and then cannot be written is still an answer.
func TestAPanicWhileAnsweringIsStillAnswered(t *testing.T) {
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
		return (*mounts.NamespaceInfo)(nil), nil
	})
	over(t, b).do("GET", "/v1/namespaces/a", "").wantError(t, 500, "InternalServerError")
}

func TestABackendThatAnswersAnotherTypeIsInternal(t *testing.T) {
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) { return 7, nil })
	w := over(t, b)
	w.do("GET", "/v1/namespaces/a", "").wantError(t, 500, "InternalServerError")
}

func TestALoadWithoutMetadataIsNoAnswer(t *testing.T) {
	_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		switch req.(type) {
		case *mounts.PlanScanRequest:
			return &mounts.Document{}, nil
		case *mounts.LoadViewRequest:
			return &mounts.View{MetadataLocation: "x"}, nil
		}
		return &mounts.Table{MetadataLocation: "x"}, nil
	})
	w := over(t, b)
	for op, name := range map[capabilities.Op]string{capabilities.LoadTable: "InternalServerError", capabilities.LoadView: "InternalServerError",
		capabilities.PlanScan: "InternalServerError", capabilities.CommitTable: commitStateUnknown} {
		w.do(op.Row().Verb, "/v1"+calls()[op].path, calls()[op].body).wantError(t, 500, name)
	}
}

func TestTheAccessLogHasWhatMattersAndNoQuery(t *testing.T) {
	var log lines
	_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		if req.Object().Name == "bad" {
			return nil, &mounts.Error{Kind: mounts.BadGateway, Err: errors.New("the cause")}
		}
		return sample(req.Op()), nil
	})
	w := serve(t, Config{Tree: Catalog{Backend: b}, Logger: log.logger()})
	w.do("GET", "/v1/namespaces/a%1Fb/tables/t?token=s3cret", "", "X-Request-Id: id-1", "Authorization: Bearer s3cret",
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "X-Icefield-Via: other-1")
	w.do("GET", "/v1/namespaces/a/tables/bad", "")
	w.do("GET", "/health", "")
	for _, want := range []string{`"request_id":"id-1"`, `"path":"/v1/namespaces/a%1Fb/tables/t"`, `"status":200`, `"operation":"loadTable"`,
		`"catalog":"icefield"`, `"object":"a.b.t"`, `"via":["other-1"]`, `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`,
		`"level":"WARN"`, "the cause", `"level":"DEBUG"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %s in %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "s3cret") {
		t.Errorf("a secret is logged: %s", log.String())
	}
}

func TestBackendsKnowTheirCaller(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, InstanceID: "me"})
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, op := range []capabilities.Op{capabilities.LoadTable, capabilities.CommitTable} {
		w.do(op.Row().Verb, "/v1"+calls()[op].path, calls()[op].body, "X-Request-Id: id-1", "Traceparent: "+trace, "X-Icefield-Via: one, two")
		got := s.caller
		if got.Principal != "anonymous" || got.RequestID != "id-1" || got.TraceParent != trace || strings.Join(got.Via, "|") != "one|two" {
			t.Errorf("%v: caller %+v", op, got)
		}
	}
}

func TestALoopIsRefused(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, InstanceID: "me"})
	for _, via := range []string{"me", "a,b , me", "1,2,3,4,5,6,7,8,9"} {
		c := calls()[capabilities.CommitTable]
		w.do("POST", "/v1"+c.path, c.body, "X-Icefield-Via: "+via).wantError(t, 508, "LoopDetectedException")
	}
	w.do("GET", "/v1/config", "", "X-Icefield-Via: a\tb c").wantError(t, 400, "BadRequestException")
	if s.last() != nil {
		t.Error("a loop reached the backend")
	}
	if g := w.do("GET", "/v1/namespaces/a", "", "X-Icefield-Via: 1,2,3,4,5,6,7,8"); g.status != 200 {
		t.Errorf("eight hops: %d", g.status)
	}
}
