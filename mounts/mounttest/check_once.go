package mounttest

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// onceChecks are about requests that carry an Idempotency-Key: over a backend
// that honours keys, and one over a backend that does not.
func onceChecks() []check {
	namespaces := of(capabilities.CreateNamespace, capabilities.UpdateNamespaceProperties, capabilities.DropNamespace)
	create, commit, drop := of(capabilities.CreateTable), of(capabilities.CommitTable), of(capabilities.DropTable)
	rename := of(capabilities.RenameTable)
	views := of(capabilities.LoadView, capabilities.CreateView, capabilities.ReplaceView, capabilities.RenameView, capabilities.DropView)
	honoured := []check{
		{name: "once/namespaces", needs: namespaces, run: (*suite).onceNamespaces},
		{name: "once/creation", needs: create.Union(drop), run: (*suite).onceCreate},
		{name: "once/staged creation", needs: create.Union(commit), run: (*suite).onceStaged},
		{name: "once/commit", needs: commit, run: (*suite).onceCommit},
		{name: "once/commit of nothing", needs: commit, run: (*suite).onceNothing},
		{name: "once/transaction", needs: of(capabilities.CommitTransaction), run: (*suite).onceTransaction},
		{name: "once/drop", needs: create.Union(drop), run: (*suite).onceDrop},
		{name: "once/rename", needs: create.Union(rename), run: (*suite).onceRename},
		{name: "once/unregister and register", needs: of(capabilities.RegisterTable, capabilities.UnregisterTable), run: (*suite).onceRegister},
		{name: "once/views", needs: views, run: (*suite).onceViews},
		{name: "once/register view", needs: of(capabilities.RegisterView, capabilities.LoadView, capabilities.DropView), writes: of(capabilities.CreateView), run: (*suite).onceRegisterView},
		{name: "once/at once", needs: create.Union(commit), run: (*suite).onceAtOnce},
		{name: "once/refusals", needs: create.Union(commit).Union(drop).Union(namespaces), run: (*suite).onceRefusals},
		{name: "once/conflict of a commit", needs: commit, run: (*suite).onceConflict},
		{name: "once/another request", needs: commit, run: (*suite).onceMismatch},
		{name: "once/two principals", needs: create.Union(drop), run: (*suite).oncePrincipals},
		{name: "once/reads and reports", needs: commit.Union(of(capabilities.ReportMetrics)), run: (*suite).onceReads},
	}
	for i := range honoured {
		honoured[i].keys = keysHonoured
	}
	return append(honoured, check{name: "once/not honoured", needs: create, keys: keysIgnored, run: (*suite).onceIgnored})
}

// keys says what a subtest needs of a backend beside its capabilities.
type keys uint8

const (
	keysHonoured keys = iota + 1 // it honours Idempotency-Keys
	keysIgnored                  // it does not
)

func (k keys) fit(b mounts.Backend) bool {
	return k == 0 || (k == keysHonoured) == (b.KeyLifetime() > 0)
}

// key makes the suite's next calls carry an Idempotency-Key.
type key struct{ principal, text string }

func newKey() key { return key{"suite", uuid.NewString()} }

// send sends a request under the key, with the fingerprint of what it asks for.
func (k key) send(s *suite, req mounts.Request) (mounts.Response, error) {
	fingerprint := sha256.Sum256(fmt.Appendf(nil, "%T %+v", req, req))
	ctx := mounts.WithCaller(s.ctx, mounts.Caller{Principal: k.principal, Once: &mounts.Once{Key: k.text, Fingerprint: fingerprint}})
	return mounts.Invoke(ctx, s.b, req)
}

// once sends a request under a new key, which must succeed.
func (s *suite) once(req mounts.Request) (key, mounts.Response) {
	s.Helper()
	k := newKey()
	resp, err := k.send(s, req)
	s.must(err)
	return k, resp
}

// again sends a request that succeeded again: it succeeds again, and with the
// same answer.
func (s *suite) again(k key, req mounts.Request, before mounts.Response) {
	s.Helper()
	after, err := k.send(s, req)
	if err != nil {
		s.Errorf("%s succeeded, and sent again under its key it fails: %v", req.Op(), err)
		return
	}
	if before == nil {
		return
	}
	if !sameJSON(encode(before), encode(after)) {
		s.Errorf("%s was answered\n%.500s\nand under its key again\n%.500s", req.Op(), encode(before), encode(after))
	}
}

