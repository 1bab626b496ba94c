package middleware

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// failed answers with the error's kind, and remembers it.
func failed(got *error) Fail {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		*got = err
		CallFrom(r.Context()).Err = err
		w.WriteHeader(http.StatusTeapot)
	}
}

func silent() *slog.Logger { return slog.New(slog.DiscardHandler) }

func TestRequestIDsAreTakenIfSaneElseMade(t *testing.T) {
	var err error
	h := Begin(failed(&err), silent(), func(*Call, *http.Request) {}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, CallFrom(r.Context()).RequestID)
	}))
	seen := map[string]bool{}
	for sent, kept := range map[string]bool{
		"": false, "abc-123": true, "0af7651916cd43dd/8448:eb=+@,_.": true, "a b": false, "a\"b": false, "é": false,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("X-Request-Id", sent)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		id := w.Body.String()
		if id != w.Header().Get("X-Request-Id") || kept != (id == sent) || len(id) < 3 || seen[id] {
			t.Errorf("%q became %q, echoed %q", sent, id, w.Header().Get("X-Request-Id"))
		}
		seen[id] = true
	}
}

func TestTraceParentsOfAnotherShapeAreDropped(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for sent, want := range map[string]string{
		good: good, good + "-extra": "", "": "", good[1:]: "", strings.ToUpper(good): "", good + "0": "",
		strings.Replace(good, "-", " ", 1): "", "cc-" + good[3:] + "-00": "cc-" + good[3:] + "-00",
	} {
		if got := traceParent(http.Header{"Traceparent": {sent}}); got != want {
			t.Errorf("%q: %q", sent, got)
		}
	}
}

func TestAPanicAfterPartOfAnAnswerCutsTheConnection(t *testing.T) {
	var err error
	var finished *Call
	h := Begin(failed(&err), silent(), func(c *Call, _ *http.Request) { finished = c }, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "part")
		panic("no")
	}))
	func() {
		defer func() {
			if got := recover(); got != http.ErrAbortHandler {
				t.Errorf("panicked with %v", got)
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	if err != nil {
		t.Error("a second answer was written behind the part")
	}
	if finished == nil || finished.Err == nil {
		t.Error("the call is not logged with its error")
	}
}

func TestAPanicBeforeTheAnswerIsInternal(t *testing.T) {
	var err error
	var log bytes.Buffer
	h := Begin(failed(&err), slog.New(slog.NewTextHandler(&log, nil)), func(*Call, *http.Request) {}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		Claim(w)
		panic("no")
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if !errors.Is(err, mounts.Internal) || errors.Is(err, mounts.ErrOutcomeUnknown) || w.Code != http.StatusTeapot || !strings.Contains(log.String(), "begin_test.go") {
		t.Errorf("%v, %d, %s", err, w.Code, log.String())
	}
}

func TestAnAnswerIsClaimedOnce(t *testing.T) {
	var r Recorder
	if !Claim(&r) || Claim(&r) {
		t.Error("claimed never or twice")
	}
}

func TestTheBodyCapCountsWhatIsDeclaredAndWhatComes(t *testing.T) {
	for _, c := range []struct {
		length int64
		body   string
		kind   error
	}{
		{5, "12345", nil}, {6, "123456", mounts.TooLarge}, {-1, "12345", nil}, {-1, "123456", nil}, {0, "", nil},
	} {
		var err error
		var read string
		var readErr error
		h := BodyCap(failed(&err), 5, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			b, e := io.ReadAll(r.Body)
			read, readErr = string(b), e
		}))
		r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		r.ContentLength = c.length
		h.ServeHTTP(httptest.NewRecorder(), r)
		if c.kind != nil {
			if !errors.Is(err, c.kind) || read != "" {
				t.Errorf("%+v: %v, read %q", c, err, read)
			}
			continue
		}
		var tooLarge *http.MaxBytesError
		if over := len(c.body) > 5; over != errors.As(readErr, &tooLarge) || len(read) > 5 || err != nil {
			t.Errorf("%+v: read %q, %v, %v", c, read, readErr, err)
		}
	}
}

func TestLoopReadsEveryLineOfTheHeader(t *testing.T) {
	var err error
	called := false
	h := Loop(failed(&err), "me", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	r := httptest.NewRequest("GET", "/", nil)
	r.Header[ViaHeader] = []string{"a, b", "c,,me"}
	h.ServeHTTP(httptest.NewRecorder(), r)
	if !errors.Is(err, mounts.Loop) || called {
		t.Errorf("%v, passed on: %v", err, called)
	}
}
