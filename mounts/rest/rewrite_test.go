package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/router"
)

// maker makes random requests and answers.
type maker struct {
	*rand.Rand
	names []mounttest.Name
}

// name is a name of the matrix, or one pieced together from what is known to be
// spoilt on the way.
func (m maker) name() string {
	if m.IntN(2) == 0 {
		return m.names[m.IntN(len(m.names))].Text
	}
	pieces := []string{"a", "B", " ", "%", "+", "é", "🧊", ".", "..", "/", `"`, "'", `\`, "%2F", "%1F", "%2E", "?", "#", "&", "=", ";", "日本", "{object}", "<&>"}
	var b strings.Builder
	for range 1 + m.IntN(4) {
		b.WriteString(pieces[m.IntN(len(pieces))])
	}
	return b.String()
}

// namespace is one inside the mount, in the mount's own names.
func (m maker) namespace() mounts.Namespace {
	n := mounts.Namespace{}
	for range 1 + m.IntN(3) {
		n = append(n, m.name())
	}
	return n
}

func (m maker) id() mounts.Identifier {
	return mounts.Identifier{Namespace: m.namespace(), Name: m.name()}
}

// certain is a name that no server takes for a step in the path. One that some do
// is looked up before it is dropped, and by a load.
func (m maker) certain() mounts.Identifier {
	for {
		id := m.id()
		if step := []string{".", ".."}; !slices.Contains(step, id.Name) && !slices.Contains(step, id.Namespace[0]) {
			return id
		}
	}
}

func (m maker) chain() []mounts.Identifier {
	var out []mounts.Identifier
	for range m.IntN(3) {
		out = append(out, m.id())
	}
	if len(out) == 1 && strings.Contains(fmt.Sprint(out), ",") {
		return nil // it is not sent (referencedBy)
	}
	return out
}

// raw is a JSON object whose bytes tell whether anybody read and wrote it again.
func (m maker) raw() json.RawMessage {
	values := []string{"9007199254740993", "1.0e2", "-0", `"\u00e9\/"`, `"<&>"`, "null", "true", `[ 1 ,2]`, `{"k" : {}}`, "123456789012345678901234567890.50"}
	var b strings.Builder
	b.WriteString("{ ")
	for i := range m.IntN(5) {
		if i > 0 {
			b.WriteString(" ,")
		}
		fmt.Fprintf(&b, "%q: %s", fmt.Sprintf("k%d", i), values[m.IntN(len(values))])
	}
	return json.RawMessage(b.String() + "}")
}

func (m maker) raws() []json.RawMessage {
	out := []json.RawMessage{}
	for range m.IntN(4) {
		out = append(out, m.raw())
	}
	return out
}

func (m maker) texts() map[string]string {
	out := map[string]string{}
	for range m.IntN(4) {
		out[m.name()] = m.name()
	}
	return out
}

// extra are members that nobody here knows.
func (m maker) extra() map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for i := range m.IntN(3) {
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[fmt.Sprintf("x-%d %s", i, m.name())] = m.raw()
	}
	return out
}

// withDefaultNamespace is a view version written in a namespace.
func withDefaultNamespace(n mounts.Namespace, more json.RawMessage) json.RawMessage {
	list, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return json.RawMessage(`{"version-id" : 1,"more":` + string(more) + `, "default-namespace":` + string(list) + ` }`)
}

// pair is a request as the remote is to get it and as the client sends it.
type pair struct{ inner, outer mounts.Request }

// requests makes one of each kind. view makes a namespace one that the client
// writes.
func (m maker) requests(toClient func(mounts.Namespace) mounts.Namespace) []pair {
	var out []pair
	both := func(inner mounts.Request, change ...func(outer mounts.Request)) {
		outer, err := mounts.MapRequest(inner, func(n mounts.Namespace) (mounts.Namespace, error) { return toClient(n), nil })
		if err != nil {
			panic(err)
		}
		for _, f := range change {
			f(outer)
		}
		out = append(out, pair{inner, outer})
	}
	both(&mounts.LoadNamespaceRequest{Namespace: m.namespace()})
	both(&mounts.CreateNamespaceRequest{Namespace: m.namespace(), Properties: m.texts(), Extra: m.extra()})
	updates := m.texts()
	removals := slices.DeleteFunc([]string{m.name(), m.name() + "-"}, func(k string) bool { _, both := updates[k]; return both })
	both(&mounts.UpdateNamespacePropertiesRequest{Namespace: m.namespace(), Removals: removals, Updates: updates, Extra: m.extra()})
	both(&mounts.DropNamespaceRequest{Namespace: m.namespace()})
	both(&mounts.LoadTableRequest{Table: m.id(), Snapshots: []mounts.Snapshots{"", mounts.SnapshotsAll, mounts.SnapshotsRefs}[m.IntN(3)], ReferencedBy: m.chain()})
	both(&mounts.TableExistsRequest{Table: m.certain()})
	both(&mounts.CreateTableRequest{Namespace: m.namespace(), Name: m.name(), Location: "s3://b/" + m.name(), Schema: m.raw(), PartitionSpec: m.raw(),
		WriteOrder: m.raw(), StageCreate: m.IntN(2) == 0, Properties: m.texts(), Extra: m.extra()})
	both(&mounts.CreateTableRequest{Namespace: m.namespace(), Name: m.name(), Schema: m.raw()})
	both(&mounts.RegisterTableRequest{Namespace: m.namespace(), Name: m.name(), MetadataLocation: "s3://b/" + m.name(), Overwrite: m.IntN(2) == 0, Extra: m.extra()})
	both(&mounts.UnregisterTableRequest{Table: m.id()})
	both(&mounts.CommitTableRequest{Table: m.id(), Requirements: m.raws(), Updates: m.raws(), Extra: m.extra()})
	transaction := &mounts.CommitTransactionRequest{Extra: m.extra()}
	for range 1 + m.IntN(3) {
		transaction.Changes = append(transaction.Changes, mounts.CommitTableRequest{Table: m.id(), Requirements: m.raws(), Updates: m.raws(), Extra: m.extra()})
	}
	both(transaction)
	both(&mounts.RenameTableRequest{Source: m.id(), Destination: m.id(), Extra: m.extra()})
	both(&mounts.DropTableRequest{Table: m.certain(), Purge: m.IntN(2) == 0})
	both(&mounts.ReportMetricsRequest{Table: m.id(), Body: m.raw()})

	both(&mounts.LoadViewRequest{View: m.id(), ReferencedBy: m.chain()})
	written, more := m.namespace(), m.raw()
	both(&mounts.CreateViewRequest{Namespace: m.namespace(), Name: m.name(), Location: "s3://b/" + m.name(), Schema: m.raw(),
		ViewVersion: withDefaultNamespace(written, more), Properties: m.texts(), Extra: m.extra()},
		func(outer mounts.Request) {
			outer.(*mounts.CreateViewRequest).ViewVersion = withDefaultNamespace(toClient(written), more)
		})
	both(&mounts.RegisterViewRequest{Namespace: m.namespace(), Name: m.name(), MetadataLocation: "s3://b/" + m.name(), Extra: m.extra()})
	update := func(n mounts.Namespace) json.RawMessage {
		return json.RawMessage(`{"action":"add-view-version", "view-version": ` + string(withDefaultNamespace(n, more)) + "}")
	}
	both(&mounts.ReplaceViewRequest{View: m.id(), Requirements: m.raws(), Updates: []json.RawMessage{m.raw(), update(written)}, Extra: m.extra()},
		func(outer mounts.Request) {
			r := outer.(*mounts.ReplaceViewRequest)
			r.Updates = []json.RawMessage{r.Updates[0], update(toClient(written))}
		})
	both(&mounts.RenameViewRequest{Source: m.id(), Destination: m.id(), Extra: m.extra()})
	both(&mounts.DropViewRequest{View: m.certain()})
	return out
}

// answer is what a catalog answers to a request, in its own names.
func (m maker) answer(req mounts.Request) mounts.Response {
	location := "s3://b/" + m.name() + "/m.json"
	table := func() *mounts.Table {
		return &mounts.Table{MetadataLocation: location, Metadata: m.raw(), Config: map[string]string{"s3.region": "eu-central-1"}, Extra: m.extra(), ETag: `"` + fmt.Sprint(m.Uint64()) + `"`}
	}
	committed := func() *mounts.Table {
		t := table()
		t.Config = nil
		return t
	}
	n := req.Object().Namespace
	switch r := req.(type) {
	case *mounts.LoadNamespaceRequest, *mounts.CreateNamespaceRequest:
		return &mounts.NamespaceInfo{Namespace: n, Properties: m.texts()}
	case *mounts.UpdateNamespacePropertiesRequest:
		return &mounts.UpdatedProperties{Updated: append([]string{}, slices.Sorted(maps.Keys(r.Updates))...), Removed: append([]string{}, r.Removals...), Missing: []string{m.name()}}
	case *mounts.CreateTableRequest:
		t := table()
		if r.StageCreate {
			t.MetadataLocation = ""
		}
		return t
	case *mounts.LoadTableRequest, *mounts.RegisterTableRequest:
		return table()
	case *mounts.UnregisterTableRequest, *mounts.CommitTableRequest:
		return committed()
	case *mounts.LoadViewRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest, *mounts.ReplaceViewRequest:
		return &mounts.View{MetadataLocation: location, Metadata: viewMetadata(m.namespace(), m.raw()), Config: map[string]string{}, Extra: m.extra()}
	}
	return nil
}

func viewMetadata(n mounts.Namespace, more json.RawMessage) json.RawMessage {
	return json.RawMessage(`{"x": ` + string(more) + `, "versions" : [` + string(withDefaultNamespace(n, more)) + `] }`)
}

// remember is a catalog that keeps the last request and answers what it is told.
type remember struct {
	mu   sync.Mutex
	last mounts.Request
	resp mounts.Response
	err  error
}

func (r *remember) handle(_ context.Context, req mounts.Request) (mounts.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = req
	return r.resp, r.err
}

type allOfIt struct{ mounts.Unsupported }

func (allOfIt) Capabilities() capabilities.Set { return capabilities.All() }

// TestWhatAClientSendsAndGetsIsTheSameOnBothSidesOfTheMount: random requests in
// the client's names arrive in the remote's, and random answers and errors come
// back in the client's, byte for byte where they are not names.
func TestWhatAClientSendsAndGetsIsTheSameOnBothSidesOfTheMount(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	far := &remember{}
	remote := openOn(t, router.New(router.Config{Tree: router.Catalog{Name: "x", Backend: mounts.Dispatch(far.handle, allOfIt{})}}), "")
	same := func(n mounts.Namespace) mounts.Namespace { return n }
	for scope, c := range map[string]struct {
		near     mounts.Backend
		toClient func(mounts.Namespace) mounts.Namespace
	}{
		"in the mount's own names": {remote, same},
		"in the tree's names": {wrap.Prefix(remote, "prod"), func(n mounts.Namespace) mounts.Namespace {
			return append(mounts.Namespace{"prod"}, n...)
		}},
	} {
		m := maker{rand.New(rand.NewPCG(seed, 1)), mounttest.Names()}
		for range 25 {
			for _, p := range m.requests(c.toClient) {
				sameRequest(t, m, far, c.near, c.toClient, p)
				sameError(t, m, far, c.near, c.toClient, p)
				if t.Failed() {
					t.Fatalf("%s, seed %d", scope, seed)
				}
			}
		}
	}
}

func sameRequest(t *testing.T, m maker, far *remember, near mounts.Backend, toClient func(mounts.Namespace) mounts.Namespace, p pair) {
	t.Helper()
	sent := m.answer(p.inner)
	far.resp, far.err, far.last = sent, nil, nil
	got, err := mounts.Invoke(context.Background(), near, p.outer)
	if err != nil {
		t.Errorf("%s of %q: %v", p.inner.Op(), p.inner.Object(), err)
		return
	}
	if !reflect.DeepEqual(far.last, p.inner) {
		t.Errorf("%s arrived as\n%s\nand should have as\n%s", p.inner.Op(), spell(far.last), spell(p.inner))
	}
	want := mounts.MapResponse(sent, toClient)
	if table, ok := got.(*mounts.Table); ok {
		// The tag is the remote's in an envelope of ours.
		tag := strings.Trim(sent.(*mounts.Table).ETag, `"`)
		if !strings.HasSuffix(table.ETag, tag+`"`) {
			t.Errorf("%s: the tag %s became %s", p.inner.Op(), tag, table.ETag)
		}
		table.ETag = sent.(*mounts.Table).ETag
	}
	if view, ok := sent.(*mounts.View); ok {
		var metadata struct {
			X        json.RawMessage `json:"x"`
			Versions []struct {
				Namespace mounts.Namespace `json:"default-namespace"`
			} `json:"versions"`
		}
		if err := json.Unmarshal(view.Metadata, &metadata); err != nil {
			t.Fatal(err)
		}
		changed := *view
		changed.Metadata = viewMetadata(toClient(metadata.Versions[0].Namespace), metadata.X)
		want = &changed
		if again := got.(*mounts.View); again.Config == nil {
			again.Config = map[string]string{}
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s was answered\n%s\nand should have been\n%s", p.inner.Op(), spell(got), spell(want))
	}
}

// sameError: an absence or a conflict is about the object that the client named.
func sameError(t *testing.T, m maker, far *remember, near mounts.Backend, toClient func(mounts.Namespace) mounts.Namespace, p pair) {
	t.Helper()
	kinds := map[capabilities.Role][]mounts.Kind{
		capabilities.Namespaces: {mounts.NoSuchNamespace},
		capabilities.Tables:     {mounts.NoSuchTable},
		capabilities.Views:      {mounts.NoSuchView},
	}[p.inner.Op().Row().Role]
	switch p.inner.(type) {
	case *mounts.CreateNamespaceRequest, *mounts.CreateTableRequest, *mounts.RegisterTableRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest:
		kinds = []mounts.Kind{mounts.AlreadyExists}
	case *mounts.CommitTableRequest, *mounts.ReplaceViewRequest:
		kinds = append(kinds, mounts.CommitConflict)
	case *mounts.CommitTransactionRequest:
		kinds = append(kinds, mounts.CommitConflict)
	case *mounts.DropNamespaceRequest:
		kinds = append(kinds, mounts.NamespaceNotEmpty)
	}
	kind := kinds[m.IntN(len(kinds))]
	far.resp, far.err = nil, &mounts.Error{Kind: kind, Op: p.inner.Op(), Ident: p.inner.Object()}
	_, err := mounts.Invoke(context.Background(), near, p.outer)
	var about mounts.Identifier = p.outer.Object()
	if e := mounts.AsError(err); err == nil || e.Kind != kind || !e.Ident.Equal(about) || e.OutcomeUnknown {
		t.Errorf("%s of %q was refused with %v, and it came as %v about %q", p.inner.Op(), about, kind, err, mounts.AsError(err).Ident)
	}
}

func spell(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return fmt.Sprintf("%T %s", v, text)
}

// TestBodiesSayNoMoreThanTheyMust are the bodies that a remote gets, as a whole.
func TestBodiesSayNoMoreThanTheyMust(t *testing.T) {
	s := newBareServer(t, everything(""))
	b := s.open(t)
	n := mounts.Namespace{"a b", "c.d"}
	id := mounts.Identifier{Namespace: n, Name: `t"1`}
	raws := func(texts ...string) (out []json.RawMessage) {
		for _, text := range texts {
			out = append(out, json.RawMessage(text))
		}
		return out
	}
	identifier := `{"namespace":["a b","c.d"],"name":"t\"1"}`
	for want, req := range map[string]mounts.Request{
		`POST /v1/namespaces {"namespace":["a b","c.d"],"properties":{}}`:                                                                        &mounts.CreateNamespaceRequest{Namespace: n},
		`POST /v1/namespaces/a%20b%1Fc.d/properties {"removals":[],"updates":{"k":"v"}}`:                                                         &mounts.UpdateNamespacePropertiesRequest{Namespace: n, Updates: map[string]string{"k": "v"}},
		`DELETE /v1/namespaces/a%20b%1Fc.d `:                                                                                                     &mounts.DropNamespaceRequest{Namespace: n},
		`POST /v1/namespaces/a%20b%1Fc.d/tables {"name":"t","schema":{ },"stage-create":false}`:                                                  &mounts.CreateTableRequest{Namespace: n, Name: "t", Schema: json.RawMessage("{ }")},
		`POST /v1/namespaces/a%20b%1Fc.d/register {"name":"t","metadata-location":"s3://m","z":1}`:                                               &mounts.RegisterTableRequest{Namespace: n, Name: "t", MetadataLocation: "s3://m", Extra: map[string]json.RawMessage{"z": json.RawMessage("1"), "name": json.RawMessage(`"other"`)}},
		`POST /v1/namespaces/a%20b%1Fc.d/tables/t%221/unregister `:                                                                               &mounts.UnregisterTableRequest{Table: id},
		`POST /v1/namespaces/a%20b%1Fc.d/tables/t%221 {"identifier":` + identifier + `,"requirements":[{"n":9007199254740993.10}],"updates":[]}`: &mounts.CommitTableRequest{Table: id, Requirements: raws(`{"n":9007199254740993.10}`)},
		`POST /v1/transactions/commit {"table-changes":[{"identifier":` + identifier + `,"requirements":[],"updates":[{"a":1},{ "b":2}],"x":[]}],"y":null}`: &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: id,
			Updates: raws(`{"a":1}`, `{ "b":2}`), Extra: map[string]json.RawMessage{"x": json.RawMessage("[]")}}}, Extra: map[string]json.RawMessage{"y": json.RawMessage("null")}},
		`POST /v1/tables/rename {"source":` + identifier + `,"destination":{"namespace":["x"],"name":"y"}}`:            &mounts.RenameTableRequest{Source: id, Destination: mounts.Identifier{Namespace: mounts.Namespace{"x"}, Name: "y"}},
		`DELETE /v1/namespaces/a%20b%1Fc.d/tables/t%221?purgeRequested=true `:                                          &mounts.DropTableRequest{Table: id, Purge: true},
		`DELETE /v1/namespaces/a%20b%1Fc.d/tables/t%221?purgeRequested=false `:                                         &mounts.DropTableRequest{Table: id},
		`POST /v1/namespaces/a%20b%1Fc.d/tables/t%221/metrics { "report-type":"x"}`:                                    &mounts.ReportMetricsRequest{Table: id, Body: json.RawMessage(`{ "report-type":"x"}`)},
		`POST /v1/namespaces/a%20b%1Fc.d/views {"name":"v","schema":{},"view-version":{},"properties":{}}`:             &mounts.CreateViewRequest{Namespace: n, Name: "v", Schema: json.RawMessage("{}"), ViewVersion: json.RawMessage("{}")},
		`POST /v1/namespaces/a%20b%1Fc.d/register-view {"name":"v","metadata-location":"s3://m"}`:                      &mounts.RegisterViewRequest{Namespace: n, Name: "v", MetadataLocation: "s3://m"},
		`POST /v1/namespaces/a%20b%1Fc.d/views/t%221 {"identifier":` + identifier + `,"requirements":[],"updates":[]}`: &mounts.ReplaceViewRequest{View: id},
		`POST /v1/views/rename {"source":` + identifier + `,"destination":` + identifier + `}`:                         &mounts.RenameViewRequest{Source: id, Destination: id},
		`DELETE /v1/namespaces/a%20b%1Fc.d/views/t%221 `:                                                               &mounts.DropViewRequest{View: id},
	} {
		s.will(says(httpReply(200, `{"metadata-location":"s3://b/m.json","metadata":{"x":1},"namespace":["a"],"updated":[],"removed":[]}`)))
		if err := invoke(b, req); err != nil {
			t.Errorf("%s: %v", req.Op(), err)
			continue
		}
		sent := s.requests()[0]
		if got := sent.method + " " + sent.target + " " + string(sent.body); got != want {
			t.Errorf("%s was sent as\n%s\nwant\n%s", req.Op(), got, want)
		}
		if kind := sent.header.Get("Content-Type"); (kind == "application/json") != (len(sent.body) > 0) {
			t.Errorf("%s: the type of its body is %q", req.Op(), kind)
		}
		if sent.header.Get("Expect") != "" {
			t.Errorf("%s waits to be asked for its body", req.Op())
		}
	}
}

