package vendors

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
)

// awkward are names that need encoding on the wire, and some that do not.
var awkward = []string{
	"plain", "with blank", "a+b", "100%", "a/b", "dot.ted", `say "hi"`, "it's", "é", "😀",
	"q?", "h#", "..", "%2F", "a&b=c", "semi;colon", `back\slash`, "UPPER", "upper", "other", "~tilde",
}

// without returns the names that hold none of the texts.
func without(names []string, texts ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(name, text) })
	})
}

// side is a catalog under the tree that was filled with names.
type side struct {
	mount      string   // in the tree; "" for the catalog underneath
	view       string   // as a catalog of its own
	namespaces []string // below the namespace "names"
	tables     []string // in the namespace "names"
	reachable  func(name string) bool
}

func everything(string) bool { return true }

// fill creates the names in a catalog.
func (s side) fill(t *testing.T, catalog *wire.Catalog) {
	t.Helper()
	catalog.MustCreateNamespace(t, "names")
	for _, name := range s.namespaces {
		catalog.MustCreateNamespace(t, "names", name)
	}
	for _, name := range s.tables {
		catalog.MustCreateTable(t, name, "names")
	}
}

// in is the place of levels of this side in the tree.
func (s side) in(levels ...string) []string {
	if s.mount == "" {
		return levels
	}
	return append([]string{s.mount}, levels...)
}

func joined(levels []string, names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, strings.Join(append(slices.Clone(levels), name), "\x1f"))
	}
	return out
}

// testListings checks each listing of each side in the tree and in the side's own view, and the root. root is what the
// root must hold.
func testListings(t *testing.T, s *scenario, root []string, sides []side) {
	t.Run("root", func(t *testing.T) { wholeAndInPages(t, s.tree.Namespaces(), root) })
	for _, side := range sides {
		name := side.mount
		if name == "" {
			name = "underneath"
		}
		view := s.view(side.view)
		t.Run(name, func(t *testing.T) {
			t.Run("namespaces", func(t *testing.T) {
				wholeAndInPages(t, s.tree.Namespaces(side.in("names")...), joined(side.in("names"), side.namespaces))
			})
			t.Run("tables", func(t *testing.T) {
				wholeAndInPages(t, s.tree.Tables(side.in("names")...), joined(side.in("names"), side.tables))
			})
			t.Run("namespaces of its own view", func(t *testing.T) {
				wholeAndInPages(t, view.Namespaces("names"), joined([]string{"names"}, side.namespaces))
			})
			t.Run("tables of its own view", func(t *testing.T) {
				wholeAndInPages(t, view.Tables("names"), joined([]string{"names"}, side.tables))
			})
			t.Run("listed names can be used", func(t *testing.T) { listedNamesCanBeUsed(t, s, side) })
		})
	}
}

// wholeAndInPages asserts that a listing holds exactly these names, each once: in one answer, and in pages of 1 to 7.
func wholeAndInPages(t *testing.T, listing *wire.Listing, want []string) {
	t.Helper()
	slices.Sort(want)
	names, err := listing.All()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		t.Fatalf("in one answer: got %q, want %q", names, want)
	}
	for size := 1; size <= 7; size++ {
		names, pages, err := listing.Walk(size)
		if err != nil {
			t.Errorf("pages of %d: %v", size, err)
			continue
		}
		if slices.Sort(names); !slices.Equal(names, want) {
			t.Errorf("pages of %d: got %q, want %q", size, names, want)
		}
		if least := (len(want) + size - 1) / size; pages < least {
			t.Errorf("pages of %d: %d pages for %d names", size, pages, len(want))
		}
	}
}

// listedNamesCanBeUsed asserts that every name, as it was listed, leads to its object, in the tree and in the view.
func listedNamesCanBeUsed(t *testing.T, s *scenario, side side) {
	for _, table := range side.tables {
		for scope, answer := range map[string]func() error{
			"tree": func() error { _, err := s.tree.LoadTable(table, side.in("names")...); return err },
			"view": func() error { _, err := s.view(side.view).LoadTable(table, "names"); return err },
		} {
			usable(t, side, scope+": table", table, answer())
		}
	}
	for _, namespace := range side.namespaces {
		_, err := s.tree.LoadNamespace(side.in("names", namespace)...)
		usable(t, side, "tree: namespace", namespace, err)
		_, err = s.view(side.view).LoadNamespace("names", namespace)
		usable(t, side, "view: namespace", namespace, err)
	}
}