func (s *suite) onceNamespaces() {
	create := &mounts.CreateNamespaceRequest{Namespace: s.ns("shop"), Properties: map[string]string{"owner": "hank"}}
	created, first := s.once(create)
	s.again(created, create, first)
	update := &mounts.UpdateNamespacePropertiesRequest{Namespace: s.ns("shop"), Removals: []string{"owner", "missing"}, Updates: map[string]string{"tier": "gold"}}
	updated, second := s.once(update)
	s.must(resultOf(s.b.UpdateNamespaceProperties(s.ctx, &mounts.UpdateNamespacePropertiesRequest{Namespace: s.ns("shop"), Updates: map[string]string{"owner": "ann", "tier": "lead"}})))
	s.again(updated, update, second)
	info, err := s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: s.ns("shop")})
	s.must(err)
	if info.Properties["owner"] != "ann" || info.Properties["tier"] != "lead" {
		s.Errorf("an old change was made again: %v", info.Properties)
	}
	drop := &mounts.DropNamespaceRequest{Namespace: s.ns("shop")}
	dropped, _ := s.once(drop)
	s.again(dropped, drop, nil)
	s.namespace("shop")
	s.again(dropped, drop, nil)
	s.again(created, create, first)
	s.must(resultOf(s.b.LoadNamespace(s.ctx, &mounts.LoadNamespaceRequest{Namespace: s.ns("shop")})))
}

func resultOf[R any](_ R, err error) error { return err }

func (s *suite) onceCreate() {
	s.namespace("shop")
	id := s.id("orders", "shop")
	req := &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()}
	k, first := s.once(req)
	s.again(k, req, first)
	s.unchanged(id, first.(*mounts.Table))
	s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id}))
	if _, err := k.send(s, req); err != nil {
		s.Errorf("sent again after the table was dropped: %v", err)
	}
	s.absent(id)
}

// onceStaged: the engine that did not get the first answer writes its data to
// the location of the second.
func (s *suite) onceStaged() {
	s.namespace("shop")
	id := s.id("orders", "shop")
	req := &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, StageCreate: true, Schema: Schema(),
		PartitionSpec: raw(`{"spec-id":0,"fields":[]}`), WriteOrder: raw(`{"order-id":0,"fields":[]}`)}
	k, first := s.once(req)
	s.again(k, req, first)
	s.absent(id)
	finish := s.finish(id, first.(*mounts.Table))
	finished, committed := s.once(finish)
	s.again(finished, finish, committed)
	s.again(k, req, first)
	s.unchanged(id, committed.(*mounts.Table))
}

func (s *suite) onceCommit() {
	id, created := s.fresh()
	req := Append(id, created.Metadata, 11)
	k, first := s.once(req)
	s.again(k, req, first)
	s.unchanged(id, first.(*mounts.Table))
	later := s.append(id, first.(*mounts.Table).Metadata, 12)
	resp, err := k.send(s, req)
	s.must(err)
	// The spec lets the answer be of the time of the first request or newer.
	table := resp.(*mounts.Table)
	if table.MetadataLocation != first.(*mounts.Table).MetadataLocation && table.MetadataLocation != later.MetadataLocation {
		s.Errorf("answered with %s", table.MetadataLocation)
	}
	s.unchanged(id, later)
}

func (s *suite) onceNothing() {
	id, created := s.fresh()
	req := &mounts.CommitTableRequest{Table: id, Requirements: raws(`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`), Updates: raws()}
	k, first := s.once(req)
	if got := first.(*mounts.Table).MetadataLocation; got != created.MetadataLocation {
		s.Errorf("a commit of nothing made %s", got)
	}
	s.append(id, created.Metadata, 11) // from here on the requirement fails
	if _, err := k.send(s, req); err != nil {
		s.Errorf("sent again: %v", err)
	}
}

func (s *suite) onceTransaction() {
	a, b, ta, tb := s.pair()
	req := &mounts.CommitTransactionRequest{Changes: changes(*Append(a, ta.Metadata, 11), *Append(b, tb.Metadata, 12))}
	k, _ := s.once(req)
	after, other := s.load(a), s.load(b)
	s.again(k, req, nil)
	s.unchanged(a, after)
	s.unchanged(b, other)
}

// onceDrop: a drop that arrives late must not hit the table that was created in
// the meantime.
func (s *suite) onceDrop() {
	id, _ := s.fresh()
	req := &mounts.DropTableRequest{Table: id}
	k, _ := s.once(req)
	s.again(k, req, nil)
	s.absent(id)
	another := s.table(id)
	s.again(k, req, nil)
	s.unchanged(id, another)
}

