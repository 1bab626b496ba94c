package vend

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
)

// registry is a native registry on a bucket, with credentials for its tables.
type registry struct {
	mounts.Backend
	plain mounts.Backend // without credentials
	fake  fakeProvider
	seen  *events
}

func newRegistry(t testing.TB, change ...func(*Options)) *registry {
	t.Helper()
	objects := s3mem.New()
	if err := objects.CreateBucket("lake"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(objects).Server())
	t.Cleanup(server.Close)
	s, err := bolt.Open(filepath.Join(t.TempDir(), "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := native.Open(t.Context(), native.Config{Store: s, Warehouse: "s3://lake/wh", MetadataCache: 16 << 20, KeyLifetime: time.Hour,
		Storage: map[string]string{"s3.endpoint": server.URL, "s3.region": "us-east-1", "s3.access-key-id": "the-mounts-id", "s3.secret-access-key": "the-mounts-secret"}})
	if err != nil {
		t.Fatal(err)
	}
	r := &registry{plain: n, fake: newFake(), seen: &events{}}
	opt := Options{Provider: r.fake, Warehouse: "s3://lake/wh", Observe: r.seen.see}
	for _, c := range change {
		c(&opt)
	}
	r.Backend = Around(n.Idempotent(), opt)
	t.Cleanup(func() { _ = r.Close() })
	if _, err := r.CreateNamespace(t.Context(), &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"sales"}}); err != nil {
		t.Fatal(err)
	}
	return r
}

func alice(t testing.TB, access mounts.StorageAccess) context.Context {
	return as(t.Context(), "corp/alice", "acme", access)
}

func createOf(name string) *mounts.CreateTableRequest {
	return &mounts.CreateTableRequest{Namespace: mounts.Namespace{"sales"}, Name: name, Schema: mounttest.Schema(), Delegation: "vended-credentials"}
}

func id(name string) mounts.Identifier {
	return mounts.Identifier{Namespace: mounts.Namespace{"sales"}, Name: name}
}

func locationOf(t testing.TB, table *mounts.Table) string {
	t.Helper()
	var document struct{ Location string }
	if err := json.Unmarshal(table.Metadata, &document); err != nil {
		t.Fatal(err)
	}
	return document.Location
}

func (r *registry) table(t testing.TB, name string) *mounts.Table {
	t.Helper()
	create := createOf(name)
	create.Delegation = ""
	table, err := r.CreateTable(t.Context(), create)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// mustHave asserts that a table's answer gives access in both places.
func mustHave(t testing.TB, table *mounts.Table, access mounts.StorageAccess) {
	t.Helper()
	location := locationOf(t, table)
	if len(table.StorageCredentials) != 1 || table.StorageCredentials[0].Prefix != location || !table.Refresh || table.ETag != "" || table.NotModified {
		t.Fatalf("for %s: %d credentials, refresh %t, tag %q", location, len(table.StorageCredentials), table.Refresh, table.ETag)
	}
	for place, config := range map[string]map[string]string{"config": table.Config, "storage-credentials": table.StorageCredentials[0].Config} {
		for _, name := range []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms", "expiration-time", "s3.endpoint", "client.region"} {
			if config[name] == "" {
				t.Errorf("%s lacks %s", place, name)
			}
		}
		if config["s3.path-style-access"] != "true" || config["s3.region"] != "us-east-1" || config["expiration-time"] != config["s3.session-token-expires-at-ms"] {
			t.Errorf("%s: %v", place, slices.Sorted(maps.Keys(config)))
		}
		if !strings.HasSuffix(config["s3.secret-access-key"], "-corp/alice-"+access.String()) {
			t.Errorf("%s: another's key, or of another width", place)
		}
	}
}

// mustLack asserts that an answer has nothing of a secret.
func mustLack(t testing.TB, table *mounts.Table) {
	t.Helper()
	for name := range table.Config {
		if strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "expir") {
			t.Errorf("the config holds %s", name)
		}
	}
	if len(table.StorageCredentials) != 0 || table.Refresh {
		t.Error("there are credentials")
	}
}

