package rest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/pagination"
)

// listed serves eleven tables in namespace "many".
func listed(t testing.TB, tune func(*remote.Quirks)) (*scene, mounts.Namespace, []string) {
	t.Helper()
	srv := remote.New(t, remote.Options{})
	var names []string
	for i := range 11 {
		names = append(names, fmt.Sprintf("t %02d+", i))
		srv.AddTable([]string{"many"}, names[i])
	}
	srv.Tune(tune)
	return open(t, srv), mounts.Namespace{"many"}, names
}

func TestAWalkGivesEveryNameOnceForOneRemoteCallAPage(t *testing.T) {
	ceil := func(n, d int) int { return (n + d - 1) / d }
	for name, c := range map[string]struct {
		tune  func(*remote.Quirks)
		pages func(size int) int
	}{
		"a remote that pages": {func(*remote.Quirks) {}, func(size int) int { return ceil(11, size) }},
		"no paging":           {func(q *remote.Quirks) { q.NoPaging = true }, func(size int) int { return ceil(11, size) }},
		"a page cap of 4":     {func(q *remote.Quirks) { q.PageCap = 4 }, func(size int) int { return ceil(11, min(size, 4)) }},
		"null as last token":  {func(q *remote.Quirks) { q.LastToken = "null" }, func(size int) int { return ceil(11, size) }},
		"empty as last token": {func(q *remote.Quirks) { q.LastToken = `""` }, func(size int) int { return ceil(11, size) }},
		"gzip":                {func(q *remote.Quirks) { q.Gzip = true }, func(size int) int { return ceil(11, size) }},
		"rows elsewhere":      {func(q *remote.Quirks) { q.WrongNamespaces = true }, func(size int) int { return ceil(11, size) }},
	} {
		b, n, want := listed(t, c.tune)
		for size := 1; size <= 7; size++ {
			b.srv.Forget()
			names, pages := walk(t, b, n, size)
			if !slices.Equal(names, want) {
				t.Errorf("%s, by %d: %q", name, size, names)
			}
			if calls := b.srv.Count(remote.AnyOp); calls != pages || pages != c.pages(size) {
				t.Errorf("%s, by %d: %d pages, %d calls, want %d", name, size, pages, calls, c.pages(size))
			}
		}
		b.srv.Forget()
		if names, _ := walk(t, b, n, 0); !slices.Equal(names, want) {
			t.Errorf("%s, whole: %q", name, names)
		}
	}
}

func TestWhoeverGoesOnToTheEndGetsAllThatCameInOneCall(t *testing.T) {
	b, n, want := listed(t, func(q *remote.Quirks) { q.NoPaging = true })
	b.srv.Forget()
	page, err := b.ListTables(t.Context(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 3, Whole: true}})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) != len(want) || page.Next != "" || b.srv.Count(remote.AnyOp) != 1 {
		t.Errorf("%d rows of %d, next %q, %d calls", len(page.Items), len(want), page.Next, b.srv.Count(remote.AnyOp))
	}
}

func TestPagesThatAreLargerThanAskedForAreCutAndResumed(t *testing.T) {
	for over := 1; over <= 4; over++ {
		b, n, want := listed(t, func(q *remote.Quirks) { q.OversizePages = over })
		for size := 1; size <= 7; size++ {
			if names, _ := walk(t, b, n, size); !slices.Equal(names, want) {
				t.Errorf("%d too many, by %d: %q", over, size, names)
			}
		}
	}
}

func TestAResumedPageIsFetchedAgainAsItWas(t *testing.T) {
	b, n, want := listed(t, func(q *remote.Quirks) { q.NoPaging = true })
	first, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.srv.Last().Query; got != "pageToken=&pageSize=5" {
		t.Errorf("the first call asks %s", got)
	}
	second, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 2, Token: first.Next}})
	if err != nil || second.Items[0].Name != want[5] || len(second.Items) != 2 {
		t.Errorf("resumed with %v, %v", second, err)
	}
	if got := b.srv.Last().Query; got != "pageToken=&pageSize=5" {
		t.Errorf("the page was fetched again with %s", got)
	}
	rest, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Token: second.Next}})
	if err != nil || len(rest.Items) != 4 || rest.Next != "" {
		t.Errorf("the rest is %v, %v", rest, err)
	}
}

func TestAPageThatShrankMeanwhileEndsTheListing(t *testing.T) {
	b, n, want := listed(t, func(q *remote.Quirks) { q.NoPaging = true })
	first, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 5}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range want[2:] {
		b.srv.Remove(n, name)
	}
	page, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 5, Token: first.Next}})
	if err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("resumed with %v, %v", page, err)
	}
}

func TestARepeatedPageTokenIsNoEndlessListing(t *testing.T) {
	b, n, _ := listed(t, func(q *remote.Quirks) { q.RepeatToken = true })
	first, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 3}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 3, Token: first.Next}})
	wantKind(t, err, mounts.BadGateway)
}

func TestACursorThatIsNotOursRestartsTheListing(t *testing.T) {
	b, n, want := listed(t, func(*remote.Quirks) {})
	for _, token := range []string{"garbage", "1.2", "-1.0.x", "3.-1.x", "99999999.0.x", "3.99999999999.x", "3.0." + strings.Repeat("x", 5000), "..", "a.b.c"} {
		page, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 2, Token: token}})
		if err != nil || len(page.Items) != 2 || page.Items[0].Name != want[0] {
			t.Errorf("the token %.20q gives %v, %v", token, page, err)
		}
	}
}

