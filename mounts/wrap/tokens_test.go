package wrap

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// numbered lists the tables t0 to t9, one row a page, with its place as cursor.
func numbered(tokens *[]string) *script {
	return scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		var asked pagination.Request
		switch r := req.(type) {
		case *mounts.ListTablesRequest:
			asked = r.Page
		case *mounts.ListViewsRequest:
			asked = r.Page
		case *mounts.ListNamespacesRequest:
			*tokens = append(*tokens, r.Page.Token)
			return &pagination.Page[mounts.Namespace]{Next: "next"}, nil
		}
		*tokens = append(*tokens, asked.Token)
		at, _ := strconv.Atoi(asked.Token)
		page := &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{{Namespace: req.Object().Namespace, Name: "t" + strconv.Itoa(at)}}}
		if at < 9 {
			page.Next = strconv.Itoa(at + 1)
		}
		return page, nil
	})
}

func keyring(t testing.TB, sources ...string) *pagination.Keyring {
	t.Helper()
	material := map[string][]byte{}
	for _, s := range sources {
		material[s] = []byte("config of " + s)
	}
	ring, err := pagination.NewKeyring(nil, material)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestAWalkThroughSealedTokensGivesEveryRowOnce(t *testing.T) {
	var cursors []string
	b := Tokens(numbered(&cursors), keyring(t, "prod"), "prod", "prod")
	var names []string
	req := &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}}
	for {
		page, err := b.ListTables(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, page.Items[0].Name)
		if page.Next == "" {
			break
		}
		if len(page.Next) < 20 {
			t.Errorf("the bare cursor %q is handed out", page.Next)
		}
		req = &mounts.ListTablesRequest{Namespace: req.Namespace, Page: pagination.Request{Token: page.Next}}
	}
	if got := strings.Join(names, ""); got != "t0t1t2t3t4t5t6t7t8t9" {
		t.Errorf("walked %s", got)
	}
}

func TestATokenOfAnotherListingRestarts(t *testing.T) {
	var cursors []string
	ring := keyring(t, "prod", "other")
	b := Tokens(numbered(&cursors), ring, "prod", "prod")
	page, err := b.ListTables(t.Context(), &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	listing := pagination.Listing{Scope: "prod", Kind: "listTables", Parent: []string{"a"}}
	foreign, err := ring.Seal(listing, pagination.Position{Source: "other", Cursor: "5"})
	if err != nil {
		t.Fatal(err)
	}
	at := pagination.Request{Token: page.Next, Size: 3}
	for name, req := range map[string]mounts.Request{
		"itself":         &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}, Page: at},
		"views":          &mounts.ListViewsRequest{Namespace: mounts.Namespace{"a"}, Page: at},
		"namespaces":     &mounts.ListNamespacesRequest{Parent: mounts.Namespace{"a"}, Page: at},
		"another parent": &mounts.ListTablesRequest{Namespace: mounts.Namespace{"b"}, Page: at},
		"altered":        &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}, Page: pagination.Request{Token: page.Next + "A"}},
		"a bare cursor":  &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}, Page: pagination.Request{Token: "5"}},
		"another source": &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}, Page: pagination.Request{Token: foreign}},
	} {
		cursors = nil
		if err := ask(b, req); err != nil {
			t.Fatal(err)
		}
		want := ""
		if name == "itself" {
			want = "1"
		}
		if len(cursors) != 1 || cursors[0] != want {
			t.Errorf("%s: the backend was asked from %q", name, cursors)
		}
	}
	cursors = nil
	if err := ask(Tokens(numbered(&cursors), ring, "other", "prod"), &mounts.ListTablesRequest{Namespace: mounts.Namespace{"a"}, Page: at}); err != nil || cursors[0] != "" {
		t.Errorf("a token of another catalog opens: %q, %v", cursors, err)
	}
}

func TestACursorThatCannotBeSealedIsABadAnswer(t *testing.T) {
	b := Tokens(scripted(func(context.Context, mounts.Request) (mounts.Response, error) {
		return &pagination.Page[mounts.Identifier]{Next: strings.Repeat("x", pagination.MaxToken)}, nil
	}), keyring(t, "prod"), "prod", "prod")
	is(t, ask(b, &mounts.ListTablesRequest{}), mounts.BadGateway)
}

func TestOtherOperationsPassTheTokensUntouched(t *testing.T) {
	s := answering()
	if err := ask(Tokens(s, keyring(t, "prod"), "prod", "prod"), load); err != nil || s.calls.Load() != 1 {
		t.Error(err)
	}
}
