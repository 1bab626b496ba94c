package policy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// The bounds of what is done for one page of a client: rows looked at, pages
// asked of the next Backend, and the share of the time there is. Where one is
// reached the page is handed out as it is, even empty, with a token.
const (
	maxRowsSeen   = 200_000
	maxPagesAsked = 200
	timeShare     = 3 // a third
	// defaultRows is the size of a page that nobody gave one; fewRows and manyRows
	// bound what is asked of the next Backend for a page that has to be filtered.
	defaultRows = 1000
	fewRows     = 200
	manyRows    = 1000
)

// list answers a listing with the rows that the caller may see.
func (g *Guard) list(ctx context.Context, c *call) (mounts.Response, error) {
	if ok, err := g.mayList(ctx, c); err != nil {
		return nil, err
	} else if !ok {
		_ = g.record(ctx, c, Denied, "empty", false)
		return emptyPage(c.req), nil
	}
	resp, err := g.rows(ctx, c)
	if err != nil {
		return nil, g.failed(ctx, c, err)
	}
	_ = g.record(ctx, c, Done, "ok", false)
	return resp, nil
}

// mayList decides the listing itself. The root of the tree needs nothing: it is
// only filtered. Where the listing is denied but the namespace may be seen, it is
// empty; that it is there is then asked for, since policies only know names.
func (g *Guard) mayList(ctx context.Context, c *call) (bool, error) {
	if c.object.isTree() {
		if c.rule.rows != KindNamespace {
			return false, g.failed(ctx, c, nowhere(c))
		}
		return true, nil
	}
	parent := c.object.resource()
	if g.allowed(ctx, c, parent, c.when, false) {
		if c.object.absent {
			return false, g.failed(ctx, c, absent(c, c.facts.object))
		}
		return true, nil
	}
	by := c.policies
	own := g.places.Root() != nil && c.object.isRoot() // the root of its own view is there
	if !own && !g.seen(ctx, c, parent) {
		c.policies = by
		return false, g.denied(ctx, c, absent(c, c.facts.object))
	}
	if c.policies = by; own {
		return false, nil
	}
	if c.object.absent {
		return false, g.failed(ctx, c, absent(c, c.facts.object))
	}
	if _, err := g.next.LoadNamespace(c.as(ctx), &mounts.LoadNamespaceRequest{Namespace: c.facts.object.Namespace}); err != nil {
		if errors.Is(err, mounts.NoSuchNamespace) {
			err = absent(c, c.facts.object)
		}
		return false, g.failed(ctx, c, err)
	}
	return false, nil
}

func emptyPage(req mounts.Request) mounts.Response {
	if _, ok := req.(*mounts.ListNamespacesRequest); ok {
		return &pagination.Page[mounts.Namespace]{Items: []mounts.Namespace{}}
	}
	return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{}}
}

// rows asks the next Backend for rows and keeps those that may be seen.
func (g *Guard) rows(ctx context.Context, c *call) (mounts.Response, error) {
	below := c.as(ctx)
	switch r := c.req.(type) {
	case *mounts.ListNamespacesRequest:
		return walk(ctx, g, c, r.Page, source[mounts.Namespace]{
			fetch: func(page pagination.Request) (*pagination.Page[mounts.Namespace], error) {
				inner := *r
				inner.Page = page
				return g.next.ListNamespaces(below, &inner)
			},
			see:  func(rows []mounts.Namespace) ([]bool, error) { return g.seeNamespaces(ctx, c, rows) },
			name: func(n mounts.Namespace) string { return n[len(n)-1] },
		})
	case *mounts.ListTablesRequest:
		return walk(ctx, g, c, r.Page, g.named(ctx, c, func(page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
			inner := *r
			inner.Page = page
			return g.next.ListTables(below, &inner)
		}))
	case *mounts.ListViewsRequest:
		return walk(ctx, g, c, r.Page, g.named(ctx, c, func(page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
			inner := *r
			inner.Page = page
			return g.next.ListViews(below, &inner)
		}))
	case *mounts.ListFunctionsRequest:
		return walk(ctx, g, c, r.Page, g.named(ctx, c, func(page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
			inner := *r
			inner.Page = page
			return g.next.ListFunctions(below, &inner)
		}))
	}
	return nil, &mounts.Error{Kind: mounts.Forbidden, Op: c.req.Op(), Ident: c.facts.object, Msg: "no rule says who may see the rows of this listing"}
}

func (g *Guard) named(ctx context.Context, c *call, fetch func(pagination.Request) (*pagination.Page[mounts.Identifier], error)) source[mounts.Identifier] {
	return source[mounts.Identifier]{
		fetch: fetch,
		see:   func(rows []mounts.Identifier) ([]bool, error) { return g.seeObjects(ctx, c, rows) },
		name:  func(id mounts.Identifier) string { return id.Name },
	}
}