// TestAChainOfViewsIsSpelledForTheRemote: in its own separator, commas between
// views and none unescaped in a name, or not at all.
func TestAChainOfViewsIsSpelledForTheRemote(t *testing.T) {
	view := func(name string, levels ...string) mounts.Identifier {
		return mounts.Identifier{Namespace: levels, Name: name}
	}
	long := view(strings.Repeat("x", 5000), "a")
	for _, c := range []struct {
		separator string
		chain     []mounts.Identifier
		want      string
	}{
		{"", nil, ""},
		{"", []mounts.Identifier{view("v", "a", "b"), view("w,x", "c d+")}, "referenced-by=a%1Fb%1Fv,c%20d%2B%1Fw%2Cx"},
		{"%2E", []mounts.Identifier{view("v", "a", "b")}, "referenced-by=a.b.v"},
		{".", []mounts.Identifier{view("v", "a", "b")}, "referenced-by=a.b.v"},
		{"%2E", []mounts.Identifier{view("v.1", "a")}, ""},
		{"", []mounts.Identifier{view("v", "a", "b,c")}, ""},
		{"%2E", []mounts.Identifier{view("v", "a"), view("w", "a.b")}, ""},
		{"", []mounts.Identifier{view("v")}, ""},
		{"", []mounts.Identifier{long}, ""},
		{"", slices.Repeat([]mounts.Identifier{view("v", "a")}, 33), ""},
	} {
		config := everything("")
		if c.separator != "" {
			config = strings.Replace(config, `"overrides":{}`, `"overrides":{"namespace-separator":"`+c.separator+`"}`, 1)
		}
		s := newBareServer(t, config)
		b := s.open(t)
		for _, req := range []mounts.Request{&mounts.LoadTableRequest{Table: orders, ReferencedBy: c.chain},
			&mounts.LoadViewRequest{View: orders, ReferencedBy: c.chain}} {
			s.will(says(httpReply(200, `{"metadata-location":"s3://b/m.json","metadata":{}}`)))
			if err := invoke(b, req); err != nil {
				t.Errorf("%s %v: %v", c.separator, c.chain, err)
				continue
			}
			if _, query, _ := strings.Cut(s.requests()[0].target, "?"); query != c.want {
				t.Errorf("separator %q, %.200v: sent %.100q, want %q", c.separator, c.chain, query, c.want)
			}
		}
	}
}

// TestAListingOfAWalkNeverLeavesItsNamespace keeps pagination in the picture:
// rows come back in the names that were asked for.
func TestRowsOfAListingAreInTheNamesThatWereAskedFor(t *testing.T) {
	far := &remember{}
	remote := openOn(t, router.New(router.Config{Tree: router.Catalog{Name: "x", Backend: mounts.Dispatch(far.handle, allOfIt{})}}), "")
	near := wrap.Prefix(remote, "prod")
	m := maker{rand.New(rand.NewPCG(7, 7)), mounttest.Names()}
	for range 100 {
		n := m.namespace()
		far.resp = &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{{Namespace: n, Name: m.name()}, {Namespace: n, Name: m.name()}}}
		got, err := near.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: append(mounts.Namespace{"prod"}, n...)})
		if err != nil {
			t.Fatalf("%q: %v", n, err)
		}
		want := mounts.MapResponse(far.resp, func(n mounts.Namespace) mounts.Namespace { return append(mounts.Namespace{"prod"}, n...) })
		if !reflect.DeepEqual(mounts.Response(got), want) {
			t.Errorf("listed %q, want %q", got, want)
		}
	}
}
