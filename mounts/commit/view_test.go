package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/iceberg-go/view"

	"github.com/icefield/icefield/mounts"
)

var viewIdent = mounts.Identifier{Namespace: mounts.Namespace{"db"}, Name: "recent"}

// sparkColumns is a schema as Spark sends it for a view: ids from 0.
const sparkColumns = `{"type":"struct","schema-id":0,"fields":[{"id":0,"name":"id","required":false,"type":"long"},{"id":1,"name":"ts","required":false,"type":"timestamptz"}]}`

// query is one SQL representation.
func query(dialect, sql string) string {
	return fmt.Sprintf(`{"type":"sql","sql":%q,"dialect":%q}`, sql, dialect)
}

// versionOf is a view version over some representations.
func versionOf(id, schema int, at int64, representations ...string) string {
	return fmt.Sprintf(`{"version-id":%d,"schema-id":%d,"timestamp-ms":%d,"summary":{"engine-name":"spark"},"default-catalog":"prod","default-namespace":["db"],"representations":[%s]}`,
		id, schema, at, strings.Join(representations, ","))
}

func addVersion(version string) string {
	return `{"action":"add-view-version","view-version":` + version + `}`
}

func setVersion(id int) string {
	return fmt.Sprintf(`{"action":"set-current-view-version","view-version-id":%d}`, id)
}

func viewRequest(schema, version string, properties map[string]string) *mounts.CreateViewRequest {
	return &mounts.CreateViewRequest{Namespace: viewIdent.Namespace, Name: viewIdent.Name,
		Schema: json.RawMessage(schema), ViewVersion: json.RawMessage(version), Properties: properties}
}

// aView has one version, in the dialects spark and trino.
func aView(t testing.TB, properties map[string]string) json.RawMessage {
	t.Helper()
	doc, err := CreateView(viewRequest(sparkColumns, versionOf(7, 3, now, query("spark", "select 1"), query("Trino", "select 1")), properties), "s3://b/db/recent/", fixed())
	if err != nil {
		t.Fatal(err)
	}
	return readableView(t, doc)
}

func readableView(t testing.TB, doc json.RawMessage) json.RawMessage {
	t.Helper()
	if _, err := view.ParseMetadataBytes(doc); err != nil {
		t.Fatalf("iceberg-go cannot read the result: %v\n%s", err, doc)
	}
	if _, err := InspectView(doc); err != nil {
		t.Fatalf("InspectView refuses the result: %v\n%s", err, doc)
	}
	return doc
}

func commitToView(base json.RawMessage, requirements, updates string) (*Result, error) {
	req := &mounts.ReplaceViewRequest{View: viewIdent, Requirements: raws(requirements), Updates: raws(updates)}
	if base == nil {
		return View(nil, req, fixed())
	}
	return View(&Base{Metadata: base, Location: "s3://b/v/metadata/1.json"}, req, fixed())
}

func mustView(t testing.TB, base json.RawMessage, updates string) json.RawMessage {
	t.Helper()
	res, err := commitToView(base, ``, updates)
	if err != nil {
		t.Fatalf("%s: %v", updates, err)
	}
	return readableView(t, res.Metadata)
}

func TestANewViewIsVersionOneOfSchemaZero(t *testing.T) {
	doc := aView(t, map[string]string{"comment": "x"})
	want := `{"view-uuid":"` + tableUUID + `","format-version":1,"location":"s3://b/db/recent","properties":{"comment":"x"},"schemas":[` + sparkColumns + `],` +
		`"current-version-id":1,"versions":[{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{"engine-name":"spark"},"default-catalog":"prod","default-namespace":["db"],` +
		`"representations":[` + query("spark", "select 1") + `,` + query("Trino", "select 1") + `]}],"version-log":[{"timestamp-ms":1700000000000,"version-id":1}]}`
	if string(doc) != want {
		t.Fatalf("got  %s\nwant %s", doc, want)
	}
}

