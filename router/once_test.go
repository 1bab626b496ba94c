package router

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

const someKey = "01890a5d-ac96-774b-bcce-b302099a8057"

func TestEveryChangeCarriesItsIdempotencyKeyAndNothingElseDoes(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	for _, row := range capabilities.Operations() {
		c := calls()[row.Op]
		g := w.do(row.Verb, "/v1"+c.path, c.body, "Idempotency-Key: "+strings.ToUpper(someKey))
		if g.status >= 300 {
			t.Fatalf("%s: %d %s", row.Name, g.status, g.body)
		}
		once := s.caller.Once
		if !capabilities.Changes().Has(row.Op) {
			if once != nil {
				t.Errorf("%s has the key %+v", row.Name, once)
			}
			continue
		}
		if once == nil || once.Key != someKey || once.Fingerprint == [32]byte{} {
			t.Errorf("%s has the key %+v", row.Name, once)
		}
		w.do(row.Verb, "/v1"+c.path, c.body)
		if s.caller.Once != nil {
			t.Errorf("%s without the header has the key %+v", row.Name, s.caller.Once)
		}
	}
}

func TestAKeyThatIsNoUUIDIsRefusedBeforeAnythingIsAsked(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	c := calls()[capabilities.CommitTable]
	for name, headers := range map[string][]string{
		"short":        {"Idempotency-Key: 01890a5d"},
		"not hex":      {"Idempotency-Key: 01890a5d-ac96-774b-bcce-b302099a805g"},
		"no hyphens":   {"Idempotency-Key: 01890a5dac96774bbcceb302099a8057"},
		"36 of those":  {"Idempotency-Key: 01890a5dac96774bbcceb302099a80570000"},
		"in braces":    {"Idempotency-Key: {" + someKey + "}"},
		"a urn":        {"Idempotency-Key: urn:uuid:" + someKey},
		"empty":        {"Idempotency-Key: "},
		"two":          {"Idempotency-Key: " + someKey, "Idempotency-Key: " + someKey},
		"two in one":   {"Idempotency-Key: " + someKey + ", " + someKey},
		"a whole page": {"Idempotency-Key: " + strings.Repeat("a", 4000)},
	} {
		message := w.do("POST", "/v1"+c.path, c.body, headers...).wantError(t, 400, "BadRequestException")
		if !strings.Contains(message, "Idempotency-Key") || len(message) > 200 {
			t.Errorf("%s: %s", name, message)
		}
		if s.last() != nil {
			t.Fatalf("%s: the backend was asked %T", name, s.last())
		}
		if g := w.do("GET", "/v1/namespaces/a/tables/t", "", headers...); g.status != 200 {
			t.Errorf("%s: a read is answered with %d", name, g.status)
		}
		s.asked = nil
	}
}

