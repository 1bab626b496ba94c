package mounttest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// kind is one of the three listings, so that each check runs over all of them.
type kind struct {
	name string
	// needs and writes are what a check over this listing takes.
	needs, writes capabilities.Set
	// page lists one page of what is inside a namespace.
	page func(*suite, mounts.Namespace, pagination.Request) ([]string, string, error)
	// put creates an entry of that name inside a namespace; drop removes it.
	put  func(*suite, mounts.Namespace, string)
	drop func(*suite, mounts.Namespace, string)
	// dropOp is what drop takes.
	dropOp capabilities.Op
}

func listings() []kind {
	return []kind{
		{name: "namespaces", page: (*suite).pageOfNamespaces,
			put: func(s *suite, n mounts.Namespace, name string) {
				_, err := s.w.CreateNamespace(s.ctx, &mounts.CreateNamespaceRequest{Namespace: n.Child(name)})
				s.must(err)
			},
			drop: func(s *suite, n mounts.Namespace, name string) {
				s.must(s.w.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: n.Child(name)}))
			}, dropOp: capabilities.DropNamespace},
		{name: "tables", page: (*suite).pageOfTables,
			put: func(s *suite, n mounts.Namespace, name string) { s.table(mounts.Identifier{Namespace: n, Name: name}) },
			drop: func(s *suite, n mounts.Namespace, name string) {
				s.must(s.w.DropTable(s.ctx, &mounts.DropTableRequest{Table: mounts.Identifier{Namespace: n, Name: name}}))
			}, dropOp: capabilities.DropTable},
		{name: "views", needs: of(capabilities.ListViews), writes: of(capabilities.CreateView), page: (*suite).pageOfViews,
			put: func(s *suite, n mounts.Namespace, name string) { s.view(mounts.Identifier{Namespace: n, Name: name}) },
			drop: func(s *suite, n mounts.Namespace, name string) {
				s.must(s.w.DropView(s.ctx, &mounts.DropViewRequest{View: mounts.Identifier{Namespace: n, Name: name}}))
			}, dropOp: capabilities.DropView},
	}
}

func listingChecks() []check {
	var checks []check
	for _, k := range listings() {
		add := func(name string, writes capabilities.Set, run func(*suite, kind)) {
			checks = append(checks, check{name: "listing/" + k.name + "/" + name, needs: k.needs, writes: k.writes.Union(writes),
				run: func(s *suite) { run(s, k) }})
		}
		add("pages", 0, (*suite).listPages)
		add("order", 0, (*suite).listOrder)
		add("empty", 0, (*suite).listEmpty)
		add("missing namespace", 0, (*suite).listMissing)
		add("direct entries only", 0, (*suite).listDirect)
		add("changes during a walk", of(k.dropOp), (*suite).listChanging)
	}
	return append(checks, check{name: "listing/tables and views apart", needs: of(capabilities.ListViews),
		writes: of(capabilities.CreateView), run: (*suite).listApart})
}

func (s *suite) pageOfNamespaces(n mounts.Namespace, req pagination.Request) ([]string, string, error) {
	page, err := s.b.ListNamespaces(s.ctx, &mounts.ListNamespacesRequest{Parent: n, Page: req})
	if err != nil {
		return nil, "", err
	}
	names := make([]string, len(page.Items))
	for i, item := range page.Items {
		names[i] = item[len(item)-1]
	}
	return names, page.Next, nil
}

func (s *suite) pageOfTables(n mounts.Namespace, req pagination.Request) ([]string, string, error) {
	return names(s.b.ListTables(s.ctx, &mounts.ListTablesRequest{Namespace: n, Page: req}))
}

func (s *suite) pageOfViews(n mounts.Namespace, req pagination.Request) ([]string, string, error) {
	return names(s.b.ListViews(s.ctx, &mounts.ListViewsRequest{Namespace: n, Page: req}))
}

func names(page *pagination.Page[mounts.Identifier], err error) ([]string, string, error) {
	if err != nil {
		return nil, "", err
	}
	list := make([]string, len(page.Items))
	for i, item := range page.Items {
		list[i] = item.Name
	}
	return list, page.Next, nil
}

func (s *suite) namespaces(n mounts.Namespace, size int) []string {
	s.Helper()
	return s.walk(kind{page: (*suite).pageOfNamespaces}, n, size, nil)
}

func (s *suite) tables(n mounts.Namespace, size int) []string {
	s.Helper()
	return s.walk(kind{page: (*suite).pageOfTables}, n, size, nil)
}

// walk lists everything page by page, calls between after each page, and gives
// up on a listing that does not end.
func (s *suite) walk(k kind, n mounts.Namespace, size int, between func(page int)) []string {
	s.Helper()
	var all []string
	seen := map[string]bool{}
	req := pagination.Request{Size: size}
	for page := 1; ; page++ {
		rows, next, err := k.page(s, n, req)
		s.must(err)
		all = append(all, rows...)
		if next == "" {
			return all
		}
		if seen[next] || page > 1000 {
			s.Fatalf("a page size of %d leads in a circle after %d pages: token %q", size, page, next)
		}
		seen[next] = true
		req.Token = next
		if between != nil {
			between(page)
		}
	}
}

