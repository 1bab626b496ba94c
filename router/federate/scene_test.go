package federate

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/pagination"
)

// names need encoding somewhere between a client and a store.
var names = []string{"a b", "a+b", "100%", "a/b", "a.b", `a"b`, "a'b", "é", "🧊", "Case", "case"}

// counted counts the calls of each operation, by mount.
type counted struct {
	mu    sync.Mutex
	calls map[string]int
}

func (c *counted) around(mount string, next mounts.Backend) mounts.Backend {
	return mounts.Around(next, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		c.mu.Lock()
		c.calls[mount+" "+req.Op().String()]++
		c.mu.Unlock()
		return next(ctx, req)
	})
}

func (c *counted) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.calls
	c.calls = map[string]int{}
	return out
}

type scene struct {
	tree                 mounts.Backend
	table                *mounts.Map
	prod, partner, under mounts.Backend
	calls                *counted
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{prod: memory.New(memory.Options{}), partner: memory.New(memory.Options{}), under: memory.New(memory.Options{}),
		calls: &counted{calls: map[string]int{}}}
	mount := func(name, view string, b mounts.Backend) mounts.Mount {
		m := mounts.Mount{Name: name, ViewName: view, View: b, Tree: s.calls.around(name, b), Required: true}
		if name != mounts.UnderName {
			m.Tree = wrap.Prefix(s.calls.around(name, b), name)
		}
		return m
	}
	var err error
	s.table, err = mounts.NewMap(mount("prod", "prod", s.prod), mount("partner", "partner", s.partner), mount("/", "root", s.under))
	if err != nil {
		t.Fatal(err)
	}
	s.tree = New(s.table, ring(t, "prod", "partner", "/"), Options{Name: "icefield"})
	return s
}

func ring(t testing.TB, sources ...string) *pagination.Keyring {
	t.Helper()
	material := map[string][]byte{}
	for _, s := range sources {
		material[s] = []byte("configuration of " + s)
	}
	k, err := pagination.NewKeyring(nil, material)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func create(t *testing.T, b mounts.Backend, levels ...string) {
	t.Helper()
	if _, err := b.CreateNamespace(context.Background(), &mounts.CreateNamespaceRequest{Namespace: levels}); err != nil {
		t.Fatalf("create %v: %v", levels, err)
	}
}

func createTable(t *testing.T, b mounts.Backend, name string, ns ...string) error {
	t.Helper()
	_, err := b.CreateTable(context.Background(), &mounts.CreateTableRequest{Namespace: ns, Name: name,
		Schema: []byte(`{"type":"struct","fields":[{"id":1,"name":"id","type":"long","required":false}]}`)})
	return err
}

func walk(t *testing.T, b mounts.Backend, size int, parent ...string) (got []string) {
	t.Helper()
	token := ""
	for range 200 {
		page, err := b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{Parent: parent,
			Page: pagination.Request{Token: token, Size: size}})
		if err != nil {
			t.Fatalf("list %v: %v", parent, err)
		}
		if size > 0 && len(page.Items) > size {
			t.Errorf("a page of %d holds %d rows", size, len(page.Items))
		}
		for _, n := range page.Items {
			got = append(got, strings.Join(n, "\x1f"))
		}
		if page.Next == "" {
			return got
		}
		token = page.Next
	}
	t.Fatalf("the walk of %v does not end", parent)
	return nil
}
