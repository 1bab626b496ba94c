package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/policy"
)

// crowdSize is how many there are of which a caller may see seven: the first and
// the last, neighbours, and others far from each other.
const crowdSize = 10_000

var seven = []int{0, 1, 4321, 5999, 6000, 6001, crowdSize - 1} // read only

// crowdName is a name of the crowd. What the hidden ones are called is long where
// pages of the registry end, so that a token which depends on it would show it.
func crowdName(i int) string {
	name := fmt.Sprintf("n%05d", i)
	if slices.Contains(seven, i) {
		return name
	}
	return name + "-hidden" + strings.Repeat("x", i*7%800)
}

// fillCrowd makes a registry file with namespaces and tables in big, and top-level
// namespaces of which others than the seven belong to another tenant.
func fillCrowd(t testing.TB, path string, which []int) {
	t.Helper()
	s, err := bolt.Open(path)
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), func(tx store.Tx) error {
		put := func(owner string, levels ...string) error {
			return tx.CreateNamespace(store.Namespace{Path: levels, ID: uuid.New(), Owner: owner, Created: time.Now(), Updated: time.Now()})
		}
		if err := put("acme", "big"); err != nil {
			return err
		}
		for _, i := range which {
			owner := "globex"
			if slices.Contains(seven, i) {
				owner = "acme"
			}
			if err := put("acme", "big", crowdName(i)); err != nil {
				return err
			}
			if err := put(owner, crowdName(i)); err != nil {
				return err
			}
			if _, err := tx.Create(store.Object{Namespace: mounts.Namespace{"big"}, Name: crowdName(i), Kind: store.Table, ID: uuid.New(),
				Location: fmt.Sprint("file:///w/", i)}, store.By{Time: time.Now()}); err != nil {
				return err
			}
		}
		return nil
	}))
	require.NoError(t, s.Close())
}

// crowdPolicies let readers of acme see seven of what is in big, by name.
func crowdPolicies(mount string) string {
	var b strings.Builder
	group := `principal in Icefield::Group::"acme/reader"`
	prefix := strings.TrimPrefix(mount+"/", "/")
	fmt.Fprintf(&b, "permit(%s, action in [Icefield::Action::\"listNamespaces\", Icefield::Action::\"listTables\", Icefield::Action::\"namespaceExists\"], resource == Icefield::Namespace::\"%sbig\");\n", group, prefix)
	id := policy.EntityID(cmp.Or(mount, mounts.UnderName))
	fmt.Fprintf(&b, "permit(%s, action in Icefield::Action::\"list\", resource == Icefield::Mount::%q);\n", group, id)
	for _, i := range seven {
		for _, kind := range []string{"Namespace", "Table"} {
			fmt.Fprintf(&b, "permit(%s, action in Icefield::Action::\"read\", resource == Icefield::%s::\"%sbig/%s\");\n", group, kind, prefix, crowdName(i))
		}
		fmt.Fprintf(&b, "permit(%s, action in Icefield::Action::\"read\", resource == Icefield::Namespace::%q) when { principal has tenant && resource in principal.tenant };\n", group, crowdName(i))
	}
	return b.String()
}

