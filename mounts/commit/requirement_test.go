package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestRequirements(t *testing.T) {
	doc := must(t, grown(t, 2, 2), ``, setRef("v1", "tag", 101))
	empty := made(t, 2)
	for name, test := range map[string]struct {
		requirement string
		fails       string // empty: holds
	}{
		"uuid":                     {requirement: `{"type":"assert-table-uuid","uuid":"` + tableUUID + `"}`},
		"uuid in capitals":         {requirement: `{"type":"assert-table-uuid","uuid":"` + strings.ToUpper(tableUUID) + `"}`},
		"other uuid":               {`{"type":"assert-table-uuid","uuid":"00000000-0000-0000-0000-000000000001"}`, "Requirement failed: UUID does not match"},
		"ref":                      {requirement: `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":102}`},
		"ref moved":                {`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":101}`, "Requirement failed: branch main has changed"},
		"ref exists":               {`{"type":"assert-ref-snapshot-id","ref":"v1","snapshot-id":null}`, "Requirement failed: tag v1 was created concurrently"},
		"ref exists, key left out": {`{"type":"assert-ref-snapshot-id","ref":"v1"}`, "Requirement failed: tag v1 was created concurrently"},
		"ref is missing":           {`{"type":"assert-ref-snapshot-id","ref":"dev","snapshot-id":101}`, "Requirement failed: branch or tag dev is missing"},
		"ref shall be missing":     {requirement: `{"type":"assert-ref-snapshot-id","ref":"dev","snapshot-id":null}`},
		"minus one is no snapshot": {`{"type":"assert-ref-snapshot-id","ref":"dev","snapshot-id":-1}`, "Requirement failed: branch or tag dev is missing"},
		"field id":                 {requirement: `{"type":"assert-last-assigned-field-id","last-assigned-field-id":2}`},
		"other field id":           {`{"type":"assert-last-assigned-field-id","last-assigned-field-id":1}`, "Requirement failed: last assigned field id changed"},
		"schema":                   {requirement: `{"type":"assert-current-schema-id","current-schema-id":0}`},
		"other schema":             {`{"type":"assert-current-schema-id","current-schema-id":1}`, "Requirement failed: current schema changed"},
		"partition id":             {requirement: `{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":1000}`},
		"other partition id":       {`{"type":"assert-last-assigned-partition-id","last-assigned-partition-id":999}`, "Requirement failed: last assigned partition id changed"},
		"spec":                     {requirement: `{"type":"assert-default-spec-id","default-spec-id":0}`},
		"other spec":               {`{"type":"assert-default-spec-id","default-spec-id":1}`, "Requirement failed: default partition spec changed"},
		"order":                    {requirement: `{"type":"assert-default-sort-order-id","default-sort-order-id":1}`},
		"other order":              {`{"type":"assert-default-sort-order-id","default-sort-order-id":0}`, "Requirement failed: default sort order changed"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, updates := range []string{``, `{"action":"set-properties","updates":{"a":"b"}}`} {
				res, err := commitTo(doc, test.requirement, updates)
				if test.fails != "" {
					refused(t, err, mounts.CommitConflict, test.fails)
				} else if err != nil {
					t.Fatal(err)
				} else if res.Changed != (updates != "") {
					t.Fatalf("changed: %v after %q", res.Changed, updates)
				}
			}
		})
	}
	_, err := commitTo(empty, `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`, ``)
	if err != nil {
		t.Fatalf("an empty table has no main: %v", err)
	}
}

func TestMainIsImpliedWhereADocumentHasNoRefs(t *testing.T) {
	o, _ := parseObject(grown(t, 2, 1))
	o.remove("refs")
	if _, err := commitTo(o.encode(), `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":101}`, ``); err != nil {
		t.Fatal(err)
	}
	_, err := commitTo(o.encode(), `{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}`, ``)
	refused(t, err, mounts.CommitConflict, "created concurrently")
}

func TestAllRequirementsAreCheckedBeforeAnyUpdate(t *testing.T) {
	_, err := commitTo(made(t, 2),
		`{"type":"assert-current-schema-id","current-schema-id":0},{"type":"assert-current-schema-id","current-schema-id":7}`,
		`{"action":"set-current-schema","schema-id":99}`)
	refused(t, err, mounts.CommitConflict, "current schema changed")
}

