package native

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native/store"
)

// remembering is a fixture that honours keys; what is sent through served has
// one.
type remembering struct {
	*fixture
	served mounts.Backend
}

func newRemembering(t testing.TB, change ...func(*Config)) *remembering {
	t.Helper()
	// Jobs would come between the test and the store.
	f := newFixture(t, append([]func(*Config){func(c *Config) { c.KeyLifetime, c.ReadOnly = DefaultKeyLifetime, true }}, change...)...)
	return &remembering{f, f.Idempotent()}
}

// unclosed is a store that a second backend may close.
type unclosed struct{ store.Store }

func (unclosed) Close() error { return nil }

// replica is another backend over the same store and warehouse: another process,
// or the same one after a restart.
func (f *remembering) replica() *remembering {
	f.t.Helper()
	other := &fixture{t: f.t, dir: f.dir, inner: &interceptor{Store: unclosed{f.inner.Store}}}
	var err error
	if other.Backend, err = Open(context.Background(), Config{Store: other.inner, Warehouse: f.dir, KeyLifetime: DefaultKeyLifetime, ReadOnly: true, jobStore: f.inner.Store}); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = other.Close() })
	return &remembering{other, other.Idempotent()}
}

func keyedBy(key string, req mounts.Request) context.Context {
	return mounts.WithCaller(context.Background(), mounts.Caller{Principal: "ann", RequestID: "r-1",
		Once: &mounts.Once{Key: key, Fingerprint: sha256.Sum256(fmt.Appendf(nil, "%T %+v", req, req))}})
}

func (f *remembering) send(key string, req mounts.Request) (mounts.Response, error) {
	return mounts.Invoke(keyedBy(key, req), f.served, req)
}

func (f *remembering) must(key string, req mounts.Request) mounts.Response {
	f.t.Helper()
	resp, err := f.send(key, req)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp
}

// changesOf are requests that answer in each of the ways there are, in an order
// in which they succeed, with how to see what they did.
func changesOf(f *remembering) []mounts.Request {
	id, view := ident("t", "a"), ident("v", "a")
	return []mounts.Request{
		&mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a"}, Properties: map[string]string{"k": "v"}},
		&mounts.UpdateNamespacePropertiesRequest{Namespace: mounts.Namespace{"a"}, Removals: []string{"k"}, Updates: map[string]string{"l": "v"}},
		createRequest(id),
		setProperties(id, map[string]string{"k": "v"}),
		&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{*setProperties(id, map[string]string{"k": "w"})}},
		createViewRequest(view),
		&mounts.RenameTableRequest{Source: id, Destination: ident("u", "a")},
		&mounts.DropTableRequest{Table: ident("u", "a")},
		&mounts.DropViewRequest{View: view},
		&mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"a"}},
	}
}

// TestAChangeWhoseAnswerWasLostIsReplayedByWhoeverComesNext breaks off every
// change between the moment when it is made and the one when it is answered.
func TestAChangeWhoseAnswerWasLostIsReplayedByWhoeverComesNext(t *testing.T) {
	for name, lose := range map[string]func() error{
		"unknown": func() error { return fmt.Errorf("no answer: %w", store.ErrOutcomeUnknown) },
		"a crash": func() error { panic("the process ends here") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newRemembering(t)
			for _, req := range changesOf(f) {
				updates := 0
				f.inner.update = func(_ context.Context, next func() error) error {
					updates++
					if err := next(); err != nil {
						return err
					}
					return lose()
				}
				key := uuid.NewString()
				err := func() (err error) {
					defer func() {
						if p := recover(); p != nil {
							err = mounts.ErrOutcomeUnknown
						}
					}()
					_, err = f.send(key, req)
					return err
				}()
				f.inner.update = nil
				if !errors.Is(err, mounts.ErrOutcomeUnknown) || updates != 1 {
					t.Fatalf("%s: %d updates, %v", req.Op(), updates, err)
				}
				files := len(f.files())
				next := f.replica()
				next.inner.update = func(context.Context, func() error) error {
					t.Errorf("%s: the change is made again", req.Op())
					return store.ErrUnavailable
				}
				theirs, ours := marshal(t, next.must(key, req)), marshal(t, f.must(key, req))
				if string(ours) != string(theirs) {
					t.Errorf("%s: one replica answers %s, the other %s", req.Op(), ours, theirs)
				}
				if len(f.files()) != files {
					t.Errorf("%s: the files are %q", req.Op(), f.files())
				}
			}
		})
	}
}

func marshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOfTwoReplicasThatWorkOnOneRequestOneIsUndone lets another replica answer
// the request at the last moment.
func TestOfTwoReplicasThatWorkOnOneRequestOneIsUndone(t *testing.T) {
	f := newRemembering(t)
	other := f.replica()
	for _, req := range changesOf(f) {
		key := uuid.NewString()
		var theirs mounts.Response
		raced := false
		f.inner.update = func(_ context.Context, next func() error) error {
			if !raced {
				raced = true
				theirs = other.must(key, req)
			}
			return next()
		}
		ours, err := f.send(key, req)
		f.inner.update = nil
		if err != nil || !raced {
			t.Fatalf("%s: %v", req.Op(), err)
		}
		if string(marshal(t, ours)) != string(marshal(t, theirs)) {
			t.Errorf("%s: one replica answers %s, the other %s", req.Op(), marshal(t, ours), marshal(t, theirs))
		}
	}
	// One file each of the creation, the commit, the transaction and the view.
	if files := f.files(); len(files) != 4 {
		t.Errorf("the loser's files stay: %q", files)
	}
}

// A staged create stores nothing, so two replicas differ until one is
// remembered.
func TestOfTwoReplicasThatStageOneTableBothAnswerTheSame(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	other := f.replica()
	req := createRequest(ident("t", "a"))
	req.StageCreate = true
	var theirs mounts.Response
	f.inner.update = func(_ context.Context, next func() error) error {
		if theirs == nil {
			theirs = other.must("k", req)
		}
		return next()
	}
	ours := f.must("k", req)
	if theirs == nil || string(marshal(t, ours)) != string(marshal(t, theirs)) {
		t.Errorf("staged as\n%s\nand\n%s", marshal(t, ours), marshal(t, theirs))
	}
}

// A refusal that another replica's success overtakes is not the answer.
func TestARefusalYieldsToASuccessOfAnotherReplica(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	other := f.replica()
	req := createRequest(ident("t", "a"))
	var theirs mounts.Response
	views := 0
	f.inner.view = func() {
		if views++; views == 2 { // the first looks for a receipt
			theirs = other.must("k", req)
		}
	}
	ours := f.must("k", req)
	if string(marshal(t, ours)) != string(marshal(t, theirs)) {
		t.Errorf("created as\n%s\nand\n%s", marshal(t, ours), marshal(t, theirs))
	}
}

func TestADuplicateThatCannotWaitIsToldToComeBackAndAConflictIsNeverTheAnswer(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	req := setProperties(id, map[string]string{"k": "v"})
	var duplicate error
	f.inner.update = func(_ context.Context, next func() error) error {
		ctx, cancel := context.WithCancel(keyedBy("k", req))
		cancel()
		_, duplicate = mounts.Invoke(ctx, f.served, req)
		return next()
	}
	f.must("k", req)
	e := wantError(t, duplicate, mounts.Unavailable, "a.t", "the same Idempotency-Key is still being worked on")
	if e.OutcomeUnknown || e.RetryAfter <= 0 || !e.Answered {
		t.Errorf("got %+v", e)
	}
	f.inner.update = nil
	f.must("k", req)
}

// What may work later is not remembered; nor is it in anybody's way.
func TestFailuresThatAreNotCertainAreTriedAgain(t *testing.T) {
	for name, failure := range map[string]error{
		"not reachable": store.ErrUnavailable, "closed": store.ErrClosed, "stopped": store.ErrStopped,
		"out of time": context.DeadlineExceeded, "unknown and not done": store.ErrOutcomeUnknown, "a bug": errors.New("bug"),
	} {
		f := newRemembering(t)
		f.namespace("a")
		req := createRequest(ident("t", "a"))
		f.inner.update = func(context.Context, func() error) error { return failure }
		if _, err := f.send("k", req); err == nil {
			t.Fatalf("%s: succeeded", name)
		}
		f.inner.update = nil
		if _, err := f.send("k", req); err != nil {
			t.Errorf("%s: the same request afterwards: %v", name, err)
		}
	}
}

func TestAnExpiredKeyMayBeUsedAnewAndItsReceiptIsForgotten(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	start := time.Now()
	f.now = func() time.Time { return start }
	id := ident("t", "a")
	f.table(id)
	f.must("k", setProperties(id, map[string]string{"k": "v"}))
	at := func(d time.Duration) { f.now = func() time.Time { return start.Add(d) } }
	at(DefaultKeyLifetime - time.Second)
	_, err := f.send("k", &mounts.DropTableRequest{Table: id})
	wantError(t, err, mounts.Unprocessable, "a.t", "was used for another request")
	if n, err := f.pruneOnce(context.Background()); n != 0 || err != nil {
		t.Errorf("%d receipts are forgotten before their time, %v", n, err)
	}
	at(DefaultKeyLifetime + time.Second)
	f.must("k", &mounts.DropTableRequest{Table: id})
	f.must("k", &mounts.DropTableRequest{Table: id})
	at(3 * DefaultKeyLifetime)
	if n, err := f.pruneOnce(context.Background()); n != 1 || err != nil {
		t.Errorf("%d receipts are forgotten, %v", n, err)
	}
}