func TestAFingerprintTellsRequestsApartAndSpellingsNot(t *testing.T) {
	s, b := scripted(typical)
	w := serve(t, Config{Tree: Catalog{Backend: b}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: b}}})
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	const body = `{"updates":[]}`
	_, _ = z.Write([]byte(body))
	_ = z.Close()
	of := func(method, path, body string, headers ...string) [32]byte {
		t.Helper()
		if g := w.do(method, path, body, append(headers, "Idempotency-Key: "+someKey)...); g.status >= 300 || s.caller.Once == nil {
			t.Fatalf("%s %s: %d %s", method, path, g.status, g.body)
		}
		return s.caller.Once.Fingerprint
	}
	same := of("POST", "/v1/namespaces/a%1Fb/tables/t", body)
	for name, got := range map[string][32]byte{
		"sent again":              of("POST", "/v1/namespaces/a%1Fb/tables/t", body),
		"spelled otherwise":       of("POST", "/v1//namespaces/%61%1fb/tables/%74/", body),
		"compressed":              of("POST", "/v1/namespaces/a%1Fb/tables/t", zipped.String(), "Content-Encoding: gzip"),
		"with another delegation": of("POST", "/v1/namespaces/a%1Fb/tables/t", body, "X-Iceberg-Access-Delegation: vended-credentials"),
		"under another id":        of("POST", "/v1/namespaces/a%1Fb/tables/t", body, "X-Request-Id: other"),
		"unknown parameters":      of("POST", "/v1/namespaces/a%1Fb/tables/t?x=y", body),
	} {
		if got != same {
			t.Errorf("%s: another fingerprint", name)
		}
	}
	seen := map[[32]byte]string{same: "the request"}
	for name, got := range map[string][32]byte{
		"another body":       of("POST", "/v1/namespaces/a%1Fb/tables/t", `{"updates": []}`),
		"another table":      of("POST", "/v1/namespaces/a%1Fb/tables/u", body),
		"another namespace":  of("POST", "/v1/namespaces/a/tables/t", body),
		"a dot for a level":  of("POST", "/v1/namespaces/a.b/tables/t", body),
		"the mount's prefix": of("POST", "/v1/prod/namespaces/a%1Fb/tables/t", body),
		"a view":             of("POST", "/v1/namespaces/a%1Fb/views/t", body),
		"a drop":             of("DELETE", "/v1/namespaces/a%1Fb/tables/t", ""),
		"a purge":            of("DELETE", "/v1/namespaces/a%1Fb/tables/t?purgeRequested=true", ""),
		"a drop of a view":   of("DELETE", "/v1/namespaces/a%1Fb/views/t", ""),
		"of the namespace":   of("DELETE", "/v1/namespaces/a%1Fb", ""),
		"a name that joins":  of("POST", "/v1/namespaces/a/tables/bt", body),
	} {
		if other, taken := seen[got]; taken {
			t.Errorf("%s and %s have one fingerprint", name, other)
		}
		seen[got] = name
	}
	if of("DELETE", "/v1/namespaces/a%1Fb/tables/t?purgeRequested=False", "") != of("DELETE", "/v1/namespaces/a%1Fb/tables/t", "") {
		t.Error("a purge that is not asked for makes another request")
	}
}

func TestWireOfKeys(t *testing.T) {
	keeps, b := scripted(typical)
	keeps.keys = 30 * time.Minute
	none, other := scripted(typical)
	none.able = capabilities.Floor()
	w := serve(t, Config{Tree: Catalog{Name: "icefield", Backend: b}, Views: []Catalog{{Name: "prod", Prefix: "prod", Backend: b}, {Name: "late", Prefix: "late", Backend: other}}})
	golden(t, "config-keys", w.do("GET", "/v1/config", "", "X-Request-Id: id-1"))
	golden(t, "config-keys-mount", w.do("GET", "/v1/config?warehouse=prod", "", "X-Request-Id: id-1"))
	if g := w.do("GET", "/v1/config?warehouse=late", ""); strings.Contains(g.body, "idempotency") {
		t.Errorf("a catalog that honours no keys says %s", g.body)
	}
	c := calls()[capabilities.CommitTable]
	golden(t, "error-key-shape", w.do("POST", "/v1"+c.path, c.body, "X-Request-Id: id-1", "Idempotency-Key: 1"))
	golden(t, "error-key-mismatch", over(t, failing(&mounts.Error{Kind: mounts.Unprocessable, Msg: "this Idempotency-Key was used for another request, so this one was not carried out; give every request a key of its own"})).
		do("POST", "/v1"+c.path, c.body, "X-Request-Id: id-1", "Idempotency-Key: "+someKey))
	golden(t, "error-key-in-flight", over(t, failing(&mounts.Error{Kind: mounts.Unavailable, RetryAfter: time.Second, Answered: true, Mount: "prod", Msg: "a request with the same Idempotency-Key is still being worked on; send this one again, with its key, to learn its outcome"})).
		do("POST", "/v1"+c.path, c.body, "X-Request-Id: id-1", "Idempotency-Key: "+someKey))
}

func TestPeriodsAreSpelledAsISO8601(t *testing.T) {
	for d, want := range map[time.Duration]string{
		30 * time.Minute: "PT30M", time.Hour: "PT1H", 90 * time.Minute: "PT1H30M", 90 * time.Second: "PT1M30S", time.Second: "PT1S",
		26*time.Hour + 500*time.Millisecond: "PT26H", 0: "PT0S", time.Hour + time.Second: "PT1H1S",
	} {
		if got := string(appendPeriod(nil, d)); got != want {
			t.Errorf("%v is spelled %s, not %s", d, got, want)
		}
	}
}