// source is a listing of the next Backend.
type source[T any] struct {
	fetch func(pagination.Request) (*pagination.Page[T], error)
	see   func(rows []T) ([]bool, error)
	name  func(T) string
}

// walk makes one page for the client. It goes on until the page is full and it is
// known that a visible row follows; then the token leads to just before that row.
// So every page but the last is full, and no token is given out that leads to
// nothing, but where a bound is reached.
func walk[T any](ctx context.Context, g *Guard, c *call, page pagination.Request, s source[T]) (mounts.Response, error) {
	listing := pagination.Listing{Scope: g.catalog, Kind: c.req.Op().String(), Parent: c.req.Object().Namespace}
	at := g.open(listing, page.Token)
	all, alike := g.uniform(ctx, c)
	switch {
	case alike && !all:
		// Nothing can be seen, but whether the namespace is there may be known.
		if _, err := s.fetch(pagination.Request{Size: 1}); err != nil {
			return nil, err
		}
		return &pagination.Page[T]{Items: []T{}}, nil
	case page.Whole || alike && at.passed == "":
		return one(g, listing, page, at, all && alike, s)
	}
	size := page.Size
	if size <= 0 {
		size = defaultRows
	}
	stop := deadline(ctx, g.now())
	out := &pagination.Page[T]{Items: make([]T, 0, min(size, manyRows))}
	if at.size == 0 {
		at.size = min(max(4*size, fewRows), manyRows)
	}
	for asked, seen := 1, 0; ; asked++ {
		got, err := s.fetch(pagination.Request{Token: at.token, Size: at.size})
		if err != nil {
			return nil, err
		}
		rows := got.Items
		first := at.after(len(rows), func(i int) string { return s.name(rows[i]) })
		visible := []bool(nil)
		if !alike {
			if visible, err = s.see(rows[first:]); err != nil {
				return nil, err
			}
		}
		for i := first; i < len(rows); i++ {
			if visible != nil && !visible[i-first] {
				continue
			}
			if len(out.Items) < size {
				out.Items = append(out.Items, rows[i])
				continue
			}
			next := cursor{token: at.token, size: at.size, hides: !alike}
			if i > 0 {
				next.index, next.passed = i-1, short(s.name(rows[i-1]))
			}
			return sealed(g, listing, next, out)
		}
		if got.Next == "" {
			return out, nil
		}
		if got.Next == at.token {
			return nil, stuck(c)
		}
		at = cursor{token: got.Next, size: manyRows, hides: !alike}
		seen += len(rows)
		if seen >= maxRowsSeen || asked >= maxPagesAsked || !stop.IsZero() && g.now().After(stop) {
			return sealed(g, listing, at, out)
		}
	}
}

// one passes on one page of the next Backend, with the rows of it that may be
// seen: where all may be, or where whoever asks goes on to the end in any case.
func one[T any](g *Guard, listing pagination.Listing, page pagination.Request, at cursor, all bool, s source[T]) (mounts.Response, error) {
	page.Token = at.token
	if at.size > 0 && at.passed != "" {
		page.Size = max(page.Size, at.size)
	}
	got, err := s.fetch(page)
	if err != nil {
		return nil, err
	}
	rows := got.Items[at.after(len(got.Items), func(i int) string { return s.name(got.Items[i]) }):]
	out := &pagination.Page[T]{Items: rows}
	if !all {
		visible, err := s.see(rows)
		if err != nil {
			return nil, err
		}
		out.Items = make([]T, 0, len(rows))
		for i := range rows {
			if visible[i] {
				out.Items = append(out.Items, rows[i])
			}
		}
	}
	if got.Next == "" {
		return out, nil
	}
	return sealed(g, listing, cursor{token: got.Next, hides: !all}, out)
}

func sealed[T any](g *Guard, listing pagination.Listing, next cursor, page *pagination.Page[T]) (mounts.Response, error) {
	token, err := g.ring.Seal(listing, pagination.Position{Source: GuardSource, Cursor: next.String()})
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.BadGateway, Err: fmt.Errorf("seal a page token: %w", err),
			Msg: "the page token of its listing is too long to be passed on"}
	}
	page.Next = token
	return page, nil
}

// stuck is a listing that leads to where it is.
func stuck(c *call) error {
	return &mounts.Error{Kind: mounts.BadGateway, Op: c.req.Op(), Ident: c.facts.object,
		Msg: "the listing does not advance: it names the same next page again"}
}

// deadline is until when a page may be worked on; zero for as long as it takes.
func deadline(ctx context.Context, now time.Time) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return now.Add(end.Sub(now) / timeShare)
}