func TestAssertCreate(t *testing.T) {
	_, err := commitTo(made(t, 2), `{"type":"assert-create"}`, ``)
	refused(t, err, mounts.AlreadyExists, "Requirement failed: table already exists")
	_, err = commitTo(nil, `{"type":"assert-create"},{"type":"assert-table-uuid","uuid":"x"}`, ``)
	refused(t, err, mounts.BadRequest, "assert-create")
	_, err = commitTo(nil, `{"type":"assert-table-uuid","uuid":"x"}`, ``)
	refused(t, err, mounts.NoSuchTable, "Table does not exist: db.events")
	_, err = commitTo(nil, ``, `{"action":"set-location","location":"s3://b/x"}`)
	refused(t, err, mounts.NoSuchTable, "")
}

func TestUnknownRequirementsAndUpdatesAreNamedBeforeAnythingElse(t *testing.T) {
	for name, test := range map[string]struct{ requirements, updates, part string }{
		"requirement":         {`{"type":"assert-moon-phase"}`, ``, `unknown requirement "assert-moon-phase"`},
		"view's requirement":  {`{"type":"assert-view-uuid","uuid":"x"}`, ``, `"assert-view-uuid"`},
		"update":              {`{"type":"assert-table-uuid","uuid":"wrong"}`, `{"action":"set-location","location":"s3://b/x"},{"action":"add-view-version"}`, `unknown update "add-view-version"`},
		"no type":             {`{"uuid":"x"}`, ``, `"type" is missing`},
		"no action":           {``, `{"location":"x"}`, `"action" is missing`},
		"not an object":       {``, `17`, "not a JSON object"},
		"null":                {``, `null`, "not a JSON object"},
		"requirement is null": {`null`, ``, `"type" is missing`},
		"no uuid":             {`{"type":"assert-table-uuid"}`, ``, `"uuid" is missing`},
		"no id":               {`{"type":"assert-default-spec-id"}`, ``, `"default-spec-id" is missing`},
		"no ref":              {`{"type":"assert-ref-snapshot-id"}`, ``, `"ref" is missing`},
		"fraction":            {`{"type":"assert-default-spec-id","default-spec-id":0.5}`, ``, `"/default-spec-id"`},
		"beyond int64":        {`{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":9223372036854775808}`, ``, `"/snapshot-id"`},
		"name twice":          {``, `{"action":"set-location","location":"a","location":"b"}`, "twice"},
		"too deep":            {``, `{"action":"set-location","location":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`, "deeper than"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, base := range [][]byte{nil, made(t, 2)} {
				_, err := commitTo(base, test.requirements, test.updates)
				refused(t, err, mounts.BadRequest, test.part)
			}
		})
	}
}

func TestTheNumberOfUpdatesIsBounded(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(`{"action":"remove-properties","removals":[]},`, maxUpdates+1), ",")
	_, err := commitTo(made(t, 2), ``, many)
	refused(t, err, mounts.BadRequest, "at most")
	many = strings.TrimSuffix(strings.Repeat(`{"action":"remove-snapshots","snapshot-ids":[]},`, maxSent+1), ",")
	_, err = commitTo(made(t, 2), ``, many)
	refused(t, err, mounts.BadRequest, "at most")
	many = strings.TrimSuffix(strings.Repeat(`{"type":"assert-create"},`, maxRequirements+1), ",")
	_, err = commitTo(nil, many, ``)
	refused(t, err, mounts.BadRequest, "at most")
}

// TestALongHistoryIsExpiredOneUpdateASnapshot: that is how older Java clients
// send it, and a table that gets a snapshot a minute has 10,080 a week.
func TestALongHistoryIsExpiredOneUpdateASnapshot(t *testing.T) {
	var updates []json.RawMessage
	for id := range 2 * maxUpdates {
		updates = append(updates, json.RawMessage(fmt.Sprintf(`{"action":"remove-snapshots","snapshot-ids":[%d]}`, id+1)))
	}
	if _, err := Locations(updates); err != nil {
		t.Error(err)
	}
	base := &Base{Metadata: made(t, 2), Location: "file:///t/metadata/0.json"}
	if _, err := Table(base, &mounts.CommitTableRequest{Updates: updates}, Options{}); err != nil {
		t.Error(err)
	}
}