func TestCredentialsGoToWhoAsksAndMayHaveThem(t *testing.T) {
	r := newRegistry(t)
	tag := r.table(t, "orders").ETag
	load := func(ctx context.Context, delegation, tag string) *mounts.Table {
		t.Helper()
		table, err := r.LoadTable(ctx, &mounts.LoadTableRequest{Table: id("orders"), Delegation: delegation, IfNoneMatch: tag})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	for _, delegation := range []string{"vended-credentials", "remote-signing, vended-credentials", " Vended-Credentials ", "x,,vended-credentials"} {
		mustHave(t, load(alice(t, mounts.ReadStorage), delegation, ""), mounts.ReadStorage)
		mustHave(t, load(alice(t, mounts.WriteStorage), delegation, ""), mounts.WriteStorage)
		// With the tag that the answer without credentials has.
		mustHave(t, load(alice(t, mounts.ReadStorage), delegation, tag), mounts.ReadStorage)
		mustHave(t, load(alice(t, mounts.ReadStorage), delegation, "*"), mounts.ReadStorage)
	}
	before := r.fake.calls.Load()
	for _, delegation := range []string{"", "remote-signing", "vended", "vended-credentials-too", ","} {
		table := load(alice(t, mounts.WriteStorage), delegation, "")
		if mustLack(t, table); table.ETag != tag {
			t.Errorf("%q: the tag is %q", delegation, table.ETag)
		}
		if table := load(alice(t, mounts.WriteStorage), delegation, tag); !table.NotModified {
			t.Errorf("%q: a table that has not changed was sent again", delegation)
		}
	}
	for _, ctx := range []context.Context{alice(t, mounts.NoStorage), t.Context()} {
		if table := load(ctx, "vended-credentials", ""); table.ETag != tag {
			t.Errorf("the tag is %q", table.ETag)
		} else {
			mustLack(t, table)
		}
		if !load(ctx, "vended-credentials", tag).NotModified {
			t.Error("a table that has not changed was sent again to a caller who may have no credentials")
		}
	}
	if n := r.fake.calls.Load(); n != before || before != 2 {
		t.Errorf("%d exchanges, then %d", before, n)
	}
	if ask := r.fake.asked()[0]; ask != (Ask{locationOf(t, load(t.Context(), "", "")), mounts.ReadStorage, "corp/alice", "acme"}) {
		t.Errorf("%+v", ask)
	}
}

func TestACallerThatLostTheRightToWriteGetsAKeyThatReads(t *testing.T) {
	r := newRegistry(t)
	r.table(t, "orders")
	for _, access := range []mounts.StorageAccess{mounts.WriteStorage, mounts.ReadStorage, mounts.WriteStorage} {
		table, err := r.LoadTable(alice(t, access), &mounts.LoadTableRequest{Table: id("orders"), Delegation: "vended-credentials"})
		if err != nil {
			t.Fatal(err)
		}
		mustHave(t, table, access)
		got, err := r.LoadCredentials(alice(t, access), &mounts.LoadCredentialsRequest{Table: id("orders")})
		if err != nil || !strings.HasSuffix(got.StorageCredentials[0].Config["s3.secret-access-key"], access.String()) {
			t.Errorf("%v", err)
		}
	}
}

func TestRefreshingAnswersExactlyOneEntryWithEverything(t *testing.T) {
	r := newRegistry(t)
	made := r.table(t, "orders")
	got, err := r.LoadCredentials(alice(t, mounts.ReadStorage), &mounts.LoadCredentialsRequest{Table: id("orders"), PlanID: "plan-1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.StorageCredentials) != 1 {
		t.Fatalf("%d entries", len(got.StorageCredentials))
	}
	only := got.StorageCredentials[0]
	if only.Prefix != locationOf(t, made) || !strings.HasPrefix(only.Prefix, "s3") {
		t.Errorf("the prefix is %q", only.Prefix)
	}
	for _, name := range []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms", "s3.endpoint", "s3.region", "client.region", "s3.path-style-access"} {
		if only.Config[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	if !r.Capabilities().Has(capabilities.LoadCredentials) || r.plain.Capabilities().Has(capabilities.LoadCredentials) {
		t.Error("what it can do and what it says do not agree")
	}
	_, err = r.LoadCredentials(alice(t, mounts.NoStorage), &mounts.LoadCredentialsRequest{Table: id("orders")})
	mustFail(t, err, mounts.Forbidden)
	_, err = r.LoadCredentials(alice(t, mounts.ReadStorage), &mounts.LoadCredentialsRequest{Table: id("absent")})
	if e := mounts.AsError(err); e.Kind != mounts.NoSuchTable || e.Op != capabilities.LoadCredentials || !e.Ident.Equal(id("absent")) {
		t.Errorf("%+v", e)
	}
}

func TestTablesOutsideOfTheWarehouseGetNothing(t *testing.T) {
	r := newRegistry(t, func(o *Options) { o.Warehouse = "s3://lake/wh/sales2" })
	r.table(t, "orders")
	table, err := r.LoadTable(alice(t, mounts.WriteStorage), &mounts.LoadTableRequest{Table: id("orders"), Delegation: "vended-credentials"})
	if err != nil {
		t.Fatal(err)
	}
	mustLack(t, table)
	_, err = r.LoadCredentials(alice(t, mounts.WriteStorage), &mounts.LoadCredentialsRequest{Table: id("orders")})
	mustFail(t, err, mounts.Forbidden)
	created, err := r.CreateTable(alice(t, mounts.WriteStorage), createOf("invoices"))
	if err != nil {
		t.Fatal(err)
	}
	mustLack(t, created)
	if n := r.fake.calls.Load(); n != 0 {
		t.Errorf("%d exchanges", n)
	}
}

func TestAFailedExchangeIsNeverAnAnswerWithoutCredentials(t *testing.T) {
	for reason, kind := range map[Reason]mounts.Kind{Denied: mounts.BadGateway, Throttled: mounts.Unavailable, Slow: mounts.Unavailable, Broken: mounts.BadGateway} {
		r := newRegistry(t)
		r.table(t, "orders")
		r.fake.answers(failing(reason))
		ctx := alice(t, mounts.WriteStorage)
		_, err := r.LoadTable(ctx, &mounts.LoadTableRequest{Table: id("orders"), Delegation: "vended-credentials"})
		mustFail(t, err, kind)
		_, err = r.LoadCredentials(ctx, &mounts.LoadCredentialsRequest{Table: id("orders")})
		mustFail(t, err, kind)
		staged := createOf("staged")
		staged.StageCreate = true
		for _, create := range []*mounts.CreateTableRequest{createOf("invoices"), staged, placed(createOf("chosen"), "s3://lake/wh/chosen")} {
			_, err = r.CreateTable(ctx, create)
			e := mustFail(t, err, kind)
			if e.OutcomeUnknown || !create.StageCreate && !strings.Contains(e.Message(), "was not created") {
				t.Errorf("%v", e)
			}
			if err := r.TableExists(ctx, &mounts.TableExistsRequest{Table: id(create.Name)}); !errors.Is(err, mounts.NoSuchTable) {
				t.Errorf("%s: %v", create.Name, err)
			}
		}
		// Whoever did not ask is not concerned.
		plain := createOf("plain")
		plain.Delegation = ""
		if _, err := r.CreateTable(ctx, plain); err != nil {
			t.Error(err)
		}
	}
}

func placed(r *mounts.CreateTableRequest, location string) *mounts.CreateTableRequest {
	r.Location = location
	return r
}

func TestCreatorsGetCredentialsForTheTableThatWasMade(t *testing.T) {
	r := newRegistry(t)
	ctx := alice(t, mounts.WriteStorage)
	for name, location := range map[string]string{"chosen": "s3a://lake/wh/anywhere/chosen", "given": ""} {
		created, err := r.CreateTable(ctx, placed(createOf(name), location))
		if err != nil {
			t.Fatal(err)
		}
		mustHave(t, created, mounts.WriteStorage)
		if location != "" && locationOf(t, created) != location {
			t.Errorf("created at %s", locationOf(t, created))
		}
		loaded, err := r.LoadTable(ctx, &mounts.LoadTableRequest{Table: id(name), Delegation: "vended-credentials"})
		if err != nil || loaded.MetadataLocation != created.MetadataLocation {
			t.Errorf("%v", err)
		}
		mustHave(t, loaded, mounts.WriteStorage)
	}
	staged := createOf("staged")
	staged.StageCreate = true
	table, err := r.CreateTable(ctx, staged)
	if err != nil {
		t.Fatal(err)
	}
	if mustHave(t, table, mounts.WriteStorage); table.MetadataLocation != "" {
		t.Error("a staged table was made")
	}
	if n := r.fake.calls.Load(); n != 3 {
		t.Errorf("%d exchanges for three tables", n)
	}
}

func TestARefusedCreateSaysWhatTheRegistrySays(t *testing.T) {
	r := newRegistry(t)
	r.table(t, "orders")
	r.fake.answers(failing(Denied)) // no exchange is made for what is refused anyway
	ctx := alice(t, mounts.WriteStorage)
	for name, row := range map[string]struct {
		create *mounts.CreateTableRequest
		kind   mounts.Kind
	}{
		"taken":        {createOf("orders"), mounts.AlreadyExists},
		"no namespace": {&mounts.CreateTableRequest{Namespace: mounts.Namespace{"absent"}, Name: "t", Schema: mounttest.Schema(), Delegation: "vended-credentials"}, mounts.NoSuchNamespace},
		"outside":      {placed(createOf("t"), "s3://lake/other/t"), mounts.BadRequest},
		"of another":   {placed(createOf("t"), "s3://lake2/wh/t"), mounts.BadRequest},
	} {
		if _, err := r.CreateTable(ctx, row.create); !errors.Is(err, row.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := r.fake.calls.Load(); n != 0 {
		t.Errorf("%d exchanges", n)
	}
}

func once(ctx context.Context, key string) context.Context {
	c := mounts.CallerFrom(ctx)
	c.Once = &mounts.Once{Key: key, Fingerprint: [32]byte{1}}
	return mounts.WithCaller(ctx, c)
}

func TestACreateWithAKeyIsReplayedWithCredentials(t *testing.T) {
	r := newRegistry(t)
	ctx := once(alice(t, mounts.WriteStorage), "01890a5d-ac96-774b-bcce-b302099a8057")
	first, err := r.CreateTable(ctx, createOf("orders"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := r.CreateTable(ctx, createOf("orders"))
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, again, mounts.WriteStorage)
	if again.MetadataLocation != first.MetadataLocation {
		t.Errorf("%s, then %s", first.MetadataLocation, again.MetadataLocation)
	}
	r.fake.answers(failing(Denied))
	bob := as(ctx, "corp/alice", "acme", mounts.ReadStorage)
	c := mounts.CallerFrom(bob)
	c.Once = mounts.CallerFrom(ctx).Once
	_, err = r.CreateTable(mounts.WithCaller(ctx, c), createOf("orders"))
	if e := mustFail(t, err, mounts.BadGateway); !e.OutcomeUnknown || !strings.Contains(e.Message(), "sales.orders was made") {
		t.Errorf("%v", e)
	}
}

// An answer is given again for as long as its key is remembered. Its table may
// have another name by then, which the caller was not asked about.
func TestAReplayedCreateOpensNoTableOfAnotherName(t *testing.T) {
	for _, stage := range []bool{false, true} {
		r := newRegistry(t)
		write := alice(t, mounts.WriteStorage)
		request := createOf("orders")
		request.StageCreate = stage
		first, err := r.CreateTable(once(write, "k"), request)
		if err != nil {
			t.Fatal(err)
		}
		mustHave(t, first, mounts.WriteStorage)
		if stage {
			made := createOf("orders")
			made.Location, made.Delegation = locationOf(t, first), ""
			if _, err := r.CreateTable(t.Context(), made); err != nil {
				t.Fatal(err)
			}
		}
		again, err := r.CreateTable(once(write, "k"), request)
		if err != nil {
			t.Fatal(err)
		}
		mustHave(t, again, mounts.WriteStorage)
		if err := r.RenameTable(t.Context(), &mounts.RenameTableRequest{Source: id("orders"), Destination: id("secret")}); err != nil {
			t.Fatal(err)
		}
		if again, err = r.CreateTable(once(write, "k"), request); err != nil || locationOf(t, again) != locationOf(t, first) {
			t.Fatalf("%v, %v", again, err)
		}
		mustLack(t, again)
		if stage {
			continue
		}
		if err := r.DropTable(t.Context(), &mounts.DropTableRequest{Table: id("secret")}); err != nil {
			t.Fatal(err)
		}
		if again, err = r.CreateTable(once(write, "k"), request); err != nil {
			t.Fatal(err)
		}
		mustLack(t, again)
	}
}

func TestRegisteringGetsItsCredentialsFirst(t *testing.T) {
	r := newRegistry(t)
	made := r.table(t, "orders")
	ctx := alice(t, mounts.WriteStorage)
	if err := r.DropTable(ctx, &mounts.DropTableRequest{Table: id("orders")}); err != nil {
		t.Fatal(err)
	}
	register := &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"sales"}, Name: "again", MetadataLocation: made.MetadataLocation, Delegation: "vended-credentials"}
	r.fake.answers(failing(Throttled))
	_, err := r.RegisterTable(ctx, register)
	if e := mustFail(t, err, mounts.Unavailable); e.OutcomeUnknown || !strings.Contains(e.Message(), "was not registered") {
		t.Errorf("%v", e)
	}
	if err := r.TableExists(ctx, &mounts.TableExistsRequest{Table: id("again")}); !errors.Is(err, mounts.NoSuchTable) {
		t.Errorf("%v", err)
	}
	r.fake.answers(nil)
	reader := alice(t, mounts.ReadStorage) // whose exchange has not failed just now
	table, err := r.RegisterTable(reader, register)
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, table, mounts.ReadStorage)
}

func TestARegisteredTableIsNotDeniedWhenItsCredentialsFail(t *testing.T) {
	fake := newFake()
	fake.answers(func(ctx context.Context, ask Ask) (*Minted, error) {
		if strings.HasPrefix(ask.Location, "s3a://") {
			return fake.made(ask, 1), nil
		}
		return failing(Denied)(ctx, ask)
	})
	v := Around(elsewhere{mounts.Unsupported{}, "s3://lake/wh/guess"}, Options{Provider: fake, Warehouse: "s3://lake/wh"})
	_, err := v.RegisterTable(alice(t, mounts.ReadStorage), &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"sales"}, Name: "again",
		MetadataLocation: "s3a://lake/wh/guess/metadata/1.json", Delegation: "vended-credentials"})
	e := mustFail(t, err, mounts.BadGateway)
	if !e.OutcomeUnknown || !strings.Contains(e.Message(), "sales.again was made") {
		t.Errorf("%v", e)
	}
}

// elsewhere registers tables whose location is not what their metadata file's
// place suggests.
type elsewhere struct {
	mounts.Backend
	location string
}

func (e elsewhere) RegisterTable(_ context.Context, r *mounts.RegisterTableRequest) (*mounts.Table, error) {
	return &mounts.Table{MetadataLocation: r.MetadataLocation, Metadata: json.RawMessage(`{"location":"` + e.location + `"}`)}, nil
}

func TestKeysForAGuessedLocationNeverLeaveWithAnotherTable(t *testing.T) {
	fake := newFake()
	v := Around(elsewhere{mounts.Unsupported{}, "s3://lake/wh/real"}, Options{Provider: fake, Warehouse: "s3://lake/wh"})
	table, err := v.RegisterTable(alice(t, mounts.ReadStorage), &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"sales"}, Name: "again",
		MetadataLocation: "s3://lake/wh/guess/metadata/1.json", Delegation: "vended-credentials"})
	if err != nil {
		t.Fatal(err)
	}
	mustLack(t, table)
	if asked := fake.asked(); len(asked) != 1 || asked[0].Location != "s3://lake/wh/guess" {
		t.Errorf("%+v", asked)
	}
}

