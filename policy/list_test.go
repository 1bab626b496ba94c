package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/pagination"
)

// crowd is a mount of many namespaces, of which those that visible says may be
// seen. maxPage is the most rows of the backend's own pages.
type crowd struct {
	b     *memory.Backend
	g     *Guard
	pages *atomic.Int32
}

func newCrowd(t testing.TB, n, maxPage int, a Authorizer) *crowd {
	t.Helper()
	c := &crowd{pages: &atomic.Int32{}}
	c.b = memory.New(memory.Options{MaxPage: maxPage, Before: func(_ context.Context, req mounts.Request) error {
		if _, ok := req.(*mounts.ListNamespacesRequest); ok {
			c.pages.Add(1)
		}
		return nil
	}})
	for i := range n {
		if _, err := c.b.CreateNamespace(t.Context(), &mounts.CreateNamespaceRequest{Namespace: ns(fmt.Sprintf("n%05d", i))}); err != nil {
			t.Fatal(err)
		}
	}
	c.g = single(t, c.b, a)
	return c
}

// only permits to see some namespaces, and to list everything.
func only(visible ...string) permits {
	return func(q Question) bool {
		return q.Resource.Kind == KindMount || len(q.Resource.Path) > 0 && slices.Contains(visible, q.Resource.Path[len(q.Resource.Path)-1])
	}
}

// walked lists everything in pages, and returns them.
func walked(t testing.TB, g *Guard, size int) (pages [][]string, tokens []string) {
	t.Helper()
	token := ""
	for range 10_000 {
		page, err := g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Token: token, Size: size}})
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, n := range page.Items {
			rows = append(rows, n.String())
		}
		pages = append(pages, rows)
		if page.Next == "" {
			return pages, tokens
		}
		if token = page.Next; slices.Contains(tokens, token) {
			t.Fatal("a token leads to itself")
		}
		tokens = append(tokens, token)
	}
	t.Fatal("the listing does not end")
	return nil, nil
}

var seven = []string{"n00003", "n00004", "n02000", "n04999", "n05000", "n07777", "n09998"}

func TestAListingShowsWhatMayBeSeenOnFullPages(t *testing.T) {
	for _, maxPage := range []int{0, 1000, 97} {
		c := newCrowd(t, 10_000, maxPage, only(seven...))
		for _, size := range []int{1, 2, 3, 7, 8, 500} {
			pages, tokens := walked(t, c.g, size)
			if all := slices.Concat(pages...); !slices.Equal(all, seven) {
				t.Errorf("size %d: %q", size, all)
			}
			for i, page := range pages {
				if i < len(pages)-1 && len(page) != size || len(page) == 0 {
					t.Errorf("pages of the backend of %d, size %d: page %d of %d holds %d rows", maxPage, size, i+1, len(pages), len(page))
				}
			}
			for _, token := range tokens {
				if len(token) != len(tokens[0]) {
					t.Errorf("the length of a token tells where it leads: %d and %d", len(token), len(tokens[0]))
				}
			}
		}
	}
}

func TestNoTokenLeadsToNothing(t *testing.T) {
	for _, visible := range [][]string{nil, {"n00000"}, {"n00499"}, {"n00000", "n00001"}} {
		c := newCrowd(t, 500, 50, only(visible...))
		for size := 1; size <= 3; size++ {
			pages, _ := walked(t, c.g, size)
			if want := max(1, (len(visible)+size-1)/size); len(pages) != want {
				t.Errorf("%d visible, size %d: %d pages", len(visible), size, len(pages))
			}
		}
	}
}

func TestAWholeListingCostsTheBackendOneWalk(t *testing.T) {
	c := newCrowd(t, 2500, 0, only("n00001", "n02400"))
	var rows []string
	token := ""
	for {
		page, err := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Token: token, Size: 1000, Whole: true}})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range page.Items {
			rows = append(rows, n.String())
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if !slices.Equal(rows, []string{"n00001", "n02400"}) || c.pages.Load() != 3 {
		t.Errorf("%q in %d pages of the backend", rows, c.pages.Load())
	}
}

func TestAListingWithoutASizeWorks(t *testing.T) {
	c := newCrowd(t, 2500, 0, permits(func(Question) bool { return true }))
	pages, _ := walked(t, c.g, 0)
	if all := slices.Concat(pages...); len(all) != 2500 || !slices.IsSorted(all) || len(pages) != 3 {
		t.Errorf("%d rows on %d pages", len(all), len(pages))
	}
}

// alike says that all rows are decided alike.
type alike struct {
	permits
	allowed bool
}

