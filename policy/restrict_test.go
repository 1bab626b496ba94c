package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// bound permits everything, and restricts loads.
type bound struct {
	permits
	by Restrictions
}

func (b bound) Decide(ctx context.Context, q Question) Decision {
	d := b.permits.Decide(ctx, q)
	if d.Allowed && q.Action == loadTable {
		d.Restrictions = &b.by
	}
	return d
}

func untrusted(q Question) bool { return q.Action != VendRestricted }

// people is a table's metadata with columns of all kinds.
const people = `{"format-version":2,"last-column-id":99,"schemas":[
 {"type":"struct","schema-id":0,"fields":[{"id":1,"name":"old_name","required":false,"type":"string"}]},
 {"type":"struct","schema-id":3,"fields":[
  {"id":1,"name":"name","required":false,"type":"string"},
  {"id":2,"name":"id","required":true,"type":"long"},
  {"id":3,"name":"born","required":false,"type":"timestamptz_ns"},
  {"id":4,"name":"salary","required":false,"type":"decimal(9, 2)"},
  {"id":5,"name":"address","required":false,"type":{"type":"struct","fields":[
     {"id":6,"name":"street","required":false,"type":"string"},{"id":7,"name":"zip","required":true,"type":"string"}]}},
  {"id":8,"name":"tags","required":false,"type":{"type":"map","key-id":9,"key":"string","value-id":10,"value":"string","value-required":false}},
  {"id":11,"name":"mails","required":false,"type":{"type":"list","element-id":12,"element":{"type":"struct","fields":[
     {"id":13,"name":"to","required":false,"type":"string"}]},"element-required":true}},
  {"id":14,"name":"address.street","required":false,"type":"string"},
  {"id":15,"name":"Name","required":false,"type":"fixed[16]"}]}],
 "current-schema-id":3,"snapshots":[],"properties":{"current-schema-id":"0"}}`

func bind(t testing.TB, r Restrictions, metadata, remote string) (string, error) {
	t.Helper()
	table := &mounts.Table{Metadata: json.RawMessage(metadata), Extra: map[string]json.RawMessage{"x-vendor": []byte(`1`)}}
	if remote != "" {
		table.Extra[readRestrictions] = []byte(remote)
	}
	out, err := r.bind(table)
	if err == nil && !json.Valid(out) {
		t.Errorf("not JSON: %s", out)
	}
	return string(out), err
}

func masked(column, action string) Restrictions {
	return Restrictions{Masks: map[string]string{column: action}}
}

func TestMasksNameColumnsByTheirIDs(t *testing.T) {
	for _, c := range []struct {
		column, action string
		id             int // 0: does not fit
	}{
		{"name", "mask-alphanum", 1}, {"name", "sha-256-global", 1}, {"name", "replace-with-null", 1}, {"name", "show-last-4", 1},
		{"id", "mask-to-fixed-value", 2}, {"id", "sha-256-query-local", 2}, {"id", "replace-with-null", 0}, {"id", "mask-alphanum", 0},
		{"born", "truncate-to-year", 3}, {"born", "sha-256-global", 0}, {"salary", "truncate-to-month", 0}, {"salary", "mask-to-fixed-value", 4},
		{"address", "replace-with-null", 5}, {"address", "mask-alphanum", 0}, {"address.zip", "show-first-4", 7}, {"address.zip", "replace-with-null", 0},
		{"tags.key", "mask-to-fixed-value", 0}, {"tags.value", "mask-alphanum", 10}, {"mails.element.to", "mask-alphanum", 13},
		{"address.street", "mask-alphanum", 0}, // two columns are called so
		{"Name", "mask-to-fixed-value", 15}, {"Name", "mask-alphanum", 0}, {"NAME", "mask-alphanum", 0},
		{"old_name", "mask-alphanum", 0}, {"missing", "replace-with-null", 0}, {"", "replace-with-null", 0},
		{"name", "mask-to-default", 0}, {"name", "", 0},
	} {
		got, err := bind(t, masked(c.column, c.action), people, "")
		want := fmt.Sprintf(`{"required-column-projections":[{"field-id":%d,"action":"%s"}]}`, c.id, c.action)
		if (c.id == 0) != (err != nil) || err == nil && got != want {
			t.Errorf("%s of %q: %s, %v", c.action, c.column, got, err)
		}
	}
}