// usable asserts that there was no error; for a name that the remote's own HTTP server refuses in a path, that there was
// one which does not say that the object is absent.
func usable(t *testing.T, side side, what, name string, err error) {
	t.Helper()
	if side.reachable(name) {
		if err != nil {
			t.Errorf("%s %q: %v", what, name, err)
		}
		return
	}
	var failure *wire.Error
	if !errors.As(err, &failure) || failure.Status == http.StatusNotFound {
		t.Errorf("%s %q, which the remote refuses: got %v, want an error that is not an absence", what, name, err)
	}
}

// testForeignTokens asserts that a token that is altered, or comes from elsewhere, restarts a listing.
func testForeignTokens(t *testing.T, s *scenario) {
	const size = 2
	listings := map[string]*wire.Listing{
		"root":                     s.tree.Namespaces(),
		"tables of prod":           s.tree.Tables("prod", "names"),
		"namespaces of prod":       s.tree.Namespaces("prod", "names"),
		"tables of partner":        s.tree.Tables("partner", "names"),
		"namespaces of partner":    s.tree.Namespaces("partner", "names"),
		"tables of sister":         s.tree.Tables("sister", "names"),
		"tables of prod's view":    s.view("prod").Tables("names"),
		"tables of partner's view": s.view("partner").Tables("names"),
		"tables underneath":        s.tree.Tables("names"),
	}
	first := map[string]*wire.Page{}
	for name, listing := range listings {
		page, err := listing.Page(size, "")
		if err != nil || page.Next == "" {
			t.Fatalf("%s: first page %+v, %v", name, page, err)
		}
		first[name] = page
	}
	for name, listing := range listings {
		t.Run(name, func(t *testing.T) {
			own := first[name].Next
			tokens := map[string]string{
				"cut":       own[:len(own)-1],
				"longer":    own + "A",
				"garbage":   "not a token",
				"a number":  "2",
				"flipped":   flipped(own, len(own)/2),
				"flipped 0": flipped(own, 0),
			}
			for other, page := range first {
				if other != name {
					tokens["of "+other] = page.Next
				}
			}
			for kind, token := range tokens {
				page, err := listing.Page(size, token)
				if err != nil {
					t.Errorf("token %s: %v", kind, err)
				} else if !slices.Equal(page.Names, first[name].Names) {
					t.Errorf("token %s: got %q, want the first page %q", kind, page.Names, first[name].Names)
				}
			}
			second, err := listing.Page(size, own) // and its own token still leads on
			if err != nil || slices.Equal(second.Names, first[name].Names) {
				t.Errorf("its own token: %+v, %v", second, err)
			}
		})
	}
}

// flipped changes one character of a token into another one of the same alphabet.
func flipped(token string, at int) string {
	other := byte('A')
	if token[at] == other {
		other = 'B'
	}
	return token[:at] + string(other) + token[at+1:]
}

// testRemotePagesAreFetchedOnce asserts that a walk costs one remote call a page.
func testRemotePagesAreFetchedOnce(t *testing.T, s *scenario) {
	for size := 1; size <= 7; size++ {
		for name, listing := range map[string]*wire.Listing{
			"tables":     s.tree.Tables("partner", "names"),
			"namespaces": s.tree.Namespaces("partner", "names"),
			"view":       s.view("partner").Tables("names"),
		} {
			before := s.partner.Count()
			_, pages, err := listing.Walk(size)
			if err != nil {
				t.Fatal(err)
			}
			if calls := s.partner.Count() - before; calls != pages {
				t.Errorf("%s in pages of %d: %d remote calls for %d pages", name, size, calls, pages)
			}
		}
	}
	before := s.partner.Count()
	if _, _, err := s.tree.Namespaces().Walk(1); err != nil {
		t.Fatal(err)
	}
	if calls := s.partner.Count() - before; calls != 0 {
		t.Errorf("a walk over the root asked the partner %d times; mount names are known without it", calls)
	}
}
