package commit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestARequiredColumnNeedsAValueForTheRowsThatAreThere(t *testing.T) {
	columns := func(more string) string {
		return addSchema(strings.Replace(twoColumns, `]}`, `,`+more+`]}`, 1)) + "," + lastSchema
	}
	const bare, given = `{"id":3,"name":"n","required":true,"type":"int"}`, `{"id":3,"name":"n","required":true,"type":"int","initial-default":0}`
	full := grown(t, 3, 1)
	_, err := commitTo(full, ``, columns(bare))
	refused(t, err, mounts.ValidationFailed, `new column "n" is required and has no "initial-default"`)
	_, err = commitTo(full, ``, columns(strings.Replace(given, "0}", "null}", 1)))
	refused(t, err, mounts.ValidationFailed, `"initial-default"`)
	must(t, full, ``, columns(given))
	must(t, made(t, 3), ``, columns(bare))     // no rows
	must(t, grown(t, 2, 1), ``, columns(bare)) // no defaults before v3: the client says that it knows better
	// A replaced table keeps no rows, whether it has new ones or not.
	must(t, full, ``, `{"action":"remove-snapshot-ref","ref-name":"main"},`+columns(bare))
	must(t, full, ``, columns(bare)+","+snap(3, 200, 101, 2, now+5000, rows(10, 1))+","+setRef("main", "branch", 200))
	// Inside a struct that is new there is nothing to fill in; inside an old one there is.
	inside := func(more string) string {
		return `{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"a","required":true,"type":"int"}` + more + `]}}`
	}
	nested := must(t, full, ``, columns(inside(``)))
	_, err = commitTo(nested, ``, columns(inside(`,{"id":5,"name":"b","required":true,"type":"int"}`)))
	refused(t, err, mounts.ValidationFailed, `new column "s.b"`)
	// A column that comes back is not new.
	gone := must(t, must(t, full, ``, columns(given)), ``, `{"action":"set-current-schema","schema-id":0}`)
	must(t, gone, ``, columns(bare))
}

// TestANullInPlaceOfIdentifierFieldsIsLeftOut: it means that there are none, and
// PyIceberg cannot read a table or view with it.
func TestANullInPlaceOfIdentifierFieldsIsLeftOut(t *testing.T) {
	const withNull = `{"type":"struct","schema-id":4,"identifier-field-ids":null,"fields":[{"id":1,"name":"only","required":true,"type":"long"}]}`
	created, err := Create(&mounts.CreateTableRequest{Namespace: ident.Namespace, Name: ident.Name, Schema: json.RawMessage(withNull)}, "s3://b/t", fixed())
	if err != nil {
		t.Fatal(err)
	}
	added := must(t, made(t, 2), ``, addSchema(withNull))
	view := mustView(t, aView(t, nil), addSchema(withNull))
	for name, doc := range map[string]json.RawMessage{"create": created, "add-schema": added, "view": view} {
		if strings.Contains(string(doc), `"identifier-field-ids":null`) || !strings.Contains(string(doc), `"only"`) {
			t.Errorf("%s: %s", name, doc)
		}
	}
}