// A metadata file can be written anew by whoever has a key to write the table's
// data. What it says then of the table's location opens nothing: not where the
// registry's pointer says otherwise.
func TestAMetadataFileThatWasWrittenAnewOpensNothing(t *testing.T) {
	const pointer = "s3://lake/wh/sales/mine-1/metadata/00001-x.metadata.json"
	for _, location := range []string{"s3://lake/wh/sales/victim-2", "s3://lake/wh/sales/victim-2/data", "s3://lake/wh/sales", "s3://lake/wh/sales/mine-1/metadata",
		"s3://lake/wh/sales/mine-1x", "s3a://lake/wh/sales/victim-2", "gs://lake/wh/sales/mine-1"} {
		fake := newFake()
		next := &fixed{table: mounts.Table{MetadataLocation: pointer, Metadata: json.RawMessage(`{"location":"` + location + `"}`), ETag: `"1"`}}
		v := Around(next, Options{Provider: fake, Warehouse: "s3://lake/wh"})
		for range 2 {
			table, err := v.LoadTable(alice(t, mounts.WriteStorage), &mounts.LoadTableRequest{Table: id("mine"), Delegation: "vended-credentials"})
			if err != nil {
				t.Fatal(err)
			}
			mustLack(t, table)
		}
		_, err := v.LoadCredentials(alice(t, mounts.WriteStorage), &mounts.LoadCredentialsRequest{Table: id("mine")})
		mustFail(t, err, mounts.Forbidden)
		if asked := fake.asked(); len(asked) != 0 {
			t.Errorf("%s: %+v", location, asked)
		}
	}
	// A table that keeps its metadata elsewhere cannot be told from that.
	next := &fixed{table: mounts.Table{MetadataLocation: "s3://lake/wh/kept/00001-x.metadata.json", Metadata: json.RawMessage(`{"location":"s3://lake/wh/kept"}`)}}
	v := Around(next, Options{Provider: newFake(), Warehouse: "s3://lake/wh"})
	table, err := v.LoadTable(alice(t, mounts.WriteStorage), &mounts.LoadTableRequest{Table: id("kept"), Delegation: "vended-credentials"})
	if err != nil {
		t.Fatal(err)
	}
	mustLack(t, table)
	// Another spelling of the same place is the same place.
	next.table = mounts.Table{MetadataLocation: "s3a://lake/wh/t/metadata/1.json", Metadata: json.RawMessage(`{"location":"s3://lake/wh/t/"}`)}
	table, err = v.LoadTable(alice(t, mounts.WriteStorage), &mounts.LoadTableRequest{Table: id("t"), Delegation: "vended-credentials"})
	if err != nil || len(table.StorageCredentials) != 1 {
		t.Errorf("%v, %v", table, err)
	}
}

