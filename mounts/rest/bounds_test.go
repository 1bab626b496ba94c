package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
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
		"//catalog.example": false, "": false, "https://catalog.example/old/../admin": false, "https://catalog.example/%2e%2e/admin": false,
	} {
		if err := checkMove("https://catalog.example/old", to); (err == nil) != ok {
			t.Errorf("%q: %v", to, err)
		}
	}
	if err := checkMove("http://catalog.example", "https://catalog.example"); err != nil {
		t.Errorf("an upgrade: %v", err)
	}
}

func TestAnObjectOfEndlessMembersIsRefusedBeforeItsNamesFillTheMemory(t *testing.T) {
	object := func(members int) string {
		var b strings.Builder
		b.WriteString(`{"namespaces":[],"identifiers":[]`)
		for i := 2; i < members; i++ {
			fmt.Fprintf(&b, `,"%x":"1"`, i)
		}
		return b.String() + "}"
	}
	flat := strings.NewReplacer(`[]`, `"1"`)
	for members, ok := range map[int]bool{maxMembers: true, maxMembers + 1: false} {
		answer := object(members)
		config := flat.Replace(answer)
		for what, read := range map[string]func() error{
			"a listing": func() error { _, _, err := readPage([]byte(answer), "namespaces", childOf(nil), false); return err },
			"a row": func() error {
				_, err := named(mounts.Namespace{"a"})([]byte(answer[:len(answer)-1] + `,"name":"t"}`))
				return err
			},
			"the settings": func() error { _, err := readSettings([]byte(answer)); return err },
			"a setting":    func() error { _, err := readSettings([]byte(`{"overrides":` + config + `}`)); return err },
		} {
			fits := ok && what != "a row" // it has one more
			if err := read(); (err == nil) != fits {
				t.Errorf("%s of %d members: %v", what, members, err)
			}
		}
	}
}

func TestARowOfEndlessLevelsIsReadNoFurtherThanItCounts(t *testing.T) {
	row := []byte(`[` + strings.Repeat(`"",`, 1<<16) + `""]`)
	var err error
	cost := testing.AllocsPerRun(1, func() { _, err = childOf(mounts.Namespace{"a"})(row) })
	if err == nil || cost > 100 {
		t.Errorf("%v after %v allocations", err, cost)
	}
}

func TestWhatAnAnswerWouldPutIntoEveryRequestIsBounded(t *testing.T) {
	if err := checkMove("http://catalog.example", "http://catalog.example/"+strings.Repeat("x", maxURI)); err == nil || len(err.Error()) > 200 {
		t.Errorf("an endless address: %v", err)
	}
	if err := checkToken(strings.Repeat("x", maxLogin)); err != nil {
		t.Errorf("a large token: %v", err)
	}
	if err := checkToken(strings.Repeat("x", maxLogin+1)); err == nil || len(err.Error()) > 200 {
		t.Errorf("an endless token: %v", err)
	}
}

func TestTheLimitIsExact(t *testing.T) {
	for _, c := range []struct {
		size, declared int64
		ok             bool
	}{{100, 100, true}, {100, -1, true}, {101, 101, false}, {101, -1, false}, {0, -1, true}, {0, 0, true}} {
		var r reader
		body, err := r.read(t.Context(), &http.Response{ContentLength: c.declared, Header: http.Header{},
			Body: io.NopCloser(&allAtOnce{strings.Repeat("x", int(c.size))})}, 100, true)
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
		body, err := r.read(t.Context(), &http.Response{ContentLength: -1, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}, 1<<20, true)
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