func TestAReplacedViewGetsTheNextVersionAndALogEntry(t *testing.T) {
	doc := aView(t, nil)
	wide := strings.Replace(sparkColumns, `]}`, `,{"id":2,"name":"v","required":false,"type":"variant"}]}`, 1)
	res, err := commitToView(doc, `{"type":"assert-view-uuid","uuid":"`+strings.ToUpper(tableUUID)+`"}`,
		addSchema(wide)+","+addVersion(versionOf(1, -1, now+5, query("spark", "select 2"), query("trino", "select 2")))+","+setVersion(-1))
	if err != nil {
		t.Fatal(err)
	}
	if !res.Changed || res.TableLocation != "s3://b/db/recent" {
		t.Fatalf("changed %v, location %s", res.Changed, res.TableLocation)
	}
	readableView(t, res.Metadata)
	wants(t, res.Metadata, "2", "current-version-id")
	wants(t, res.Metadata, "2", "versions", 1, "version-id")
	wants(t, res.Metadata, "1", "versions", 1, "schema-id")
	wants(t, res.Metadata, `{"timestamp-ms":1700000000005,"version-id":2}`, "version-log", 1)
	wants(t, res.Metadata, `"s3://b/db/recent"`, "location")
}

func TestAProposedVersionIDStandsOnlyAboveAllOthers(t *testing.T) {
	doc := mustView(t, aView(t, nil), addVersion(versionOf(5, 0, now, query("spark", "a"), query("trino", "a")))+","+setVersion(5))
	wants(t, doc, "5", "current-version-id")
	for _, id := range []int{0, -7, 3, 5} {
		wants(t, mustView(t, doc, addVersion(versionOf(id, 0, now, query("spark", "b"), query("trino", "a")))+","+setVersion(-1)), "6", "current-version-id")
	}
	last := mustView(t, doc, addVersion(versionOf(2147483647, 0, now, query("spark", "b"))))
	_, err := commitToView(last, ``, addVersion(versionOf(1, 0, now, query("spark", "c"))))
	refused(t, err, mounts.ValidationFailed, "no version ids left")
}

func TestARepeatedVersionIsTheOlderOne(t *testing.T) {
	doc := aView(t, nil)
	again := addSchema(strings.Replace(sparkColumns, `"schema-id":0`, `"schema-id":9`, 1)) + "," +
		addVersion(versionOf(44, -1, now+99, query("spark", "select 1"), query("Trino", "select 1")))
	res, err := commitToView(doc, ``, again+","+setVersion(-1))
	if err != nil || res.Changed || string(res.Metadata) != string(doc) {
		t.Fatalf("a repeated version changed the view: %v, %v", res, err)
	}
	doc = mustView(t, doc, addVersion(versionOf(2, 0, now+1, query("spark", "b"), query("trino", "b")))+","+setVersion(-1))
	doc = mustView(t, doc, again+","+setVersion(-1))
	wants(t, doc, "1", "current-version-id")
	wants(t, doc, `{"timestamp-ms":1700000000001,"version-id":1}`, "version-log", 2) // now, but not before the last entry
	if n := strings.Count(get(t, doc, "versions"), `"version-id"`); n != 2 {
		t.Fatalf("%d versions", n)
	}
}

func TestUpdatesThatChangeNothingWriteNothing(t *testing.T) {
	doc := aView(t, map[string]string{"k": "v"})
	for _, updates := range []string{
		``, `{"action":"assign-uuid","uuid":"` + strings.ToUpper(tableUUID) + `"}`, `{"action":"upgrade-format-version","format-version":1}`,
		addSchema(sparkColumns), `{"action":"set-location","location":"s3://b/db/recent/"}`, setVersion(1),
		`{"action":"set-properties","updates":{"k":"v"}}`, `{"action":"remove-properties","removals":["absent"]}`,
	} {
		res, err := commitToView(doc, ``, updates)
		if err != nil || res.Changed || string(res.Metadata) != string(doc) || res.TableLocation != "s3://b/db/recent" {
			t.Errorf("%s: %v, %v", updates, res, err)
		}
	}
}