func TestOtherOperationsPassUntouched(t *testing.T) {
	r := newRegistry(t)
	r.table(t, "orders")
	ctx := alice(t, mounts.WriteStorage)
	if err := r.TableExists(ctx, &mounts.TableExistsRequest{Table: id("orders")}); err != nil {
		t.Error(err)
	}
	committed, err := r.CommitTable(ctx, &mounts.CommitTableRequest{Table: id("orders"), Updates: []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"a":"b"}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	mustLack(t, committed)
	if n := r.fake.calls.Load(); n != 0 {
		t.Errorf("%d exchanges", n)
	}
	if w, ok := mounts.As[mounts.Working](r.Backend); !ok || w == nil {
		t.Error("the registry's jobs are hidden")
	}
	if r.KeyLifetime() == 0 {
		t.Error("the registry's keys are hidden")
	}
}

func TestALoadWhoseMetadataIsKnownReadsNoneOfIt(t *testing.T) {
	fake := newFake()
	metadata := json.RawMessage(`{"location":"s3://lake/wh/t"}`)
	next := &fixed{table: mounts.Table{MetadataLocation: "s3://lake/wh/t/metadata/1.json", Metadata: metadata, ETag: `"1"`}}
	v := Around(next, Options{Provider: fake, Warehouse: "s3://lake/wh"})
	load := func() *mounts.Table {
		t.Helper()
		table, err := v.LoadTable(alice(t, mounts.ReadStorage), &mounts.LoadTableRequest{Table: id("t"), Delegation: "vended-credentials"})
		if err != nil {
			t.Fatal(err)
		}
		return table
	}
	load()
	next.table.Metadata = json.RawMessage(`not read`)
	if got := load(); got.StorageCredentials[0].Prefix != "s3://lake/wh/t" {
		t.Errorf("%+v", got)
	}
	// Another one, as the tag says.
	next.table.ETag, next.table.MetadataLocation, next.table.Metadata = `"2"`, "s3://lake/wh/u/metadata/1.json", json.RawMessage(`{"location":"s3://lake/wh/u"}`)
	if got := load(); got.StorageCredentials[0].Prefix != "s3://lake/wh/u" {
		t.Errorf("%+v", got)
	}
	next.table.ETag, next.table.Metadata = `"3"`, json.RawMessage(`{"location":"s3://lake/wh/t","location":"s3://lake/wh/u"}`)
	if _, err := v.LoadTable(alice(t, mounts.ReadStorage), &mounts.LoadTableRequest{Table: id("t"), Delegation: "vended-credentials"}); err == nil {
		t.Error("metadata with two locations has credentials")
	} else {
		mustFail(t, err, mounts.Internal)
	}
}

// fixed answers loads with one table.
type fixed struct {
	mounts.Unsupported
	table mounts.Table
}

func (f *fixed) LoadTable(context.Context, *mounts.LoadTableRequest) (*mounts.Table, error) {
	out := f.table
	return &out, nil
}

func TestHintsBringNoSecretsAndReplaceNone(t *testing.T) {
	next := &fixed{table: mounts.Table{MetadataLocation: "s3://lake/wh/t/metadata/1.json", Metadata: json.RawMessage(`{"location":"s3://lake/wh/t"}`),
		Config: map[string]string{"s3.region": "of-the-table", "s3.session-token": "stale", "py-io-impl": "x"}}}
	v := Around(next, Options{Provider: newFake(), Warehouse: "s3://lake/wh", Hints: map[string]string{"s3.endpoint": "http://store", "s3.secret-access-key": "the-mounts-own",
		"s3.access-key-id": "the-mounts-own", "s3.path-style-access": "true"}})
	table, err := v.LoadTable(alice(t, mounts.ReadStorage), &mounts.LoadTableRequest{Table: id("t"), Delegation: "vended-credentials"})
	if err != nil {
		t.Fatal(err)
	}
	got := table.StorageCredentials[0].Config
	if got["s3.region"] != "of-the-table" || got["s3.endpoint"] != "http://store" || got["s3.access-key-id"] != "AKID1" || got["s3.session-token"] != "token-1" || got["py-io-impl"] != "" {
		t.Errorf("%v", got)
	}
	if table.Config["s3.session-token"] != "token-1" || table.Config["py-io-impl"] != "x" || next.table.Config["s3.session-token"] != "stale" {
		t.Errorf("%v", table.Config)
	}
}

func TestConformanceWithCredentials(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend {
		r := newRegistry(t)
		if err := r.DropNamespace(t.Context(), &mounts.DropNamespaceRequest{Namespace: mounts.Namespace{"sales"}}); err != nil {
			t.Fatal(err)
		}
		return r.Backend
	}})
}

func BenchmarkLoadTable(b *testing.B) {
	r := newRegistry(b)
	r.table(b, "orders")
	for name, row := range map[string]struct {
		ctx        context.Context
		delegation string
	}{"plain": {b.Context(), ""}, "cached": {alice(b, mounts.ReadStorage), "vended-credentials"}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.LoadTable(row.ctx, &mounts.LoadTableRequest{Table: id("orders"), Delegation: row.delegation}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
