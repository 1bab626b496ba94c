package router

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

func TestTheClientsTokenReachesTheBackendAndNothingElse(t *testing.T) {
	const secret = "eyJhbGciOi.hunter2-._~+/="
	for sent, want := range map[string]string{
		"Bearer " + secret: secret, "bearer  " + secret + " ": secret, "Basic aHVudGVyMg==": "", "Bearer": "", "Bearer ": "", "": "",
		secret: "",
	} {
		var log lines
		backend, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
			return nil, &mounts.Error{Kind: mounts.BadGateway, Err: errors.New("no")}
		})
		w := serve(t, Config{Tree: Catalog{Backend: b}, Logger: log.logger()})
		g := w.do("GET", "/v1/namespaces/a", "", "Authorization: "+sent)
		if backend.caller.Token != want {
			t.Errorf("%q: the backend was given %q", sent, backend.caller.Token)
		}
		if strings.Contains(log.String()+g.body, "hunter2") {
			t.Errorf("%q shows in the log or the answer: %s %s", sent, log.String(), g.body)
		}
	}
}

func TestATokenThatCannotBePassedOnIsRefused(t *testing.T) {
	backend, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) { return nil, errors.New("no") })
	var log lines
	h := New(Config{Tree: Catalog{Name: "icefield", Backend: b}, Logger: log.logger()})
	for name, headers := range map[string][]string{
		"too long": {"Authorization: Bearer hunter2" + strings.Repeat("x", 16<<10)},
		"blank":    {"Authorization: Bearer hunter2 hunter2"},
		"not text": {"Authorization: Bearer hunter2\xff"},
		"two":      {"Authorization: Bearer hunter2", "Authorization: Bearer hunter2"},
	} {
		r := httptest.NewRequest("GET", "/v1/namespaces/a", nil)
		for _, h := range headers {
			key, value, _ := strings.Cut(h, ": ")
			r.Header.Add(key, value)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != 400 || strings.Contains(rec.Body.String()+log.String(), "hunter2") {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body.String())
		}
	}
	if len(backend.asked) != 0 {
		t.Error("the backend was asked")
	}
}

// What a backend holds for an answer is given back once that is out, and not
// before, however the request ends.
func TestTheScopeEndsWhenTheAnswerIsOut(t *testing.T) {
	for name, end := range map[string]func(*mounts.LoadNamespaceRequest) (mounts.Response, error){
		"answered": func(*mounts.LoadNamespaceRequest) (mounts.Response, error) {
			return sample(capabilities.LoadNamespace), nil
		},
		"failed":   func(*mounts.LoadNamespaceRequest) (mounts.Response, error) { return nil, errors.New("no") },
		"panicked": func(*mounts.LoadNamespaceRequest) (mounts.Response, error) { panic("no") },
		"aborted":  func(*mounts.LoadNamespaceRequest) (mounts.Response, error) { panic(http.ErrAbortHandler) },
	} {
		ended := 0
		_, b := scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			mounts.CallerFrom(ctx).Scope.OnEnd(func() { ended++ })
			return end(req.(*mounts.LoadNamespaceRequest))
		})
		h := New(Config{Tree: Catalog{Name: "icefield", Backend: b}})
		rec := &writesBefore{ResponseRecorder: httptest.NewRecorder(), ended: &ended}
		func() {
			defer func() { _ = recover() }()
			h.ServeHTTP(rec, httptest.NewRequest("GET", "/v1/namespaces/a", nil))
		}()
		if ended != 1 || rec.late {
			t.Errorf("%s: ended %d times, written afterwards: %v", name, ended, rec.late)
		}
	}
}

// writesBefore notes an answer that is written after the scope's end.
type writesBefore struct {
	*httptest.ResponseRecorder
	ended *int
	late  bool
}

func (w *writesBefore) Write(b []byte) (int, error) {
	w.late = w.late || *w.ended > 0
	return w.ResponseRecorder.Write(b)
}

// A backend that outlives its deadline may still write into what it holds: the
// scope lasts as long as the handler does.
func TestTheScopeOutlivesAnAnswerThatTheDeadlineGave(t *testing.T) {
	release, ended := make(chan struct{}), make(chan struct{})
	_, b := scripted(func(ctx context.Context, _ mounts.Request) (mounts.Response, error) {
		mounts.CallerFrom(ctx).Scope.OnEnd(func() { close(ended) })
		<-release
		return nil, errors.New("late")
	})
	w := serve(t, Config{Tree: Catalog{Backend: b}, Timeout: 20 * time.Millisecond})
	w.do("GET", "/v1/namespaces/a", "").wantError(t, 504, "GatewayTimeoutException")
	select {
	case <-ended:
		t.Error("ended while the backend was at work")
	default:
	}
	close(release)
	<-ended
}

func TestAnAnswerFromBeforeAnOutageSaysSo(t *testing.T) {
	for _, stale := range []bool{true, false} {
		_, b := scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
			if stale {
				mounts.CallerFrom(ctx).Scope.MarkStale()
			}
			switch r := req.(type) {
			case *mounts.TableExistsRequest:
				return nil, nil
			case *mounts.ListTablesRequest:
				return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{}}, nil
			case *mounts.LoadTableRequest:
				if r.IfNoneMatch != "" {
					return &mounts.Table{NotModified: true, ETag: `"a"`}, nil
				}
			}
			return &mounts.Table{MetadataLocation: "l", Metadata: []byte("{}"), ETag: `"a"`}, nil
		})
		w := over(t, b)
		for _, call := range [][]string{{"GET", "/v1/namespaces/a/tables/t", ""}, {"HEAD", "/v1/namespaces/a/tables/t", ""},
			{"GET", "/v1/namespaces/a/tables", ""}, {"GET", "/v1/namespaces/a/tables/t", "", `If-None-Match: "a"`}} {
			got := w.do(call[0], call[1], call[2], call[3:]...)
			if warned := got.header.Get("Warning") != ""; warned != stale || got.status >= 400 {
				t.Errorf("%v: %d, Warning %q, stale %v", call, got.status, got.header.Get("Warning"), stale)
			}
		}
	}
}
