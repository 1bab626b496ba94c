package commit

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// A null among values was once the id 0 or an empty text, and the commit did
// what nobody had asked for.
func TestANullAmongValuesIsNeverTakenForZero(t *testing.T) {
	twoSchemas := must(t, grown(t, 2, 2), "", addSchema(threeColumns)+","+lastSchema)
	for _, update := range []string{
		`{"action":"remove-schemas","schema-ids":[null]}`,
		`{"action":"remove-schemas","schema-ids":[7, null ]}`,
		`{"action":"remove-partition-specs","spec-ids":[null]}`,
		`{"action":"remove-snapshots","snapshot-ids":[null]}`,
		`{"action":"remove-properties","removals":["a",null]}`,
		`{"action":"remove-properties","removed":[null]}`,
		`{"action":"set-properties","updates":{"a":null}}`,
		`{"action":"set-properties","updates":{"a":"b","c": null}}`,
		`{"action":"set-properties","updated":{"a":null}}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"name":"p","transform":"identity","source-ids":[null]}]}}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"name":"p","transform":"identity","source-id":null}]}}`,
		`{"action":"add-snapshot","snapshot":{"snapshot-id":77,"timestamp-ms":1700000002000,"sequence-number":9,"manifest-list":"m","summary":{"operation":null}}}`,
		`{"action":"add-snapshot","snapshot":{"snapshot-id":77,"timestamp-ms":1700000002000,"sequence-number":9,"manifest-list":"m","summary":{"operation":"append","x":null}}}`,
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"transform":"identity","source-ids":[null],"direction":"asc","null-order":"nulls-first"}]}}`,
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"transform":"identity","source-id":null,"direction":"asc","null-order":"nulls-first"}]}}`,
	} {
		res, err := commitTo(twoSchemas, "", update)
		if err == nil {
			t.Errorf("%s was accepted: changed %v\n%s", update, res.Changed, res.Metadata)
			continue
		}
		if e := mounts.AsError(err); e.Kind != mounts.BadRequest && e.Kind != mounts.ValidationFailed {
			t.Errorf("%s: %v: %v", update, e.Kind, err)
		}
	}
	for _, update := range []string{
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"name":"p","transform":"identity"}]}}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"name":"p","transform":"void"}]}}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"source-id":1,"transform":"identity"}]}}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"source-id":1,"name":"p"}]}}`,
		`{"action":"add-spec","spec":{"spec-id":1,"fields":[{"source-id":1,"name":"p","transform":null}]}}`,
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"transform":"identity","direction":"asc","null-order":"nulls-first"}]}}`,
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","null-order":"nulls-first"}]}}`,
		`{"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity","direction":"asc"}]}}`,
	} {
		if res, err := commitTo(twoSchemas, "", update); err == nil {
			t.Errorf("%s was accepted\n%s", update, res.Metadata)
		}
	}
	_, err := commitTo(twoSchemas, "", `{"action":"remove-schemas","schema-ids":[null]}`)
	if err == nil || !strings.Contains(mounts.AsError(err).Message(), `updates[0] (remove-schemas): "/schema-ids/0"`) {
		t.Errorf("the message does not say where: %v", err)
	}
}

// What is left out may be a null; only values may not be.
func TestANullInPlaceOfAWholeMemberIsItsAbsence(t *testing.T) {
	doc := must(t, grown(t, 2, 2), "", `{"action":"set-properties","updates":null,"updated":{"a":"b"},"schema-ids":null}`)
	if !strings.Contains(string(doc), `"a":"b"`) {
		t.Errorf("%s", doc)
	}
	if _, err := commitTo(grown(t, 2, 2), "", `{"action":"remove-snapshots","snapshot-ids":null}`); err == nil ||
		!strings.Contains(err.Error(), `"snapshot-ids" is missing`) {
		t.Errorf("got %v", err)
	}
}