func (s *suite) onceRename() {
	id, before := s.fresh()
	to := s.id("purchases", "shop")
	req := &mounts.RenameTableRequest{Source: id, Destination: to}
	k, _ := s.once(req)
	s.again(k, req, nil)
	s.renamed(id, to, before)
	another := s.table(id)
	s.again(k, req, nil)
	s.unchanged(id, another)
}

func (s *suite) onceRegister() {
	id, created := s.fresh()
	forget := &mounts.UnregisterTableRequest{Table: id}
	forgotten, answer := s.once(forget)
	s.again(forgotten, forget, answer)
	register := &mounts.RegisterTableRequest{Namespace: id.Namespace, Name: id.Name, MetadataLocation: created.MetadataLocation}
	registered, first := s.once(register)
	s.again(registered, register, first)
	s.again(forgotten, forget, answer)
	s.unchanged(id, first.(*mounts.Table))
}

func (s *suite) onceViews() {
	s.namespace("shop")
	id := s.id("recent", "shop")
	create := s.viewRequest(id)
	created, first := s.once(create)
	s.again(created, create, first)
	replace := &mounts.ReplaceViewRequest{View: id, Requirements: raws(), Updates: raws(`{"action":"set-properties","updates":{"mark":"once"}}`)}
	replaced, second := s.once(replace)
	s.again(replaced, replace, second)
	s.unchangedView(id, second.(*mounts.View))
	to := s.id("newest", "shop")
	rename := &mounts.RenameViewRequest{Source: id, Destination: to}
	renamed, _ := s.once(rename)
	s.again(renamed, rename, nil)
	s.view(id)
	s.again(renamed, rename, nil)
	s.unchangedView(to, second.(*mounts.View))
	drop := &mounts.DropViewRequest{View: to}
	dropped, _ := s.once(drop)
	s.again(dropped, drop, nil)
	s.noView(to)
}

func (s *suite) onceRegisterView() {
	id, created := s.freshView()
	s.must(s.b.DropView(s.ctx, &mounts.DropViewRequest{View: id}))
	req := &mounts.RegisterViewRequest{Namespace: id.Namespace, Name: id.Name, MetadataLocation: created.MetadataLocation}
	k, first := s.once(req)
	s.again(k, req, first)
	s.unchangedView(id, first.(*mounts.View))
}

// onceAtOnce sends one request sixteen times at the same time: it is carried out
// once, and everybody gets its answer.
func (s *suite) onceAtOnce() {
	const callers = 16
	s.namespace("shop")
	id := s.id("orders", "shop")
	atOnce := func(req mounts.Request) *mounts.Table {
		s.Helper()
		k := newKey()
		var mu sync.Mutex
		var tables []*mounts.Table
		together(callers, func(int) {
			resp, err := k.send(s, req)
			if err != nil {
				s.Errorf("%s: %v", req.Op(), err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			tables = append(tables, resp.(*mounts.Table))
		})
		if len(tables) == 0 {
			s.Fatal("nobody was answered")
		}
		for _, t := range tables {
			if t.MetadataLocation != tables[0].MetadataLocation || !sameJSON(t.Metadata, tables[0].Metadata) {
				s.Errorf("%s: one answer has %s, another %s", req.Op(), tables[0].MetadataLocation, t.MetadataLocation)
			}
		}
		return tables[0]
	}
	created := atOnce(&mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()})
	s.unchanged(id, created)
	committed := atOnce(Append(id, created.Metadata, 11))
	s.unchanged(id, committed)
	if got := snapshotIDs(s.doc(committed.Metadata)); len(got) != 1 {
		s.Errorf("snapshots %v", got)
	}
}

// refusedAgain sends a request that is refused, makes it possible, and sends it
// again: it is refused in the same words, and under another key it succeeds.
func (s *suite) refusedAgain(req mounts.Request, kind mounts.Kind, enable func()) {
	s.Helper()
	k := newKey()
	_, before := k.send(s, req)
	s.wantAbout(before, []mounts.Identifier{req.Object(), space(req.Object().Namespace)}, kind)
	enable()
	_, after := k.send(s, req)
	if after == nil {
		s.Errorf("%s was refused (%v), and succeeds under the same key", req.Op(), before)
		return
	}
	one, other := mounts.AsError(before), mounts.AsError(after)
	if one.Kind != other.Kind || one.Message() != other.Message() || !one.Ident.Equal(other.Ident) || other.OutcomeUnknown {
		s.Errorf("%s was refused with %v: %s\nand under its key again with %v: %s", req.Op(), one.Kind, one.Message(), other.Kind, other.Message())
	}
	if _, err := newKey().send(s, req); err != nil {
		s.Errorf("%s under another key: %v", req.Op(), err)
	}
}

func (s *suite) onceRefusals() {
	id, _ := s.fresh()
	create := &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()}
	s.refusedAgain(create, mounts.AlreadyExists, func() { s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: id})) })
	later := s.id("later", "shop")
	s.refusedAgain(&mounts.CommitTableRequest{Table: later, Updates: raws(touch)}, mounts.NoSuchTable, func() { s.table(later) })
	nowhere := s.id("orders", "nowhere")
	s.refusedAgain(&mounts.CreateTableRequest{Namespace: nowhere.Namespace, Name: nowhere.Name, Schema: Schema()}, mounts.NoSuchNamespace, func() { s.namespace("nowhere") })
	full := s.id("t", "full")
	s.namespace("full")
	s.table(full)
	s.refusedAgain(&mounts.DropNamespaceRequest{Namespace: full.Namespace}, mounts.NamespaceNotEmpty, func() { s.must(s.b.DropTable(s.ctx, &mounts.DropTableRequest{Table: full})) })
}