func TestAMaskedStructCoversWhatIsInIt(t *testing.T) {
	got, err := bind(t, Restrictions{Masks: map[string]string{"address": "mask-to-fixed-value", "address.zip": "mask-alphanum", "name": "mask-alphanum"}}, people, "")
	want := `{"required-column-projections":[{"field-id":1,"action":"mask-alphanum"},{"field-id":5,"action":"mask-to-fixed-value"}]}`
	if err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
}

func TestFiltersNameColumnsByTheirIDs(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"type":"eq","term":"name","value":"x"}`, `{"type":"eq","left":{"type":"reference","id":1},"right":{"type":"literal","value":"x"}}`},
		{`{"type":"eq","left":{"type":"reference","name":"address.zip"},"right":{"type":"literal","value":"x","data-type":"string"}}`,
			`{"type":"eq","left":{"type":"reference","id":7},"right":{"type":"literal","value":"x","data-type":"string"}}`},
		{`{"type":"in","term":"id","values":[1,9007199254740993]}`, `{"type":"in","child":{"type":"reference","id":2},"values":[1,9007199254740993]}`},
		{`{"type":"not","child":{"type":"is-null","child":{"type":"reference","id":5}}}`, `{"type":"not","child":{"type":"is-null","child":{"type":"reference","id":5}}}`},
		{`{"type":"and","left":true,"right":{"type":"false"}}`, `{"type":"and","left":true,"right":false}`},
		{`{"type":"lt","left":{"type":"apply","function":"year","arguments":[{"type":"reference","name":"born"}]},"right":30}`,
			`{"type":"lt","left":{"type":"apply","function":"year","arguments":[{"type":"reference","id":3}]},"right":{"type":"literal","value":30}}`},
		{`{"type":"eq","left":"name","right":"x"}`, ""}, // a bare string there is a literal
		{`{"type":"eq","term":"missing","value":"x"}`, ""},
		{`{"type":"eq","term":"address.street","value":"x"}`, ""},
		{`{"type":"eq","term":"mails.element.to","value":"x"}`, ""},
		{`{"type":"eq","term":"address","value":"x"}`, ""},
		{`{"type":"eq","left":{"type":"reference","id":77},"right":1}`, ""},
		{`{"type":"eq","term":{"type":"transform","transform":"year","term":"born"},"value":1}`,
			`{"type":"eq","left":{"type":"apply","function":"year","arguments":[{"type":"reference","id":3}]},"right":{"type":"literal","value":1}}`},
		{`{"type":"eq","term":{"type":"transform","transform":"bucket[16]","term":"id"},"value":1}`, ""},
		{`{"type":"eq","term":"name","value":null}`, ""},
		{`{"type":"eq","term":"name","value":"x","and":1}`, ""},
		{`{"type":"eq","type":"eq","term":"name","value":"x"}`, ""},
		{`{"type":"like","term":"name","value":"x"}`, ""},
		{`{"type":"in","term":"name","values":"x"}`, ""},
		{`"name"`, ""}, {`null`, ""}, {``, ""}, {`{}`, ""}, {`[]`, ""},
		{strings.Repeat(`{"type":"not","child":`, 70) + `true` + strings.Repeat(`}`, 70), ""},
	} {
		got, err := bind(t, Restrictions{Filters: []json.RawMessage{[]byte(c.in)}}, people, "")
		if (c.want == "") != (err != nil) || err == nil && got != `{"required-row-filter":`+c.want+`}` {
			t.Errorf("%.80s: %s, %v", c.in, got, err)
		}
	}
	if err := CheckFilter([]byte(`{"type":"eq","term":"whatever","value":"x"}`)); err != nil {
		t.Errorf("a filter on columns that nobody knows yet: %v", err)
	}
	if CheckFilter([]byte(`{"type":"eq","term":"","value":"x"}`)) == nil || CheckFilter([]byte(`{"type":"like"}`)) == nil {
		t.Error("what is no filter passes")
	}
}

func TestFiltersAreAlternativesAndConjoinedWithTheRemotes(t *testing.T) {
	a, b := `{"type":"is-null","term":"name"}`, `{"type":"not-null","term":"id"}`
	aid, bid := `{"type":"is-null","child":{"type":"reference","id":1}}`, `{"type":"not-null","child":{"type":"reference","id":2}}`
	two := Restrictions{Filters: []json.RawMessage{[]byte(a), []byte(b)}}
	either := `{"type":"or","left":` + aid + `,"right":` + bid + `}`
	for remote, want := range map[string]string{
		"":                                     `{"required-row-filter":` + either + `}`,
		`null`:                                 `{"required-row-filter":` + either + `}`,
		`{"required-row-filter":null}`:         `{"required-row-filter":` + either + `}`,
		`{"required-row-filter":{"type":"x"}}`: `{"required-row-filter":{"type":"and","left":{"type":"x"},"right":` + either + `}}`,
		`{"required-column-projections":[{"field-id":77,"action":"new-one","salt":"x"}],"later":{"a":1}}`: `{"required-row-filter":` + either +
			`,"required-column-projections":[{"field-id":77,"action":"new-one","salt":"x"}],"later":{"a":1}}`,
	} {
		if got, err := bind(t, two, people, remote); err != nil || got != want {
			t.Errorf("%s: %s, %v", remote, got, err)
		}
	}
	for _, bad := range []string{`[]`, `1`, `{"required-column-projections":{}}`, `{"required-column-projections":[{"action":"x"}]}`, `{"a":1,"a":2}`,
		`{"required-column-projections":[{"field-id":1,"action":"x"},{"field-id":1,"action":"y"}]}`} {
		if got, err := bind(t, two, people, bad); err == nil {
			t.Errorf("%s of a remote is answered with %s", bad, got)
		}
	}
}

func TestOfTwoMasksTheStricterStays(t *testing.T) {
	remote := func(id int, action string) string {
		return fmt.Sprintf(`{"required-column-projections":[{"field-id":%d,"action":%q,"by":"remote"}]}`, id, action)
	}
	ours := func(id int, action string) string {
		return fmt.Sprintf(`{"required-column-projections":[{"field-id":%d,"action":%q}]}`, id, action)
	}
	for _, c := range []struct{ column, action, remote, want string }{
		{"name", "replace-with-null", remote(1, "mask-alphanum"), ours(1, "replace-with-null")},
		{"name", "mask-alphanum", remote(1, "sha-256-global"), remote(1, "sha-256-global")},
		{"name", "mask-alphanum", remote(1, "mask-alphanum"), remote(1, "mask-alphanum")},
		{"name", "show-first-4", remote(1, "show-last-4"), ours(1, "mask-alphanum")},
		{"name", "replace-with-null", remote(1, "new-one"), ours(1, "replace-with-null")},
		{"name", "mask-alphanum", remote(1, "new-one"), ""},
		{"address", "replace-with-null", remote(7, "new-one"), ours(5, "replace-with-null")},
		{"address.zip", "mask-alphanum", remote(5, "mask-to-fixed-value"), remote(5, "mask-to-fixed-value")},
		{"address.zip", "mask-alphanum", remote(5, "new-one"), ""},
	} {
		got, err := bind(t, masked(c.column, c.action), people, c.remote)
		if (c.want == "") != (err != nil) || err == nil && got != c.want {
			t.Errorf("%s on %s with %s: %s, %v", c.action, c.column, c.remote, got, err)
		}
	}
	for _, a := range masks {
		for _, b := range masks {
			if Stricter(a.action, b.action) != Stricter(b.action, a.action) {
				t.Errorf("%s and %s: it depends on which comes first", a.action, b.action)
			}
		}
	}
	if Stricter("mask-alphanum", "unknown") != "replace-with-null" {
		t.Error("nothing is known of an unknown action")
	}
}

func TestOddSchemasAreRefused(t *testing.T) {
	for what, metadata := range map[string]string{
		"none":             `{}`,
		"no current one":   `{"schemas":[{"schema-id":0,"fields":[]}],"current-schema-id":1}`,
		"two current ones": `{"schemas":[{"schema-id":1,"fields":[]},{"schema-id":1,"fields":[]}],"current-schema-id":1}`,
		"the id twice":     `{"current-schema-id":0,"current-schema-id":1,"schemas":[{"schema-id":0,"fields":[{"id":1,"name":"name","type":"string"}]}]}`,
		"two of one id":    `{"schemas":[{"schema-id":0,"fields":[{"id":1,"name":"name","type":"string"},{"id":1,"name":"b","type":"string"}]}],"current-schema-id":0}`,
		"no id":            `{"schemas":[{"schema-id":0,"fields":[{"name":"name","type":"string"}]}],"current-schema-id":0}`,
		"an unknown type":  `{"schemas":[{"schema-id":0,"fields":[{"id":1,"name":"name","type":{"type":"union"}}]}],"current-schema-id":0}`,
		"cut":              people[:len(people)-1],
		"no object":        `[]`,
	} {
		if got, err := bind(t, masked("name", "mask-alphanum"), metadata, ""); err == nil {
			t.Errorf("%s: %s", what, got)
		}
	}
	old := `{"format-version":1,"schema":{"type":"struct","fields":[{"id":4,"name":"name","required":false,"type":"string"}]}}`
	if got, err := bind(t, masked("name", "mask-alphanum"), old, ""); err != nil || !strings.Contains(got, `"field-id":4`) {
		t.Errorf("format 1: %s, %v", got, err)
	}
}

func TestARestrictedLoadIsAnsweredForThisCallerAlone(t *testing.T) {
	b := newGenerous(t)
	b.extra = map[string]json.RawMessage{readRestrictions: []byte(`{"required-row-filter":false}`), "x-vendor": []byte(`1`)}
	policy := bound{permits(untrusted), masked("note", "mask-alphanum")}
	policy.by.Masks = map[string]string{"id": "mask-to-fixed-value"}
	g := b.behind(t, 0, policy, nil)
	free, err := b.behind(t, 0, permits(ownTenant), nil).LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: orders})
	if err != nil || free.ETag == "" || string(free.Extra[readRestrictions]) != `{"required-row-filter":false}` {
		t.Fatal(free, err)
	}
	table, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: orders, IfNoneMatch: free.ETag, Delegation: "vended-credentials"})
	if err != nil {
		t.Fatal(err)
	}
	if table.NotModified || table.ETag != "" || shows(table) || b.last.(*mounts.LoadTableRequest).Delegation != "" || b.caller.Storage != 0 {
		t.Errorf("%+v after %+v", table, b.last)
	}
	want := `{"required-row-filter":false,"required-column-projections":[{"field-id":1,"action":"mask-to-fixed-value"}]}`
	if string(table.Extra[readRestrictions]) != want || string(table.Extra["x-vendor"]) != "1" {
		t.Errorf("%s", table.Extra)
	}
	if string(b.extra[readRestrictions]) != `{"required-row-filter":false}` {
		t.Error("the backend's answer was changed")
	}
}

func TestARestrictedCallerIsGivenNoWayAround(t *testing.T) {
	moved := mounts.Identifier{Namespace: ns("a"), Name: "moved"}
	change := func(action string) mounts.CommitTableRequest {
		return mounts.CommitTableRequest{Table: orders, Updates: []json.RawMessage{[]byte(`{"action":"` + action + `"}`)}}
	}
	schema, properties := change("add-schema"), change("set-properties")
	shouted, twice := change("ADD-SCHEMA"), change(`add-schema","Action":"set-properties`)
	renamed := change(`set-properties","\u0041ction":"set-current-schema`)
	requests := func() map[mounts.Request]bool {
		return map[mounts.Request]bool{
			&mounts.LoadCredentialsRequest{Table: orders}:                                     false,
			&mounts.SignStorageRequest{Table: orders, Body: []byte(`{"method":"GET"}`)}:       false,
			&mounts.PlanScanRequest{Table: orders}:                                            false,
			&mounts.FetchPlanRequest{Table: orders, PlanID: "1"}:                              false,
			&mounts.FetchScanTasksRequest{Table: orders}:                                      false,
			&mounts.RenameTableRequest{Source: orders, Destination: moved}:                    false,
			&mounts.UnregisterTableRequest{Table: orders}:                                     false,
			&mounts.RegisterTableRequest{Namespace: ns("a"), Name: "orders", Overwrite: true}: false,
			&schema: false, &shouted: false, &twice: false, &renamed: false,
			&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{properties, schema}}: false,
			&properties: true,
			&mounts.TableExistsRequest{Table: orders}:                                            true,
			&mounts.LoadViewRequest{View: mounts.Identifier{Namespace: ns("a"), Name: "recent"}}: true,
		}
	}
	for req, passes := range requests() {
		b := newGenerous(t)
		b.last = nil
		g := b.behind(t, 0, bound{permits(untrusted), masked("id", "mask-to-fixed-value")}, nil)
		_, err := mounts.Invoke(as(t, alice()), g, req)
		if denied := err != nil && mounts.AsError(err).Kind == mounts.Forbidden; denied == passes || denied == (b.last != nil) {
			t.Errorf("%s: %v (reached the backend: %v)", req.Op(), err, b.last != nil)
		}
	}
	// An engine that is trusted to apply the restriction gets at the files.
	for req := range requests() {
		switch req.(type) {
		case *mounts.LoadCredentialsRequest, *mounts.SignStorageRequest, *mounts.PlanScanRequest, *mounts.FetchPlanRequest, *mounts.FetchScanTasksRequest:
		default:
			continue
		}
		g := newGenerous(t).behind(t, 0, bound{permits(ownTenant), masked("id", "mask-to-fixed-value")}, nil)
		if _, err := mounts.Invoke(as(t, alice()), g, req); err != nil {
			t.Errorf("%s by an engine that is trusted: %v", req.Op(), err)
		}
	}
	g := newGenerous(t).behind(t, 0, bound{permits(ownTenant), masked("id", "mask-to-fixed-value")}, nil)
	table, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: orders, Delegation: "vended-credentials"})
	if err != nil || !shows(table) || len(table.Extra[readRestrictions]) == 0 {
		t.Errorf("a load by an engine that is trusted: %v, %v", table, err)
	}
}

func TestARestrictionThatDoesNotFitRefusesTheLoadAndHidesTheRowsOfWhatWasMade(t *testing.T) {
	b := newGenerous(t)
	g := b.behind(t, 0, bound{permits(untrusted), masked("no_such_column", "mask-alphanum")}, nil)
	_, err := g.LoadTable(as(t, alice()), &mounts.LoadTableRequest{Table: orders})
	e := mounts.AsError(err)
	if err == nil || e.Kind != mounts.Forbidden || !strings.Contains(e.Message(), "operator") || strings.Contains(e.Message(), "no_such_column") {
		t.Error(err)
	}
	table, err := g.CreateTable(as(t, alice()), &mounts.CreateTableRequest{Namespace: ns("a"), Name: "fresh", Schema: schemaOf(t, g)})
	if err != nil || string(table.Extra[readRestrictions]) != `{"required-row-filter":false}` || table.ETag != "" {
		t.Errorf("%v, %v", table, err)
	}
}

func FuzzFilters(f *testing.F) {
	for _, s := range []string{`{"type":"eq","term":"name","value":"x"}`, `{"type":"in","term":"id","values":[1]}`, `true`, `{"type":"not","child":false}`} {
		f.Add(s)
	}
	of, err := currentColumns([]byte(people))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, err := bindFilter([]byte(s), of)
		if err != nil {
			return
		}
		if CheckFilter([]byte(s)) != nil {
			t.Errorf("%q passes with columns and not without", s)
		}
		again, err := bindFilter(out, of)
		if err != nil || string(again) != string(out) {
			t.Errorf("%q became %q, and that %q, %v", s, out, again, err)
		}
	})
}