func (a alike) Filter(context.Context, Question, []Resource) ([]bool, error) { panic("asked in vain") }
func (a alike) Uniform(context.Context, Question, Resource, Kind) (allowed, known bool) {
	return a.allowed, true
}

func TestWhereAllRowsAreAlikeAPageCostsOneCall(t *testing.T) {
	c := newCrowd(t, 100, 0, alike{permits(func(Question) bool { return true }), true})
	pages, _ := walked(t, c.g, 10)
	if len(pages) != 10 || c.pages.Load() != 10 || len(slices.Concat(pages...)) != 100 {
		t.Errorf("%d pages in %d calls", len(pages), c.pages.Load())
	}
	c = newCrowd(t, 100, 0, alike{permits(func(Question) bool { return true }), false})
	if pages, _ = walked(t, c.g, 10); len(pages) != 1 || len(pages[0]) != 0 || c.pages.Load() != 1 {
		t.Errorf("where nothing is visible: %d pages in %d calls", len(pages), c.pages.Load())
	}
	_, err := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Parent: ns("nowhere")})
	if mounts.AsError(err).Kind != mounts.NoSuchNamespace {
		t.Errorf("of what is not there: %v", err)
	}
}

// A row that the token leads behind is gone: the page starts again.
func TestARowThatIsGoneRepeatsAndSkipsNothing(t *testing.T) {
	c := newCrowd(t, 40, 0, permits(func(Question) bool { return true }))
	page, err := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 10}})
	if err != nil || len(page.Items) != 10 {
		t.Fatal(page, err)
	}
	if err := c.b.DropNamespace(t.Context(), &mounts.DropNamespaceRequest{Namespace: page.Items[9]}); err != nil {
		t.Fatal(err)
	}
	next, err := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Token: page.Next, Size: 40}})
	if err != nil {
		t.Fatal(err)
	}
	for i := 10; i < 40; i++ {
		if !slices.ContainsFunc(next.Items, func(n mounts.Namespace) bool { return n[0] == fmt.Sprintf("n%05d", i) }) {
			t.Errorf("row %d was skipped", i)
		}
	}
	// Rows that come before it move it, and it is found.
	for _, early := range []string{"a", "b"} {
		if _, err := c.b.CreateNamespace(t.Context(), &mounts.CreateNamespaceRequest{Namespace: ns(early)}); err != nil {
			t.Fatal(err)
		}
	}
	page, _ = c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 5}})
	if err := c.b.DropNamespace(t.Context(), &mounts.DropNamespaceRequest{Namespace: ns("a")}); err != nil {
		t.Fatal(err)
	}
	next, _ = c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Token: page.Next, Size: 1}})
	if names(next.Items) != "n00003" {
		t.Errorf("behind %v comes %v", page.Items, next.Items)
	}
}

func TestATokenOfAnotherListingStartsAgain(t *testing.T) {
	c := newCrowd(t, 30, 0, permits(func(Question) bool { return true }))
	page, _ := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 10}})
	for _, token := range []string{"x", page.Next + "A", page.Next[:len(page.Next)-1], strings.Repeat("A", 9000)} {
		again, err := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 10, Token: token}})
		if err != nil || names(again.Items) != names(page.Items) {
			t.Errorf("%.20q: %v, %v", token, again, err)
		}
	}
}

func TestWorkOnAPageIsBounded(t *testing.T) {
	c := newCrowd(t, 3000, 10, only("n02999"))
	page, err := c.g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 10}})
	if err != nil || len(page.Items) != 0 || page.Next == "" || c.pages.Load() != maxPagesAsked {
		t.Errorf("%v, %v after %d pages", page, err, c.pages.Load())
	}
	pages, _ := walked(t, c.g, 10)
	if all := slices.Concat(pages...); !slices.Equal(all, []string{"n02999"}) {
		t.Errorf("%q", all)
	}
	// Neither is all the time used up that a request has.
	now := time.Now()
	c.g.now = func() time.Time { now = now.Add(time.Second); return now }
	ctx, cancel := context.WithDeadline(as(t, alice()), now.Add(30*time.Second))
	defer cancel()
	c.pages.Store(0)
	if page, err = c.g.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 10}}); err != nil || page.Next == "" || c.pages.Load() > 12 {
		t.Errorf("%v, %v after %d pages", page, err, c.pages.Load())
	}
}