func TestLocationMovesOnlyBySetLocation(t *testing.T) {
	doc := mustView(t, aView(t, nil), `{"action":"set-location","location":"s3://b/else/"},{"action":"set-properties","updated":{"a":"<&>"}},{"action":"remove-properties","removed":["b"]}`)
	wants(t, doc, `"s3://b/else"`, "location")
	wants(t, doc, `"<&>"`, "properties", "a")
}

func TestAReplaceKeepsEveryDialectUnlessTheViewAllowsTheLoss(t *testing.T) {
	doc := aView(t, nil)
	replace := addVersion(versionOf(2, 0, now, query("SPARK", "select 2"))) + "," + setVersion(-1)
	_, err := commitToView(doc, ``, replace)
	refused(t, err, mounts.InvalidArgument, "Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false): trino is missing")
	mustView(t, doc, `{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"TRUE"}},`+replace)
	// Adding a version is no replace.
	mustView(t, doc, addVersion(versionOf(2, 0, now, query("spark", "select 2"))))
	_, err = commitToView(doc, ``, `{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"true","replace.append-dialect.allowed":"true"}}`)
	refused(t, err, mounts.InvalidArgument, "Cannot set both")
}

func TestADialectHasOneQuery(t *testing.T) {
	const want = "Invalid view version: Cannot add multiple queries for dialect trino"
	twice := versionOf(2, 0, now, query("Trino", "a"), query("spark", "a"), query("TRINO", "b"))
	_, err := commitToView(aView(t, nil), ``, addVersion(twice))
	refused(t, err, mounts.InvalidArgument, want)
	if e := mounts.AsError(err); e.Message() != want {
		t.Errorf("the message is %q", e.Message())
	}
	_, err = CreateView(viewRequest(sparkColumns, twice, nil), "s3://b/v", fixed())
	refused(t, err, mounts.InvalidArgument, want)
}

func TestOldVersionsGoAndTheLogWithThem(t *testing.T) {
	doc := aView(t, map[string]string{"version.history.num-entries": "3"})
	next := func(n int) string {
		return addVersion(versionOf(1, 0, now+int64(n), query("spark", fmt.Sprint(n)), query("trino", fmt.Sprint(n))))
	}
	for n := range 4 {
		doc = mustView(t, doc, next(n)+","+setVersion(-1))
	}
	ids := func(doc json.RawMessage, key string) string {
		all, _ := elements([]byte(get(t, doc, key)))
		var ids []string
		for _, raw := range all {
			id, _ := idOf(raw, "version-id")
			ids = append(ids, fmt.Sprint(id))
		}
		return strings.Join(ids, " ")
	}
	if got := ids(doc, "versions") + "|" + ids(doc, "version-log"); got != "3 4 5|3 4 5" {
		t.Fatalf("got %s", got)
	}
	// The current version stays, however old; the log restarts behind a gap.
	doc = mustView(t, doc, setVersion(3))
	doc = mustView(t, doc, next(9))
	if got := ids(doc, "versions") + "|" + ids(doc, "version-log"); got != "3 5 6|5 3" {
		t.Fatalf("got %s", got)
	}
	// What one commit adds stays, whatever the limit.
	doc = mustView(t, doc, `{"action":"set-properties","updates":{"version.history.num-entries":"1"}},`+next(10)+","+next(11))
	if got := ids(doc, "versions") + "|" + ids(doc, "version-log"); got != "3 7 8|3" {
		t.Fatalf("got %s", got)
	}
	doc = mustView(t, doc, `{"action":"set-properties","updates":{"k":"w"}}`)
	if got := ids(doc, "versions"); got != "3" {
		t.Fatalf("got %s", got)
	}
	for _, size := range []string{"0", "-1", "many"} {
		_, err := commitToView(doc, ``, `{"action":"set-properties","updates":{"version.history.num-entries":"`+size+`"}}`)
		refused(t, err, mounts.InvalidArgument, "must be positive but was "+size)
	}
}