// crowdRealm is a server of two mounts with such registries in them.
func crowdRealm(t testing.TB, which []int) *realm {
	t.Helper()
	dir := t.TempDir()
	fillCrowd(t, filepath.Join(dir, "root.db"), which)
	registry, err := os.ReadFile(filepath.Join(dir, "root.db"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prod.db"), registry, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "crowd.cedar"), []byte(crowdPolicies("")+crowdPolicies("prod")), 0o600))
	return newRealmIn(t, dir, "policy {\n  files = [\"*.cedar\"]\n}\n"+ownedText("/", "")+ownedText("prod", "acme"))
}

// page is one page of any listing.
type page struct {
	Namespaces  [][]string
	Identifiers []struct{ Name string }
	Next        string `json:"next-page-token"`
	text        string
	took        time.Duration
}

func (p *page) names() (names []string) {
	for _, n := range p.Namespaces {
		names = append(names, n[len(n)-1])
	}
	for _, id := range p.Identifiers {
		names = append(names, id.Name)
	}
	return names
}

// walk reads a listing in pages of a size; 0 is without pages.
func (r *realm) walk(t testing.TB, who, listing string, size int) (pages []page) {
	t.Helper()
	sign := "?"
	if strings.Contains(listing, "?") {
		sign = "&"
	}
	for token := ""; ; {
		at := listing
		if size > 0 {
			at += fmt.Sprintf("%spageSize=%d&pageToken=%s", sign, size, queryOf(token))
		}
		began := time.Now()
		var p page
		p.text = r.do(t, who, "GET", at, "")
		p.took = time.Since(began)
		require.NoError(t, json.Unmarshal([]byte(p.text), &p))
		pages = append(pages, p)
		if token = p.Next; token == "" || len(pages) > crowdSize {
			return pages
		}
	}
}

func TestAListingTellsNothingOfTheRowsThatAreHidden(t *testing.T) {
	t.Parallel()
	everything := make([]int, crowdSize)
	for i := range everything {
		everything[i] = i
	}
	crowd, alone := crowdRealm(t, everything), crowdRealm(t, seven)
	var want []string
	for _, i := range seven {
		want = append(want, crowdName(i))
	}
	for _, c := range []struct {
		listing string
		extra   []string // beside the seven, which are in both
	}{
		{"/v1/namespaces?parent=prod%1Fbig", nil},
		{"/v1/prod/namespaces?parent=big", nil},
		{"/v1/namespaces/prod%1Fbig/tables", nil},
		{"/v1/prod/namespaces/big/tables", nil},
		{"/v1/namespaces/big/tables", nil},
		{"/v1/namespaces", []string{"big", "prod"}},
		{"/v1/root/namespaces", []string{"big"}},
	} {
		all := append(slices.Clone(want), c.extra...)
		slices.Sort(all)
		length := 0
		for _, size := range []int{1, 3, 7, 8, 0} {
			what := fmt.Sprintf("%s in pages of %d", c.listing, size)
			pages, bare := crowd.walk(t, "acme-reader", c.listing, size), alone.walk(t, "acme-reader", c.listing, size)
			var got []string
			for i, p := range pages {
				got = append(got, p.names()...)
				if i < len(pages)-1 {
					assert.Len(t, p.names(), size, "%s: page %d is not full", what, i)
					assert.True(t, length == 0 || length == len(p.Next), "%s: a token of %d bytes after those of %d", what, len(p.Next), length)
					length = len(p.Next)
				}
			}
			slices.Sort(got)
			assert.Equal(t, all, got, what)
			assert.NotEmpty(t, pages[len(pages)-1].names(), "%s: a token led to nothing", what)
			// Where there are no others the answers are the same, byte for byte, but for
			// what is in the tokens.
			if !assert.Len(t, bare, len(pages), what) {
				continue
			}
			for i, p := range pages {
				q := bare[i]
				assert.Equal(t, len(q.Next), len(p.Next), "%s: page %d", what, i)
				assert.Equal(t, strings.Replace(q.text, q.Next, "", 1), strings.Replace(p.text, p.Next, "", 1), "%s: page %d", what, i)
			}
		}
	}
}

// A name can be as long as names get, and made of what some encoding writes longer.
// No listing that it is in, seen or hidden, fails for that.
func TestCraftedNamesBreakNobodysListing(t *testing.T) {
	r := newRealm(t, ownedText("/", "")+ownedText("lake", "globex"))
	var crafted []string
	for _, piece := range []string{"<", `"`, `\`, "\u2028", "\U0001f480", "%", "x"} {
		crafted = append(crafted, strings.Repeat(piece, 1020/len(piece)))
	}
	slices.Sort(crafted)
	for _, name := range crafted {
		for _, levels := range [][]string{{name}, {"lake", name}} {
			body, err := json.Marshal(map[string]any{"namespace": levels})
			require.NoError(t, err)
			r.do(t, "globex-admin", "POST", "/v1/namespaces", string(body))
		}
	}
	for _, name := range []string{"!first", "~last", "middle"} {
		r.do(t, "acme-admin", "POST", "/v1/namespaces", fmt.Sprintf(`{"namespace":[%q]}`, name))
	}
	for _, c := range []struct {
		who, listing string
		want         []string
	}{
		{"globex-reader", "/v1/namespaces", append([]string{"lake"}, crafted...)}, {"globex-reader", "/v1/root/namespaces", crafted},
		{"globex-reader", "/v1/namespaces?parent=lake", crafted}, {"globex-reader", "/v1/lake/namespaces", crafted},
		{"acme-reader", "/v1/namespaces", []string{"!first", "middle", "~last"}}, {"acme-reader", "/v1/root/namespaces", []string{"!first", "middle", "~last"}},
	} {
		for _, size := range []int{1, 2, 0} {
			var got []string
			for _, p := range r.walk(t, c.who, c.listing, size) {
				got = append(got, p.names()...)
			}
			slices.Sort(got)
			slices.Sort(c.want)
			assert.Equal(t, c.want, got, "%s as %s in pages of %d", c.listing, c.who, size)
		}
	}
}