func TestTheRootOfTheTreeMixesMountsAndNamespaces(t *testing.T) {
	s := newScene(t)
	for i := range 20 {
		p := alice()
		if i%2 == 1 {
			p = bob()
		}
		fill(t, s.guard(permits(ownTenant)), p, ns(fmt.Sprintf("n%02d", i)))
	}
	for _, size := range []int{1, 2, 3, 100, 0} {
		pages, _ := walked(t, s.guard(permits(ownTenant)), size)
		if got := strings.Join(slices.Concat(pages...), " "); got != "prod n00 n02 n04 n06 n08 n10 n12 n14 n16 n18" {
			t.Errorf("size %d: %s", size, got)
		}
	}
	// One question about the tenants of a whole page, one about each kind of row.
	s.under.asked = nil
	asked := map[Kind]int{}
	g := s.guard(counted{permits(ownTenant), asked})
	if _, err := g.ListNamespaces(as(t, alice()), &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 1000, Whole: true}}); err != nil {
		t.Fatal(err)
	}
	if len(s.under.asked) != 1 || asked[KindMount] != 1 || asked[KindNamespace] != 1 {
		t.Errorf("%d questions for owners, %v filters", len(s.under.asked), asked)
	}
}

type counted struct {
	permits
	asked map[Kind]int
}

func (c counted) Filter(ctx context.Context, q Question, list []Resource) ([]bool, error) {
	c.asked[list[0].Kind]++
	for _, r := range list {
		if r.Kind != list[0].Kind || r.Mount != list[0].Mount && r.Kind != KindMount {
			panic("mixed")
		}
	}
	return c.permits.Filter(ctx, q, list)
}

func TestListingsOfTablesAndViewsAreFiltered(t *testing.T) {
	s := newScene(t)
	fill(t, s.guard(AllowAll()), alice(), ns("prod", "a"))
	g := s.guard(permits(func(q Question) bool { return q.Resource.Kind != KindView && ownTenant(q) }))
	tables, err := g.ListTables(as(t, alice()), &mounts.ListTablesRequest{Namespace: ns("prod", "a")})
	if err != nil || names(tables.Items) != "prod.a.orders" {
		t.Errorf("%v, %v", tables, err)
	}
	views, err := g.ListViews(as(t, alice()), &mounts.ListViewsRequest{Namespace: ns("prod", "a")})
	if err != nil || len(views.Items) != 0 {
		t.Errorf("%v, %v", views, err)
	}
}

func TestARowThatBelongsElsewhereFailsTheListing(t *testing.T) {
	odd := mounts.Around(memory.New(memory.Options{}), func(context.Context, mounts.Request, mounts.Handler) (mounts.Response, error) {
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{{Namespace: ns("secret"), Name: "t"}}}, nil
	})
	g := single(t, odd, permits(func(Question) bool { return true }))
	if _, err := g.ListTables(as(t, alice()), &mounts.ListTablesRequest{Namespace: ns("a")}); mounts.AsError(err).Kind != mounts.BadGateway {
		t.Error(err)
	}
}

func TestCursorsComeBack(t *testing.T) {
	for _, c := range []cursor{{}, {token: "a,b\x00é", size: 1000, index: 7, passed: short("x")}, {token: strings.Repeat("t", 3000), size: 200}} {
		for hides, multiple := range map[bool]int{false: padding, true: hiddenPadding} {
			hidden := c
			hidden.hides = hides
			text := hidden.String()
			if got, ok := readCursor(text); !ok || got != c || len(text)%multiple != 0 {
				t.Errorf("%v came back as %v, %d bytes", c, got, len(text))
			}
		}
	}
	for _, bad := range []string{"", "1,2,3", "1,2,999999,----------------", "-1,0,0,----------------", "9999999,0,0,----------------", "x,0,0,----------------"} {
		if _, ok := readCursor(bad); ok {
			t.Errorf("%q was read", bad)
		}
	}
}

// BenchmarkListingOfTenThousand lists 10,000 namespaces of which 7 may be seen.
func BenchmarkListingOfTenThousand(b *testing.B) {
	c := newCrowd(b, 10_000, 0, only(seven...))
	ctx := as(b, alice())
	for b.Loop() {
		page, err := c.g.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 100}})
		if err != nil || len(page.Items) != 7 || page.Next != "" {
			b.Fatal(page, err)
		}
	}
}

func BenchmarkListingOfTenThousandByItsOperator(b *testing.B) {
	c := newCrowd(b, 10_000, 0, nil)
	ctx := as(b, Anonymous())
	for b.Loop() {
		if _, err := c.g.ListNamespaces(ctx, &mounts.ListNamespacesRequest{}); err != nil {
			b.Fatal(err)
		}
	}
}