func TestTenVersionsAreKeptByDefault(t *testing.T) {
	doc := aView(t, nil)
	for n := range 12 {
		doc = mustView(t, doc, addVersion(versionOf(1, 0, now, query("spark", fmt.Sprint(n)), query("trino", "x")))+","+setVersion(-1))
	}
	if n := strings.Count(get(t, doc, "versions"), `"version-id"`); n != 10 {
		t.Fatalf("%d versions", n)
	}
}

func TestViewRequirements(t *testing.T) {
	doc := aView(t, nil)
	_, err := commitToView(doc, `{"type":"assert-view-uuid","uuid":"00000000-0000-0000-0000-000000000001"}`, ``)
	refused(t, err, mounts.CommitConflict, "Requirement failed: view UUID does not match: expected "+tableUUID)
	for requirement, part := range map[string]string{
		`{"type":"assert-table-uuid","uuid":"` + tableUUID + `"}`: "unknown requirement",
		`{"type":"assert-create"}`:                                "unknown requirement",
		`{"type":"assert-view-uuid"}`:                             `"uuid" is missing`,
		`{"type":"assert-view-uuid","uuid":"x"}`:                  "not a UUID",
		`{"uuid":"x"}`:                                            `"type" is missing`,
		`7`:                                                       "not a JSON object",
	} {
		_, err := commitToView(doc, requirement, ``)
		refused(t, err, mounts.BadRequest, part)
	}
	_, err = commitToView(nil, ``, ``)
	refused(t, err, mounts.NoSuchView, "")
}

func TestViewUpdatesThatAreRefused(t *testing.T) {
	doc := aView(t, nil)
	whole := versionOf(2, 0, now, query("spark", "b"), query("trino", "b"))
	without := func(key string) string {
		o, _ := parseObject([]byte(whole))
		o.remove(key)
		return addVersion(string(o.encode()))
	}
	with := func(key, value string) string {
		o, _ := parseObject([]byte(whole))
		o.set(key, []byte(value))
		return addVersion(string(o.encode()))
	}
	for _, test := range []struct {
		update string
		kind   mounts.Kind
		part   string
	}{
		{`{"action":"add-snapshot","snapshot":{}}`, mounts.BadRequest, "unknown update"},
		{`{"action":"add-view-version"}`, mounts.BadRequest, `"view-version" is missing`},
		{`{"action":"set-current-view-version"}`, mounts.BadRequest, `"view-version-id" is missing`},
		{`{"action":"assign-uuid","uuid":"00000000-0000-0000-0000-000000000001"}`, mounts.ValidationFailed, "never changes"},
		{`{"action":"upgrade-format-version","format-version":2}`, mounts.ValidationFailed, "not supported"},
		{`{"action":"upgrade-format-version","format-version":0}`, mounts.ValidationFailed, "not supported"},
		{`{"action":"set-location","location":"/"}`, mounts.ValidationFailed, "cannot be empty"},
		{setVersion(9), mounts.ValidationFailed, "no view version with the id 9"},
		{setVersion(-1), mounts.ValidationFailed, "none was added"},
		{addVersion(versionOf(2, -1, now, query("spark", "b"))), mounts.ValidationFailed, "none was added"},
		{addVersion(versionOf(2, 8, now, query("spark", "b"))), mounts.ValidationFailed, "names the schema 8"},
		{addVersion(versionOf(2, 0, now)), mounts.InvalidArgument, "no representations"},
		{without("version-id"), mounts.BadRequest, "needs"}, {without("schema-id"), mounts.BadRequest, "needs"},
		{without("timestamp-ms"), mounts.BadRequest, "needs"}, {without("summary"), mounts.BadRequest, "needs"},
		{without("default-namespace"), mounts.BadRequest, "needs"}, {without("representations"), mounts.BadRequest, "needs"},
		{with("version-id", "2147483648"), mounts.BadRequest, "is not an id"},
		{with("timestamp-ms", "-1"), mounts.BadRequest, "negative"},
		{with("default-namespace", `["a",null]`), mounts.BadRequest, "does not have the type"},
		{with("summary", `{"a":null}`), mounts.BadRequest, "does not have the type"},
		{with("representations", `[null]`), mounts.BadRequest, "not an object"},
		{with("representations", `[{"type":"sql","sql":"x"}]`), mounts.BadRequest, "needs"},
		{with("representations", `[{"type":"sql","sql":" ","dialect":"x"}]`), mounts.BadRequest, "is empty"},
		{with("representations", `[{"type":"plan"}]`), mounts.BadRequest, "only sql is defined"},
		{addSchema(`{"type":"struct","fields":[{"id":-1,"name":"a","required":false,"type":"int"}]}`), mounts.ValidationFailed, "ids are 0 to"},
	} {
		_, err := commitToView(doc, ``, `{"action":"set-properties","updates":{"k":"v"}},`+test.update)
		refused(t, err, test.kind, test.part)
	}
}

