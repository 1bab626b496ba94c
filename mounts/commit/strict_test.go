package commit

import (
	"fmt"
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

// Each of these would be stored, and Java, which reads a number into 32 bits and
// takes no null, could not load the table any more.
func TestWhatJavaCannotReadIsNotStored(t *testing.T) {
	base := grown(t, 2, 2)
	blobs := func(list string) string {
		return `{"action":"set-statistics","statistics":{"snapshot-id":101,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[` + list + `]}}`
	}
	for _, update := range []string{
		strings.Replace(setRef("dev", "branch", 101), `}`, `,"min-snapshots-to-keep":2147483648}`, 1),
		blobs(`null`),
		blobs(`{"type":"t","snapshot-id":101,"sequence-number":1}`),
		blobs(`{"type":"t","snapshot-id":101,"fields":[1]}`),
		blobs(`{"type":"t","sequence-number":1,"fields":[1]}`),
		blobs(`{"type":null,"snapshot-id":101,"sequence-number":1,"fields":[1]}`),
		blobs(`{"type":"t","snapshot-id":101,"sequence-number":1,"fields":[2147483648]}`),
		addSpec(`{"source-ids":[1,null],"field-id":1009,"name":"n","transform":"bucket[7]"}`),
		addOrder(9, `{"source-ids":[1,null],"transform":"bucket[7]","direction":"asc","null-order":"nulls-first"}`),
		blobs(`{"type":"t","snapshot-id":101,"sequence-number":1,"fields":[1,null]}`),
		blobs(`{"type":"t","snapshot-id":101,"sequence-number":1,"fields":[1],"properties":null}`),
		blobs(`{"type":"t","snapshot-id":101,"sequence-number":1,"fields":[1],"properties":{"ndv":null}}`),
	} {
		if res, err := commitTo(base, "", update); err == nil {
			t.Errorf("%s was accepted\n%s", update, res.Metadata)
		} else if e := mounts.AsError(err); e.Kind != mounts.BadRequest && e.Kind != mounts.ValidationFailed {
			t.Errorf("%s: %v: %v", update, e.Kind, err)
		}
	}
	must(t, base, "", blobs(`{"type":"t","snapshot-id":101,"sequence-number":1,"fields":[1],"properties":{"ndv":"7"},"x":null}`))

	nulls := `"parent-snapshot-id":null,"manifests":null,"summary":null,"schema-id":null,"first-row-id":null,"added-rows":null,"key-id":null`
	doc := must(t, grown(t, 2, 0), "", fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":7,"timestamp-ms":%d,"sequence-number":1,"manifest-list":"m",%s,"x-other":null}}`, int64(now+5), nulls))
	if want := fmt.Sprintf(`"snapshots":[{"snapshot-id":7,"timestamp-ms":%d,"sequence-number":1,"manifest-list":"m","x-other":null}]`, int64(now+5)); !strings.Contains(string(doc), want) {
		t.Errorf("want %s in\n%s", want, doc)
	}
}

// A table whose current snapshot is -1 has none: the commit would be lost.
func TestASnapshotCannotHaveTheIDThatMeansNone(t *testing.T) {
	for version := 1; version <= 3; version++ {
		update := fmt.Sprintf(`{"action":"add-snapshot","snapshot":{"snapshot-id":-1,"timestamp-ms":%d,"sequence-number":1,"manifest-list":"m","first-row-id":0,"added-rows":0}}`, int64(now+5))
		if version < 3 {
			update = strings.Replace(update, `,"first-row-id":0,"added-rows":0`, "", 1)
		}
		_, err := commitTo(grown(t, version, 0), "", update+","+setRef("main", "branch", -1))
		if err == nil || !strings.Contains(err.Error(), "stands for no snapshot") {
			t.Errorf("v%d: %v", version, err)
		}
	}
}

// TestANullBesideTheSourceIsNoSource: a field has a source-id or, with several,
// source-ids.
func TestANullBesideTheSourceIsNoSource(t *testing.T) {
	for _, field := range []string{`"source-id":1,"source-ids":null`, `"source-id":null,"source-ids":[1]`} {
		doc := string(must(t, grown(t, 3, 2), "", addSpec(`{`+field+`,"field-id":1009,"name":"n","transform":"bucket[7]"}`)+
			","+addOrder(9, `{`+field+`,"transform":"bucket[7]","direction":"asc","null-order":"nulls-first"}`)))
		if strings.Contains(doc, "null,") || strings.Contains(doc, `"source-ids"`) {
			t.Errorf("%s: %s", field, doc)
		}
	}
}

func TestAWrongTypeIsToldWithoutGoTypes(t *testing.T) {
	_, err := commitTo(made(t, 2), "", addSchema(`{"type":"struct","identifier-field-ids":["1"],"fields":[{"id":1,"name":"id","required":true,"type":"long"}]}`))
	refused(t, err, mounts.ValidationFailed, `"identifier-field-ids" is a string`)
	if text := mounts.AsError(err).Message(); strings.Contains(text, "Go ") || strings.Contains(text, "Alias") {
		t.Error(text)
	}
}
