package wire_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
)

// answering returns a catalog that gives the answers one after the other, and the last one for ever.
func answering(t *testing.T, status int, bodies ...string) *wire.Catalog {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, bodies[0])
		if len(bodies) > 1 {
			bodies = bodies[1:]
		}
	}))
	t.Cleanup(server.Close)
	return wire.New(server.URL, "")
}

func TestWalkCollectsEveryPage(t *testing.T) {
	catalog := answering(t, 200, `{"namespaces":[["a"],["b"]],"next-page-token":"x"}`, `{"namespaces":[["c","d"]],"next-page-token":null}`)
	names, pages, err := catalog.Namespaces().Walk(2)
	if err != nil || pages != 2 || !slices.Equal(names, []string{"a", "b", "c\x1fd"}) {
		t.Errorf("%q in %d pages, %v", names, pages, err)
	}
}

func TestWhatIsNotTheProtocolIsAnError(t *testing.T) {
	for name, catalog := range map[string]*wire.Catalog{
		"a token that comes again":    answering(t, 200, `{"namespaces":[["a"]],"next-page-token":"x"}`),
		"an empty token":              answering(t, 200, `{"namespaces":[["a"]],"next-page-token":""}`),
		"a page that is too long":     answering(t, 200, `{"namespaces":[["a"],["b"],["c"]]}`),
		"no list":                     answering(t, 200, `{}`),
		"HTML":                        answering(t, 200, `<html>`),
		"an error without its code":   answering(t, 404, `{"error":{"message":"m","type":"t"}}`),
		"an error with another code":  answering(t, 404, `{"error":{"message":"m","type":"t","code":500}}`),
		"an error with an empty type": answering(t, 404, `{"error":{"message":"m","type":"","code":404}}`),
		"a redirect":                  answering(t, 302, `{}`),
		"a status that is never used": answering(t, 201, `{"namespaces":[["a"]]}`),
	} {
		_, _, err := catalog.Namespaces().Walk(2)
		var refused *wire.Error
		if err == nil || errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := answering(t, 200, `{"namespaces":[["a"]],"next-page-token":"x"}`).Namespaces().All(); err == nil {
		t.Error("a token in an answer to a request without one passes")
	}
}

func TestRefusalsCarryStatusTypeAndMessage(t *testing.T) {
	_, err := answering(t, 404, `{"error":{"message":"Table does not exist","type":"NoSuchTableException","code":404}}`).LoadTable("t", "n")
	var refused *wire.Error
	if !errors.As(err, &refused) || refused.Status != 404 || refused.Type != "NoSuchTableException" || refused.Message != "Table does not exist" {
		t.Errorf("%v", err)
	}
}

func TestEveryAnswerIsWatchedAndHeadersAreSent(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Seen", r.Header.Get("If-None-Match")+r.Header.Get("Idempotency-Key"))
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(server.Close)
	var seen []string
	catalog := wire.New(server.URL, "").Watched(func(r *http.Request, a *wire.Answer) {
		seen = append(seen, r.Method+" "+a.Header.Get("Seen"))
	})
	for _, call := range []func() (*wire.Answer, error){
		func() (*wire.Answer, error) {
			return catalog.CallWithHeader(http.Header{"If-None-Match": {"tag"}}, "GET", "/x", nil)
		},
		func() (*wire.Answer, error) { return catalog.CallWithKey("key", "POST", "/x", nil) },
	} {
		if a, err := call(); err == nil {
			t.Errorf("an empty 502 passes: %v", a)
		}
	}
	if !slices.Equal(seen, []string{"GET tag", "POST key"}) {
		t.Errorf("seen %q", seen)
	}
}