func TestRemoteTokensPassUnharmedAndEndlessOnesAreRefused(t *testing.T) {
	for token, ok := range map[string]bool{
		"a.b.c %2F+&=?#é": true, strings.Repeat("x", 4096): true, strings.Repeat("x", 4097): false,
	} {
		b, n, want := listed(t, func(q *remote.Quirks) { q.FirstToken = token })
		page, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 4}})
		if !ok {
			wantKind(t, err, mounts.BadGateway)
			continue
		}
		if err != nil {
			t.Errorf("token %.20q: %v", token, err)
			continue
		}
		// The fake takes its first token for the beginning.
		page, err = b.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: n, Page: pagination.Request{Size: 11, Token: page.Next}})
		if err != nil || len(page.Items) != 11 || page.Items[0].Name != want[0] {
			t.Errorf("token %.20q came back as %s: %v", token, b.srv.Last().Query, err)
		}
	}
}

func TestTheRemotesPageSizeIsUsedWhereTheCallerNamesNone(t *testing.T) {
	for tuned, want := range map[string]string{"": "1000", "7": "7", "0": "1000", "-3": "1000", "many": "1000", "999999": "10000"} {
		b, n, _ := listed(t, func(q *remote.Quirks) {
			if tuned != "" {
				q.Defaults = map[string]string{"rest-page-size": tuned}
			}
		})
		if err := invoke(b, &mounts.ListTablesRequest{Namespace: n}); err != nil || b.srv.Last().Query != "pageToken=&pageSize="+want {
			t.Errorf("rest-page-size %q: %s, %v", tuned, b.srv.Last().Query, err)
		}
	}
}

func TestListingsThatAreMissingOrWrongAreErrorsAndNeverEmpty(t *testing.T) {
	for name, fault := range map[string]remote.Fault{
		"null lists": {Break: remote.NullLists}, "no lists": {Break: remote.NoLists}, "bad rows": {Break: remote.BadRows},
		"an object": {Raw: []byte(`{"identifiers":{},"namespaces":{}}`)}, "a list": {Raw: []byte(`[]`)}, "nothing": {Raw: []byte(`{}`)},
		"a token that is no string": {Raw: []byte(`{"identifiers":[],"namespaces":[],"next-page-token":7}`)},
		"the list twice":            {Raw: []byte(`{"identifiers":[],"namespaces":[],"identifiers":[],"namespaces":[]}`)},
		"a name that is no string":  {Raw: []byte(`{"identifiers":[{"namespace":["shared"],"name":null}],"namespaces":[["shared",7]]}`)},
		"an empty name":             {Raw: []byte(`{"identifiers":[{"namespace":["shared"],"name":""}],"namespaces":[["shared",""]]}`)},
		"no UTF-8":                  {Raw: []byte("{\"identifiers\":[{\"name\":\"\xff\"}],\"namespaces\":[[\"shared\",\"\xff\"]]}")},
	} {
		b := open(t, serve(t, remote.Options{}))
		b.srv.Fail(remote.AnyOp, fault)
		for _, op := range []string{"listNamespaces", "listTables", "listViews"} {
			if err := invoke(b, reads()[op]); wantKind(t, err, mounts.BadGateway).Kind != mounts.BadGateway {
				t.Errorf("%s: %s answers %v", name, op, err)
			}
		}
	}
}

func TestNamespaceRowsMustLieBelowTheParent(t *testing.T) {
	for _, rows := range []string{`[["elsewhere","x"]]`, `[["shared"]]`, `[["x"]]`, `[[]]`, `[["shared","a\u001fb"]]`} {
		b := open(t, serve(t, remote.Options{}))
		b.srv.Fail("listNamespaces", remote.Fault{Raw: []byte(`{"namespaces":` + rows + `}`)})
		wantKind(t, invoke(b, reads()["listNamespaces"]), mounts.BadGateway)
	}
	b := open(t, serve(t, remote.Options{}))
	b.srv.AddNamespace([]string{"shared", "inner"}, nil)
	b.srv.Tune(func(q *remote.Quirks) { q.RelativeRows = true })
	wantKind(t, invoke(b, reads()["listNamespaces"]), mounts.BadGateway)
}

func TestTheRootListsTopLevelNamespacesAndHoldsNoTables(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	page, err := b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{})
	if err != nil || len(page.Items) != 1 || !page.Items[0].Equal(shared) {
		t.Errorf("the root lists %v, %v", page, err)
	}
	b.srv.Forget()
	tables, err := b.ListTables(context.Background(), &mounts.ListTablesRequest{})
	if err != nil || tables.Items == nil || len(tables.Items) != 0 {
		t.Errorf("the root's tables are %v, %v", tables, err)
	}
	wantKind(t, invoke(b, &mounts.LoadTableRequest{Table: mounts.Identifier{Name: "orders"}}), mounts.NoSuchTable)
	wantKind(t, invoke(b, &mounts.TableExistsRequest{Table: mounts.Identifier{Name: "orders"}}), mounts.NoSuchTable)
	wantKind(t, invoke(b, &mounts.LoadViewRequest{View: mounts.Identifier{Name: "recent"}}), mounts.NoSuchView)
	if n := b.srv.Count(remote.AnyOp); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}