// counting is a store whose receipts expire by the hundred.
type counting struct {
	store.Store
	left  int
	calls []time.Time
}

func (c *counting) Update(_ context.Context, f func(store.Tx) error) error {
	return f(countingTx{c: c})
}
func (c *counting) Close() error { return nil }

type countingTx struct {
	store.Tx
	c *counting
}

func (tx countingTx) PruneReceipts(_ time.Time, limit int) (int, error) {
	tx.c.calls = append(tx.c.calls, time.Now())
	n := min(limit, tx.c.left)
	tx.c.left -= n
	return n, nil
}

func TestReceiptsAreForgottenInTheBackgroundUntilTheBackendCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &counting{left: 3*pruneBatch + 1}
		b := &Backend{store: c, lifetime: time.Hour, now: time.Now, log: nil}
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); b.pruneReceipts(ctx) }()
		time.Sleep(2 * pruneEvery)
		synctest.Wait()
		if c.left != 0 || len(c.calls) < 4 {
			t.Errorf("%d receipts are left after %d batches", c.left, len(c.calls))
		}
		if pause := c.calls[1].Sub(c.calls[0]); pause != prunePause {
			t.Errorf("a full batch is followed by the next after %v", pause)
		}
		stop()
		<-ended
	})
}

func TestTheCommitLogHasTheKey(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	id := ident("t", "a")
	f.must("the-key", createRequest(id))
	f.commit(setProperties(id, map[string]string{"k": "v"}))
	var log []store.Commit
	if err := f.store.View(context.Background(), func(tx store.Tx) error {
		o, err := tx.Object(id)
		if err != nil {
			return err
		}
		log, err = tx.Commits(o.ID, 0, 10)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(log) != 2 || log[0].IdempotencyKey != "the-key" || log[0].Principal != "ann" || log[1].IdempotencyKey != "" {
		t.Errorf("the log is %+v", log)
	}
}

// The file that a commit answered with may be gone when it is sent again.
func TestAReplayWhoseFileIsGoneAnswersTheNewestStateUnderTheSameName(t *testing.T) {
	f := newRemembering(t, func(c *Config) { c.MetadataCache = 0 })
	f.namespace("a")
	id := ident("t", "a")
	create := createRequest(id)
	created := f.must("create", create).(*mounts.Table)
	change := setProperties(id, map[string]string{"k": "v"})
	committed := f.must("commit", change).(*mounts.Table)
	newest := f.commit(setProperties(id, map[string]string{"l": "w"}))
	for _, gone := range []*mounts.Table{created, committed} {
		if err := os.Remove(local(gone.MetadataLocation)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(when string) {
		t.Helper()
		for key, req := range map[string]mounts.Request{"create": create, "commit": change} {
			if got := f.must(key, req).(*mounts.Table); got.MetadataLocation != newest.MetadataLocation || got.ETag != newest.ETag {
				t.Errorf("%s, %s answers %s", when, key, got.MetadataLocation)
			}
		}
	}
	check("after another commit")
	f.must("rename", &mounts.RenameTableRequest{Source: id, Destination: ident("u", "a")})
	f.table(id) // another one under the old name
	// Whoever may still ask for the old name need not be let read the new one.
	unrepeatable := func() {
		t.Helper()
		_, err := f.send("commit", change)
		if e := wantError(t, err, mounts.Internal, "a.t", "was made when it was first asked for"); !e.OutcomeUnknown {
			t.Error("a commit that was made is said to be refused")
		}
		_, err = f.send("create", create)
		wantError(t, err, mounts.MetadataMissing, "a.t", "was made when it was first asked for")
	}
	unrepeatable()
	f.must("drop", &mounts.DropTableRequest{Table: ident("u", "a")})
	unrepeatable()
}

func TestAReplayThatCannotReadItsAnswerIsNoRefusal(t *testing.T) {
	f := newRemembering(t, func(c *Config) { c.MetadataCache = 0 })
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	change := setProperties(id, map[string]string{"k": "v"})
	committed := f.must("k", change).(*mounts.Table)
	if err := os.Remove(local(committed.MetadataLocation)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(local(committed.MetadataLocation), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := f.send("k", change)
	if !errors.Is(err, mounts.ErrOutcomeUnknown) {
		t.Errorf("a commit that was made is answered with %v", err)
	}
}

// A document that is too large to keep is staged anew: whoever sends the request
// again works with the second answer.
func TestAStagedTableThatIsTooLargeToRememberIsStagedAnew(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	req := createRequest(ident("t", "a"))
	req.StageCreate = true
	req.Properties = map[string]string{"comment": strings.Repeat("x", store.MaxOutcome)}
	one, other := f.must("k", req).(*mounts.Table), f.must("k", req).(*mounts.Table)
	if string(one.Metadata) == string(other.Metadata) {
		t.Error("the documents are the same")
	}
	req.Properties["comment"] = strings.Repeat("<&>", 1000)
	one, other = f.must("l", req).(*mounts.Table), f.must("l", req).(*mounts.Table)
	if string(one.Metadata) != string(other.Metadata) {
		t.Error("a smaller one is not remembered byte by byte")
	}
}

// TestAChangeThatOutlivesItsTimeoutIsRemembered is about the registry as a mount:
// the mount's own timeout gives the client an answer, and the change goes on.
func TestAChangeThatOutlivesItsTimeoutIsRemembered(t *testing.T) {
	f := newRemembering(t)
	f.namespace("a")
	id := ident("t", "a")
	f.table(id)
	mount := wrap.Stack(f.served, wrap.Options{Name: "prod", Timeout: 20 * time.Millisecond})
	if got := mount.Mount().Tree.KeyLifetime(); got != DefaultKeyLifetime {
		t.Errorf("the mount honours keys for %v", got)
	}
	release, made := make(chan struct{}), make(chan struct{})
	f.inner.update = func(_ context.Context, next func() error) error {
		<-release
		defer close(made)
		return next()
	}
	req := setProperties(mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}, map[string]string{"k": "v"})
	_, err := mounts.Invoke(keyedBy("k", req), mount.Mount().Tree, req)
	if e := wantError(t, err, mounts.Timeout, "prod.a.t", ""); !e.OutcomeUnknown {
		t.Errorf("the outcome is said to be known: %v", err)
	}
	close(release)
	<-made
	f.inner.update = func(context.Context, func() error) error {
		t.Error("the change is made again")
		return store.ErrUnavailable
	}
	for {
		resp, err := mounts.Invoke(keyedBy("k", req), mount.Mount().Tree, req)
		if errors.Is(err, mounts.Unavailable) { // until the first call has left
			continue
		}
		if err != nil || properties(t, resp.(*mounts.Table).Metadata)["k"] != "v" {
			t.Errorf("sent again: %v", err)
		}
		break
	}
	// Names of a refusal are the mount's, whoever asks.
	missing := setProperties(mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "x"}, map[string]string{"k": "v"})
	f.inner.update = nil
	for range 2 {
		_, err := mounts.Invoke(keyedBy("l", missing), mount.Mount().Tree, missing)
		wantError(t, err, mounts.NoSuchTable, "prod.a.x", "Table does not exist: prod.a.x")
	}
}

// Through a mount's stack requests and answers have other names, and the outcome
// has the registry's own.
func TestKeysAreHonouredThroughAMountsStackInItsNames(t *testing.T) {
	f := newRemembering(t)
	mount := wrap.Stack(f.served, wrap.Options{Name: "prod"})
	for _, own := range changesOf(f) {
		req, err := mounts.MapRequest(own, func(n mounts.Namespace) (mounts.Namespace, error) { return append(mounts.Namespace{"prod"}, n...), nil })
		if err != nil {
			t.Fatal(err)
		}
		if view, ok := req.(*mounts.CreateViewRequest); ok {
			view.ViewVersion = bytes.Replace(view.ViewVersion, []byte(`["a"]`), []byte(`["prod","a"]`), 1)
		}
		key := uuid.NewString()
		first, err := mounts.Invoke(keyedBy(key, req), mount.Mount().Tree, req)
		if err != nil {
			t.Fatalf("%s: %v", req.Op(), err)
		}
		f.inner.update = func(context.Context, func() error) error {
			t.Errorf("%s: the change is made again", req.Op())
			return store.ErrUnavailable
		}
		again, err := mounts.Invoke(keyedBy(key, req), mount.Mount().Tree, req)
		if err != nil || string(marshal(t, first)) != string(marshal(t, again)) {
			t.Errorf("%s: answered %s, then %s, %v", req.Op(), marshal(t, first), marshal(t, again), err)
		}
		f.inner.update = nil
	}
}
