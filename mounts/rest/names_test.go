package rest_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
)

// oddNames are names that need care in a path, with their encoding.
var oddNames = map[string]string{
	"plain":                  "plain",
	"two words":              "two%20words",
	"a+b":                    "a%2Bb",
	"100%":                   "100%25",
	"%2F":                    "%252F",
	"a/b":                    "a%2Fb",
	"why?":                   "why%3F",
	"#1":                     "%231",
	"a.b":                    "a.b",
	".":                      "%2E",
	"..":                     "%2E%2E",
	"...":                    "...",
	"../..":                  "..%2F..",
	`"quoted"`:               "%22quoted%22",
	"it's":                   "it%27s",
	"café":                   "caf%C3%A9",
	"🧊":                      "%F0%9F%A7%8A",
	"a;b=c&d,e":              "a%3Bb%3Dc%26d%2Ce",
	"ORDERS":                 "ORDERS",
	"orders":                 "orders",
	"[x]{y}|z\\":             "%5Bx%5D%7By%7D%7Cz%5C",
	"tab\there":              "tab%09here",
	strings.Repeat("n", 255): strings.Repeat("n", 255),
}

func TestEveryNameIsEncodedOnceAndFound(t *testing.T) {
	srv := remote.New(t, remote.Options{Base: "/api"})
	srv.Tune(func(q *remote.Quirks) { q.Prefix = "ware%7Chouse" })
	for name := range oddNames {
		srv.AddTable([]string{name, "in " + name}, name)
		srv.AddView([]string{name, "in " + name}, name)
	}
	b := open(t, srv)
	const base = "/api/v1/ware%7Chouse/namespaces/"
	for name, encoded := range oddNames {
		inner := mounts.Namespace{name, "in " + name}
		// Dots that are a step in a path are harmless between other characters.
		level := encoded
		if name == "." || name == ".." {
			level = name
		}
		space := level + "%1Fin%20" + level
		for _, c := range []struct {
			req  mounts.Request
			path string
		}{
			{&mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{name}}, encoded},
			{&mounts.LoadNamespaceRequest{Namespace: inner}, space},
			{&mounts.ListTablesRequest{Namespace: inner}, space + "/tables"},
			{&mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: inner, Name: name}}, space + "/tables/" + encoded},
			{&mounts.TableExistsRequest{Table: mounts.Identifier{Namespace: inner, Name: name}}, space + "/tables/" + encoded},
			{&mounts.ListViewsRequest{Namespace: inner}, space + "/views"},
			{&mounts.LoadViewRequest{View: mounts.Identifier{Namespace: inner, Name: name}}, space + "/views/" + encoded},
		} {
			if err := invoke(b, c.req); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			if got := srv.Last().Path; got != base+c.path {
				t.Errorf("%q: the path is %s, want %s", name, got, base+c.path)
			}
		}
		page, err := b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{Parent: mounts.Namespace{name}})
		if err != nil || len(page.Items) != 1 || !page.Items[0].Equal(inner) {
			t.Errorf("%q lists %v, %v", name, page, err)
		}
		params, err := url.ParseQuery(srv.Last().Query)
		if err != nil || params.Get("parent") != name || strings.Contains(srv.Last().Query, "+") {
			t.Errorf("%q: the query is %s", name, srv.Last().Query)
		}
	}
	root, err := b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{})
	if err != nil || len(root.Items) != len(oddNames) {
		t.Errorf("the root lists %d of %d, %v", len(root.Items), len(oddNames), err)
	}
}

func TestListedNamesThatCannotBeAddressedAreListedNevertheless(t *testing.T) {
	srv := remote.New(t, remote.Options{})
	srv.AddNamespace([]string{"a.b"}, nil)
	srv.Tune(func(q *remote.Quirks) { q.Separator = "%2E" })
	page, err := open(t, srv).ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{})
	if err != nil || len(page.Items) != 1 || page.Items[0].String() != "a.b" {
		t.Errorf("listed %v, %v", page, err)
	}
}
