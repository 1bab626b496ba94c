package router

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/pagination"
)

// pages answers listings of tables from a fixed sequence of pages.
func pages(all ...pagination.Page[mounts.Identifier]) (*script, mounts.Backend) {
	return scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		token := req.(*mounts.ListTablesRequest).Page.Token
		for i, page := range all {
			if i == 0 && token == "" || i > 0 && all[i-1].Next == token {
				return &page, nil
			}
		}
		return nil, &mounts.Error{Kind: mounts.BadRequest, Msg: "no such page"}
	})
}

func page(next string, names ...string) pagination.Page[mounts.Identifier] {
	p := pagination.Page[mounts.Identifier]{Next: next}
	for _, n := range names {
		p.Items = append(p.Items, mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: n})
	}
	return p
}

type listed struct {
	Identifiers []mounts.Identifier `json:"identifiers"`
	Next        *string             `json:"next-page-token"`
}

func (g got) listed(t testing.TB) (names []string, next string) {
	t.Helper()
	var l listed
	if err := json.Unmarshal([]byte(g.body), &l); err != nil || g.status != 200 || l.Identifiers == nil {
		t.Fatalf("%d %s: %v", g.status, g.body, err)
	}
	for _, id := range l.Identifiers {
		names = append(names, id.Name)
	}
	if l.Next != nil {
		if next = *l.Next; next == "" {
			t.Errorf("an empty next-page-token: %s", g.body)
		}
	}
	return names, next
}

func TestWithoutAPageTokenEverythingComesInOneAnswer(t *testing.T) {
	s, b := pages(page("1", "x"), page("2"), page("3", "y", "z"), page(""))
	w := over(t, b)
	for _, query := range []string{"", "?pageSize=1", "?pageSize=2147483647", "?unknown=1"} {
		names, next := w.do("GET", "/v1/namespaces/a/tables"+query, "").listed(t)
		if fmt.Sprint(names) != "[x y z]" || next != "" {
			t.Errorf("%s: %v, next %q", query, names, next)
		}
	}
	if size := s.last().(*mounts.ListTablesRequest).Page.Size; size != maxPage {
		t.Errorf("walked with pages of %d", size)
	}
}

func TestWithAPageTokenOnePageComesAndNoEmptyOneButTheLast(t *testing.T) {
	_, b := pages(page("1"), page("2"), page("3", "x"), page("4", "y"), page("5"), page(""))
	w := over(t, b)
	var walk []string
	token := ""
	for range 10 {
		names, next := w.do("GET", "/v1/namespaces/a/tables?pageToken="+token, "").listed(t)
		walk = append(walk, fmt.Sprint(names, next))
		if token = next; next == "" {
			break
		}
	}
	if got := strings.Join(walk, " "); got != "[x]3 [y]4 []" {
		t.Errorf("walk %q", got)
	}
}

func TestEmptyListingsAreEmptyLists(t *testing.T) {
	w := over(t, memory.New(memory.Options{}))
	w.do("GET", "/v1/namespaces", "").want(t, 200, `{"namespaces":[]}`)
	w.do("GET", "/v1/namespaces?pageToken=", "").want(t, 200, `{"namespaces":[]}`)
	w.do("POST", "/v1/namespaces", `{"namespace":["a"]}`)
	w.do("GET", "/v1/namespaces/a/tables", "").want(t, 200, `{"identifiers":[]}`)
	w.do("GET", "/v1/namespaces/a/views?pageToken=", "").want(t, 200, `{"identifiers":[]}`)
}

func TestPageSizeIsAWholeNumberFromOneOnAndCut(t *testing.T) {
	s, b := pages(page("", "x"))
	w := over(t, b)
	for _, bad := range []string{"0", "-1", "", "x", "1.5", "1e3", "99999999999999999999", "%2B1"} {
		for _, path := range []string{"/v1/namespaces/a/tables", "/v1/namespaces", "/v1/namespaces/a/views"} {
			w.do("GET", path+"?pageToken=&pageSize="+bad, "").wantError(t, 400, "BadRequestException")
			w.do("GET", path+"?pageSize="+bad, "").wantError(t, 400, "BadRequestException")
		}
	}
	if s.last() != nil {
		t.Fatalf("asked %#v", s.last())
	}
	for sent, want := range map[string]int{"1": 1, "7": 7, "1000": 1000, "1001": 1000, "2147483647": 1000} {
		w.do("GET", "/v1/namespaces/a/tables?pageToken=&pageSize="+sent, "")
		if got := s.last().(*mounts.ListTablesRequest).Page.Size; got != want {
			t.Errorf("pageSize=%s asked for %d", sent, got)
		}
	}
}

func TestAListingThatDoesNotAdvanceIsAnErrorAndNoLoop(t *testing.T) {
	for _, items := range [][]string{nil, {"x"}} {
		_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
			p := page("same", items...)
			return &p, nil
		})
		w := over(t, b)
		w.do("GET", "/v1/namespaces/a/tables", "").wantError(t, 502, "BadGatewayException")
		if items == nil {
			w.do("GET", "/v1/namespaces/a/tables?pageToken=same", "").wantError(t, 502, "BadGatewayException")
		}
	}
	// ever new tokens without rows: the client gets one of them and decides
	n := 0
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
		n++
		p := page(fmt.Sprint(n))
		return &p, nil
	})
	if names, next := over(t, b).do("GET", "/v1/namespaces/a/tables?pageToken=", "").listed(t); len(names) != 0 || next != fmt.Sprint(maxEmptyPages) {
		t.Errorf("%v, next %q", names, next)
	}
}

func TestAListingTooLongForOneAnswerAsksForPages(t *testing.T) {
	full := make([]mounts.Identifier, 100_000)
	for i := range full {
		full[i] = mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"}
	}
	n := 0
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
		n++
		return &pagination.Page[mounts.Identifier]{Items: full, Next: fmt.Sprint(n)}, nil
	})
	message := over(t, b).do("GET", "/v1/namespaces/a/tables", "").wantError(t, 400, "BadRequestException")
	if !strings.Contains(message, "pageToken") || n != 11 {
		t.Errorf("after %d pages: %q", n, message)
	}
}

func TestAPageThatFailsFailsTheListing(t *testing.T) {
	n := 0
	_, b := scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
		if n++; n == 2 {
			return nil, &mounts.Error{Kind: mounts.BadGateway, Mount: "partner"}
		}
		p := page("1", "x")
		return &p, nil
	})
	message := over(t, b).do("GET", "/v1/namespaces/a/tables", "").wantError(t, 502, "BadGatewayException")
	if !strings.Contains(message, `mount "partner"`) {
		t.Errorf("%q", message)
	}
}
