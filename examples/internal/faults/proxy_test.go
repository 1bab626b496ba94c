package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/faults"
)

const whole = `{"namespaces":[["sales"],["stock"]]}`

func remote(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Path", r.URL.EscapedPath())
		io.WriteString(w, whole)
	}))
	t.Cleanup(server.Close)
	return server
}

// get asks with a client that follows no redirect and gives up after a second.
func get(url string) (status int, body string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

func TestProxyBreaksTheRemoteInEachWayAndMendsIt(t *testing.T) {
	proxy := faults.New(t, remote(t).URL)
	for mode, as := range map[faults.Mode]func(status int, body string, err error) bool{
		faults.Stop:      func(_ int, _ string, err error) bool { return errors.Is(err, syscall.ECONNREFUSED) },
		faults.Hang:      func(_ int, _ string, err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		faults.Slow:      func(_ int, _ string, err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		faults.Status500: func(status int, body string, _ error) bool { return status == 500 && json.Valid([]byte(body)) },
		faults.Status401: func(status int, body string, _ error) bool { return status == 401 && json.Valid([]byte(body)) },
		faults.Login:     func(status int, _ string, _ error) bool { return status == 303 },
		faults.HTML: func(status int, body string, _ error) bool {
			return status == 200 && strings.HasPrefix(body, "<!doctype")
		},
		faults.Truncated: func(status int, body string, err error) bool {
			return status == 200 && err == nil && strings.HasPrefix(whole, body) && !json.Valid([]byte(body))
		},
	} {
		if mode == faults.Slow {
			proxy.SetSlow(t, 5*time.Second)
		} else {
			proxy.Set(t, mode)
		}
		before := proxy.Count()
		if status, body, err := get(proxy.URL + "/v1/namespaces"); !as(status, body, err) {
			t.Errorf("%s: %d %q %v", mode, status, body, err)
		}
		if reached := proxy.Count() - before; reached != 1 && mode != faults.Stop {
			t.Errorf("%s: %d requests were counted", mode, reached)
		}
		proxy.Set(t, faults.Pass)
		if status, body, err := get(proxy.URL + "/v1/namespaces"); status != 200 || body != whole || err != nil {
			t.Errorf("after %s: %d %q %v", mode, status, body, err)
		}
	}
	counted := proxy.Count()
	if status, _, err := get(proxy.URL + "/v1/config"); status != 200 || err != nil || proxy.Count() != counted {
		t.Errorf("a look at /v1/config: %d, %v, counted %d more", status, err, proxy.Count()-counted)
	}
}

func TestProxiesPassNamesOnAsTheyWereSent(t *testing.T) {
	const path = "/v1/namespaces/a%2Fb%1Fc%20d+e/tables/%25"
	server := remote(t)
	for name, url := range map[string]string{
		"faults": faults.New(t, server.URL).URL,
		"bearer": faults.RequireBearer(t, server.URL, "secret").URL,
	} {
		request, err := http.NewRequest(http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer secret")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("X-Path"); got != path {
			t.Errorf("%s: got %s, want %s", name, got, path)
		}
	}
}

func TestBearerRefusesAndCountsWhoHasNotTheToken(t *testing.T) {
	gate := faults.RequireBearer(t, remote(t).URL, "secret")
	if status, _, err := get(gate.URL + "/v1/config"); status != http.StatusUnauthorized || err != nil {
		t.Errorf("%d, %v", status, err)
	}
	if gate.Refused() != 1 {
		t.Errorf("%d refused", gate.Refused())
	}
}