// onceConflict: after a conflict an engine deletes what it wrote, so the same
// request must not be committed later, when its requirement holds.
func (s *suite) onceConflict() {
	id, created := s.fresh()
	requires := raws(`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":11}`)
	s.refusedAgain(&mounts.CommitTableRequest{Table: id, Requirements: requires, Updates: raws(touch)}, mounts.CommitConflict,
		func() { s.append(id, created.Metadata, 11) })
}

func (s *suite) onceMismatch() {
	a, b, ta, tb := s.pair()
	k, first := s.once(&mounts.CommitTableRequest{Table: a, Updates: raws(touch)})
	for _, req := range []mounts.Request{
		&mounts.CommitTableRequest{Table: a, Updates: raws(`{"action":"set-properties","updates":{"touched":"no"}}`)},
		Append(b, tb.Metadata, 12),
		Append(a, ta.Metadata, 11),
	} {
		_, err := k.send(s, req)
		s.want(err, req.Object(), mounts.Unprocessable)
	}
	s.unchanged(a, first.(*mounts.Table))
	s.unchanged(b, tb)
	s.again(k, &mounts.CommitTableRequest{Table: a, Updates: raws(touch)}, first)
}

func (s *suite) oncePrincipals() {
	id, _ := s.fresh()
	req := &mounts.DropTableRequest{Table: id}
	k, _ := s.once(req)
	stranger := key{"stranger", k.text}
	_, err := stranger.send(s, req)
	s.want(err, id, mounts.NoSuchTable)
	s.again(k, req, nil)
}

func (s *suite) onceReads() {
	id, created := s.fresh()
	k := newKey()
	load := &mounts.LoadTableRequest{Table: id}
	if _, err := k.send(s, load); err != nil {
		s.Errorf("load: %v", err)
	}
	for range 2 {
		if _, err := k.send(s, &mounts.ReportMetricsRequest{Table: id, Body: raw(`{"report-type":"scan-report"}`)}); err != nil {
			s.Errorf("report: %v", err)
		}
	}
	after := s.append(id, created.Metadata, 11)
	resp, err := k.send(s, load)
	s.must(err)
	if got := resp.(*mounts.Table).MetadataLocation; got != after.MetadataLocation {
		s.Errorf("a load under an old key answers %s, and the table is at %s", got, after.MetadataLocation)
	}
}

// onceIgnored: to a backend that honours no keys they are nothing.
func (s *suite) onceIgnored() {
	s.namespace("shop")
	k := newKey()
	for i := range 2 {
		if _, err := k.send(s, &mounts.CreateTableRequest{Namespace: s.ns("shop"), Name: fmt.Sprint("t", i), Schema: Schema()}); err != nil {
			s.Errorf("a second request under one key: %v", err)
		}
	}
	_, err := k.send(s, &mounts.CreateTableRequest{Namespace: s.ns("shop"), Name: "t0", Schema: Schema()})
	s.want(err, s.id("t0", "shop"), mounts.AlreadyExists)
}