// matrix is the name matrix without what is a gap.
func (s *suite) matrix() []string {
	var list []string
	for _, name := range Names() {
		_, namespace := s.gaps["names/namespace/"+name.Label]
		_, table := s.gaps["names/table/"+name.Label]
		_, view := s.gaps["names/view/"+name.Label]
		if !namespace && !table && !view {
			list = append(list, name.Text)
		}
	}
	return list
}

// sameOnce reports how a listing differs from every name exactly once.
func sameOnce(got, want []string) string {
	count := map[string]int{}
	for _, name := range got {
		count[name]++
	}
	var wrong []string
	for _, name := range want {
		if count[name] != 1 {
			wrong = append(wrong, fmt.Sprintf("%.40q stands %d times", name, count[name]))
		}
		delete(count, name)
	}
	for name := range count {
		wrong = append(wrong, fmt.Sprintf("%.40q was never created", name))
	}
	slices.Sort(wrong)
	return strings.Join(wrong, ", ")
}

func (s *suite) listPages(k kind) {
	n := s.namespace("shop")
	want := s.matrix()
	for _, name := range want {
		k.put(s, n, name)
	}
	var whole []string
	for _, size := range []int{0, 1, 2, 3, 4, 5, 6, 7, len(want) - 1, len(want), len(want) + 1, 1000} {
		got := s.walk(k, n, size, nil)
		if wrong := sameOnce(got, want); wrong != "" {
			s.Errorf("page size %d: %s", size, wrong)
		}
		if whole == nil {
			whole = got
		} else if !slices.Equal(got, whole) {
			s.Errorf("page size %d lists in another order than without pages", size)
		}
	}
}

func (s *suite) listOrder(k kind) {
	n := s.namespace("shop")
	for _, name := range []string{"b", "a", "B", "é", "z", "a1", "Z", "_"} {
		k.put(s, n, name)
	}
	for _, size := range []int{0, 3} {
		if got := s.walk(k, n, size, nil); !slices.IsSorted(got) {
			s.Errorf("page size %d: %q is not in the order of the bytes", size, got)
		}
	}
}

func (s *suite) listEmpty(k kind) {
	n := s.namespace("shop")
	for _, size := range []int{0, 1, 5} {
		if got := s.walk(k, n, size, nil); len(got) > 0 {
			s.Errorf("an empty namespace lists %q", got)
		}
	}
}

func (s *suite) listMissing(k kind) {
	s.namespace("shop")
	for _, n := range []mounts.Namespace{s.ns("missing"), s.ns("shop", "missing")} {
		for _, size := range []int{0, 2} {
			rows, _, err := k.page(s, n, pagination.Request{Size: size})
			if err == nil {
				s.Errorf("a namespace that is not there lists %q", rows)
				continue
			}
			s.want(err, space(n), mounts.NoSuchNamespace)
		}
	}
}

func (s *suite) listDirect(k kind) {
	outer, inner, beside := s.namespace("a"), s.namespace("a", "b"), s.namespace("ab")
	k.put(s, inner, "inner")
	k.put(s, beside, "beside")
	k.put(s, outer, "outer")
	want := []string{"outer"}
	if k.dropOp == capabilities.DropNamespace {
		want = []string{"b", "outer"}
	}
	if got := slices.Sorted(slices.Values(s.walk(k, outer, 0, nil))); !slices.Equal(got, want) {
		s.Errorf("listed %q, want %q", got, want)
	}
}

// listChanging adds and removes entries around the place that a walk has
// reached. What was there all the time must be listed, once.
func (s *suite) listChanging(k kind) {
	n := s.namespace("shop")
	var stable []string
	for i := range 6 {
		stable = append(stable, fmt.Sprintf("stable_%02d", i))
		k.put(s, n, stable[i])
		k.put(s, n, fmt.Sprintf("leaving_%02d", i))
		k.put(s, n, fmt.Sprintf("stable_%02d_leaving", i))
	}
	for _, size := range []int{1, 2, 5} {
		got := s.walk(k, n, size, func(page int) {
			if page > 6 {
				return
			}
			k.put(s, n, fmt.Sprintf("early_%d_%02d", size, page))
			k.put(s, n, fmt.Sprintf("stable_%02d_%d", page, size))
			k.put(s, n, fmt.Sprintf("zlate_%d_%02d", size, page))
			if size == 1 {
				k.drop(s, n, fmt.Sprintf("leaving_%02d", page-1))
				k.drop(s, n, fmt.Sprintf("stable_%02d_leaving", page-1))
			}
		})
		count := map[string]int{}
		for _, name := range got {
			count[name]++
		}
		for _, name := range stable {
			if count[name] != 1 {
				s.Errorf("page size %d: %s was there all the time and is listed %d times", size, name, count[name])
			}
		}
	}
}

func (s *suite) listApart() {
	id, _ := s.fresh()
	s.view(s.id("recent", "shop"))
	if got := s.tables(id.Namespace, 0); !slices.Equal(got, []string{"orders"}) {
		s.Errorf("tables: %q", got)
	}
	if got := s.walk(kind{page: (*suite).pageOfViews}, id.Namespace, 0, nil); !slices.Equal(got, []string{"recent"}) {
		s.Errorf("views: %q", got)
	}
}