func TestInspectViewReadsWhatARegistryNeeds(t *testing.T) {
	sum, err := InspectView(aView(t, map[string]string{"k": "v"}))
	if err != nil {
		t.Fatal(err)
	}
	if sum.UUID != tableUUID || sum.Location != "s3://b/db/recent" || sum.FormatVersion != 1 || sum.LastUpdatedMS != now || sum.Properties["k"] != "v" {
		t.Fatalf("got %+v", sum)
	}
}

func TestInspectViewRefusesWhatReadersCannotRead(t *testing.T) {
	doc := aView(t, nil)
	change := func(key, value string) string {
		o, _ := parseObject(doc)
		if value == "" {
			o.remove(key)
		} else {
			o.set(key, []byte(value))
		}
		return string(o.encode())
	}
	for text, part := range map[string]string{
		string(made(t, 2)):                "not the metadata of a view",
		change("view-uuid", ""):           "not the metadata of a view",
		change("view-uuid", `"x"`):        "not a UUID",
		change("location", ""):            "missing or empty",
		change("format-version", "2"):     "view format version 2",
		change("current-version-id", "4"): "does not exist",
		change("versions", "[]"):          "does not exist",
		change("version-log", ""):         "missing",
		change("version-log", `[{}]`):     "version-log",
		change("schemas", `[]`):           "does not exist",
		change("properties", `{"a":1}`):   "not a string",
		change("versions", `[{"version-id":1,"schema-id":0,"timestamp-ms":1}]`):                                     "needs",
		change("schemas", `[`+sparkColumns+`,`+sparkColumns+`]`):                                                    "an id twice",
		change("versions", `[`+versionOf(1, 0, now, query("a", "b"))+`,`+versionOf(1, 0, now, query("a", "c"))+`]`): "an id twice",
		change("versions", `[`+versionOf(1, 0, now, query("a", "b"))+`,`+versionOf(2, 5, now, query("a", "c"))+`]`): "does not exist",
		change("versions", `[`+versionOf(1, 0, now, `{"type":"sql"}`)+`]`):                                          "needs",
		`{`:  "not valid JSON",
		`[]`: "not Iceberg view metadata",
	} {
		_, err := InspectView(json.RawMessage(text))
		if e := mounts.AsError(err); err == nil || e.Kind != mounts.ValidationFailed || !strings.Contains(e.Message(), part) {
			t.Errorf("%s: got %v, want %s", text, err, part)
		}
	}
	if _, err := Inspect(doc); err == nil || !strings.Contains(mounts.AsError(err).Message(), "it is a view's") {
		t.Errorf("Inspect of a view: %v", err)
	}
	// A representation that is not known here does no harm where it is stored.
	if _, err := InspectView(json.RawMessage(change("versions", `[`+versionOf(1, 0, now, `{"type":"plan","x":1}`)+`]`))); err != nil {
		t.Error(err)
	}
}
