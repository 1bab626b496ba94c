//go:build peers

package bench

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func clientsName(n int) string { return fmt.Sprintf("clients=%d", n) }

func TestAllServersAnswerTheSame(t *testing.T) {
	s := open(t)
	for _, namespace := range []string{tagged, untagged, large, read} {
		_, want := get(t, s.remote+path("", namespace, 1))
		for _, other := range []target{
			{"nginx", s.nginx, []string{path("", namespace, 1)}}, {"proxy", s.proxy, []string{path("", namespace, 1)}},
			{"direct", s.icefield, []string{path("direct", namespace, 1)}}, {"fresh", s.icefield, []string{path("fresh", namespace, 1)}},
			{"kept", s.icefield, []string{path("kept", namespace, 1)}},
		} {
			for range 3 { // the second from what is held
				resp, got := get(t, other.base+other.paths[0])
				if resp.StatusCode != 200 || !sameJSON(t, got, want) {
					t.Fatalf("%s, %s: %d with %d bytes, and the remote has %d", other.name, namespace, resp.StatusCode, len(got), len(want))
				}
			}
		}
	}
	l, err := dial(tables("", s.icefield, "fresh", large, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer l.conn.Close()
	for i := range 4 {
		if n, err := l.ask(i); err != nil || n < 1<<20 {
			t.Errorf("the load generator read %d bytes, %v", n, err)
		}
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	for text, into := range map[*string]*any{&a: &x, &b: &y} {
		dec := json.NewDecoder(strings.NewReader(*text))
		dec.UseNumber()
		if err := dec.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(x, y)
}

// What reaches the remote for one call of a client, once everything is warm.
func TestCallsThatReachTheRemote(t *testing.T) {
	s := open(t)
	for _, c := range []struct {
		name, path   string
		calls, whole int
	}{
		{"nothing kept", path("direct", tagged, 2), 1, 1},
		{"revalidated", path("fresh", tagged, 2), 1, 0},
		{"without a tag", path("fresh", untagged, 2), 1, 1},
		{"inside the ttl", path("kept", tagged, 2), 0, 0},
		{"a listing page", "/v1/namespaces/direct%1Ftagged/tables?pageToken=&pageSize=10", 1, 0},
	} {
		get(t, s.icefield+c.path)
		calls, whole := s.counts(t)
		const times = 5
		for range times {
			if resp, _ := get(t, s.icefield+c.path); resp.StatusCode != 200 {
				t.Fatalf("%s: %s", c.name, resp.Status)
			}
		}
		after, wholeAfter := s.counts(t)
		if after-calls != times*c.calls || wholeAfter-whole != times*c.whole {
			t.Errorf("%s: %d calls for %d loads, %d with a whole table", c.name, after-calls, times, wholeAfter-whole)
		}
	}
}
