package rest

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestNoProxyOfTheEnvironmentIsUsed(t *testing.T) {
	// The library takes loopback addresses out of the environment's proxies, so
	// a call in a test would show nothing.
	if newTransport(Config{}).Proxy != nil {
		t.Error("requests go through a proxy")
	}
}

func TestAMoveNeverGivesUpHTTPS(t *testing.T) {
	for to, ok := range map[string]bool{
		"https://catalog.example/new": true, "https://CATALOG.example:8443": true, "http://catalog.example": false,
		"HTTP://catalog.example": false, "https://catalog.example.evil.example": false, "https://evil.example/catalog.example": false,
		"//catalog.example": false, "": false,
	} {
		if err := checkMove("https://catalog.example/old", to); (err == nil) != ok {
			t.Errorf("%q: %v", to, err)
		}
	}
	if err := checkMove("http://catalog.example", "https://catalog.example"); err != nil {
		t.Errorf("an upgrade: %v", err)
	}
}

func TestTheLimitIsExact(t *testing.T) {
	for _, c := range []struct {
		size, declared int64
		ok             bool
	}{{100, 100, true}, {100, -1, true}, {101, 101, false}, {101, -1, false}, {0, -1, true}, {0, 0, true}} {
		var r reader
		body, err := r.read(&http.Response{ContentLength: c.declared, Header: http.Header{},
			Body: io.NopCloser(&allAtOnce{strings.Repeat("x", int(c.size))})}, 100)
		if (err == nil) != c.ok || !c.ok && !errors.Is(err, errTooLarge) || c.ok && int64(len(body)) != c.size {
			t.Errorf("%d bytes, declared %d: %d bytes, %v", c.size, c.declared, len(body), err)
		}
	}
}

// allAtOnce reports its end together with its last bytes.
type allAtOnce struct{ rest string }

func (a *allAtOnce) Read(p []byte) (int, error) {
	n := copy(p, a.rest)
	if a.rest = a.rest[n:]; a.rest == "" {
		return n, io.EOF
	}
	return n, nil
}

func TestKeptBuffersAreNotShared(t *testing.T) {
	var r reader
	read := func(text string) []byte {
		body, err := r.read(&http.Response{ContentLength: -1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	first := read(strings.Repeat("a", 1000))
	read(strings.Repeat("b", 1000))
	if strings.Trim(string(first), "a") != "" {
		t.Error("a later answer overwrote an earlier one")
	}
}
