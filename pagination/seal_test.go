package pagination

import (
	"encoding/base64"
	"strings"
	"testing"
)

func ring(t testing.TB, secret string, material map[string][]byte) *Keyring {
	t.Helper()
	k, err := NewKeyring([]byte(secret), material)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

var (
	two   = map[string][]byte{"prod": []byte("config of prod"), "partner": []byte("config of partner")}
	inner = Listing{Scope: "icefield", Kind: "listTables", Parent: []string{"prod", "a"}}
)

func seal(t testing.TB, k *Keyring, l Listing, p Position) string {
	t.Helper()
	token, err := k.Seal(l, p)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokenLeadsBackToItsPosition(t *testing.T) {
	k := ring(t, "", two)
	for _, cursor := range []string{"", "after", "a\x1fb \"é\" 🧊", strings.Repeat("x", 4000)} {
		pos := Position{Source: "prod", Cursor: cursor}
		if got, ok := k.Open(inner, seal(t, k, inner, pos)); !ok || got != pos {
			t.Errorf("%.20q came back as %.20q, %v", cursor, got.Cursor, ok)
		}
	}
}

func TestTokenShowsNeitherSourceNorCursor(t *testing.T) {
	k := ring(t, "", two)
	raw, err := base64.RawURLEncoding.DecodeString(seal(t, k, inner, Position{"partner", "hidden_name"}))
	if err != nil || strings.Contains(string(raw), "hidden") || strings.Contains(string(raw), "partner") {
		t.Errorf("readable token %q, %v", raw, err)
	}
}

func TestTokenIsGoodForOneListingOnly(t *testing.T) {
	k := ring(t, "", two)
	token := seal(t, k, inner, Position{"prod", "x"})
	for _, other := range []Listing{
		{"prod", "listTables", []string{"prod", "a"}},
		{"icefield", "listViews", []string{"prod", "a"}},
		{"icefield", "listTables", []string{"prod"}},
		{"icefield", "listTables", []string{"proda"}},
		{"icefield", "listTables", []string{"prod", "a", ""}},
		{"icefield", "listTablesprod", []string{"a"}},
	} {
		if _, ok := k.Open(other, token); ok {
			t.Errorf("token of %v opens for %v", inner, other)
		}
	}
}

func TestEveryAlteredTokenIsRefused(t *testing.T) {
	k := ring(t, "", two)
	token := seal(t, k, inner, Position{"prod", "x"})
	for i := range token {
		for _, c := range []byte{'A', '_', '=', ' '} {
			if token[i] == c {
				continue
			}
			if _, ok := k.Open(inner, token[:i]+string(c)+token[i+1:]); ok {
				t.Fatalf("byte %d changed to %q and still opens", i, c)
			}
		}
		if _, ok := k.Open(inner, token[:i]); ok {
			t.Fatalf("cut at %d and still opens", i)
		}
	}
	if _, ok := k.Open(inner, strings.Repeat("A", MaxToken+1)); ok {
		t.Error("an oversized token opens")
	}
}

func TestReplicasAndChangedMountsUnderstandWhatTheyShould(t *testing.T) {
	before := ring(t, "", two)
	token := seal(t, before, inner, Position{"prod", "x"})
	if _, ok := ring(t, "", two).Open(inner, token); !ok {
		t.Error("a restart loses the walk")
	}
	changed := map[string][]byte{"prod": two["prod"], "partner": []byte("changed"), "new": nil}
	changed["new"] = []byte("added")
	if _, ok := ring(t, "", changed).Open(inner, token); !ok {
		t.Error("a change to another mount loses the walk")
	}
	changed["prod"] = []byte("changed too")
	if _, ok := ring(t, "", changed).Open(inner, token); ok {
		t.Error("a token outlives its own mount's configuration")
	}
	secret := seal(t, ring(t, "s3cret", two), inner, Position{"prod", "x"})
	if _, ok := ring(t, "s3cret", changed).Open(inner, secret); !ok {
		t.Error("with a server secret the configuration must not matter")
	}
	if _, ok := before.Open(inner, secret); ok {
		t.Error("a token opens without the server's secret")
	}
}

func TestSealRefusesUnknownSourcesAndOversizedCursors(t *testing.T) {
	k := ring(t, "", two)
	if _, err := k.Seal(inner, Position{"nobody", ""}); err == nil {
		t.Error("sealed for a source without a key")
	}
	if _, err := k.Seal(inner, Position{"prod", strings.Repeat("x", MaxToken)}); err == nil {
		t.Error("sealed an oversized cursor")
	}
}

// A name that stands in a cursor can be made of anything, by somebody else.
func TestATokenIsAsLongAsItsCursorWhateverThatIsMadeOf(t *testing.T) {
	k := ring(t, "", two)
	plain := seal(t, k, inner, Position{"prod", strings.Repeat("x", 1023)})
	for _, text := range []string{strings.Repeat("<", 1023), strings.Repeat("\"", 1023), strings.Repeat("\u2028", 341), strings.Repeat("\xff", 1023)} {
		token := seal(t, k, inner, Position{"prod", text})
		if len(token) != len(plain) {
			t.Errorf("%.10q…: %d bytes, not %d", text, len(token), len(plain))
		}
		if got, ok := k.Open(inner, token); !ok || got.Cursor != text {
			t.Errorf("%.10q…: %v", text, ok)
		}
	}
}

func FuzzOpenNeverPanicsAndAcceptsOnlyOwnTokens(f *testing.F) {
	k := ring(f, "", two)
	own := seal(f, k, inner, Position{"prod", "x"})
	f.Add(own)
	f.Add("")
	f.Add("AQ")
	f.Fuzz(func(t *testing.T, token string) {
		if _, ok := k.Open(inner, token); ok && token != own {
			t.Errorf("a forged token opens: %q", token)
		}
	})
}

func TestWhatDoesNotTravelInAURLMayGetLonger(t *testing.T) {
	ring, err := NewKeyring([]byte("a secret"), map[string][]byte{"prod": nil})
	if err != nil {
		t.Fatal(err)
	}
	at := Listing{Scope: "prod", Kind: "plan-task", Parent: []string{"a", "t"}}
	long := Position{Source: "prod", Cursor: strings.Repeat("x", MaxToken)}
	if _, err := ring.Seal(at, long); err == nil {
		t.Error("sealed more than fits into a URL")
	}
	token, err := ring.SealUpTo(4*MaxToken, at, long)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := ring.OpenUpTo(4*MaxToken, at, token); !ok || got != long {
		t.Errorf("opened %v, %v", ok, len(got.Cursor))
	}
	if _, ok := ring.Open(at, token); ok {
		t.Error("opened more than fits into a URL")
	}
}
