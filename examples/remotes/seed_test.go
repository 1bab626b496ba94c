//go:build peers

package remotes

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/wire"
)

type object = map[string]any

// What seed puts into a remote, past Icefield.
const (
	sales  = "sales"   // a namespace with properties, the tables orders (two snapshots) and returns, and the view recent
	eu     = "eu"      // a namespace in it, with the table parcels
	paged  = "paged"   // a namespace with tables, and with namespaces
	spare  = "spare"   // an empty namespace
	pieces = 5         // how many tables, and how many namespaces, are in paged
	names  = "strange" // a namespace for awkward names
)

// awkward is names that are hard to carry in a URL or to compare.
var awkward = []string{
	"a b", "plus+sign", "slash/ed", "per%cent", "quest?ion", "ha#sh", "d.ot", "..", "back\\slash", "quo\"te", "semi;colon",
	"colon:", "at@", "amp&ersand", "eq=ual", "é", "😀", "UPPER", "upper", "tables", "%2F", "{brace}", "pi|pe",
}

// metadataTables is what engines ask for below a table, as if it were a namespace.
var metadataTables = []string{"files", "branch_main", "snapshot_id_1", "changes"}

// seed fills a remote, past Icefield.
func seed(t *testing.T, s *server, r *remote) {
	t.Helper()
	post := func(path string, body any) *wire.Answer {
		t.Helper()
		a, err := r.direct.Call(http.MethodPost, path, body)
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("seeding, %s: %v %v", path, a, err)
		}
		return a
	}
	post("/namespaces", object{"namespace": []string{sales}, "properties": object{"from": "the remote"}})
	for _, name := range []string{paged, spare, names} {
		post("/namespaces", object{"namespace": []string{name}, "properties": object{}})
	}
	r.direct.MustCreateTable(t, "orders", sales)
	r.direct.MustCreateTable(t, "returns", sales)
	table, err := r.direct.LoadTable("orders", sales)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		requirements, updates := appended(table.Metadata.Location, i)
		if _, err := r.direct.Commit(requirements, updates, "orders", sales); err != nil {
			t.Fatalf("seeding a snapshot: %v", err)
		}
	}
	for i := range pieces {
		r.direct.MustCreateTable(t, fmt.Sprintf("t%d", i), paged)
	}
	if !s.flat {
		post("/namespaces", object{"namespace": []string{sales, eu}, "properties": object{}})
		r.direct.MustCreateTable(t, "parcels", sales, eu)
		for i := range pieces {
			post("/namespaces", object{"namespace": []string{paged, fmt.Sprintf("n%d", i)}, "properties": object{}})
		}
	}
	if !s.noViews {
		post(r.direct.Namespace(sales)+"/views", view("recent", sales))
	}
}

// appended is the i-th commit to a table, counted from 0, that adds a snapshot to the branch main. Nobody reads the files
// that it names.
func appended(location string, i int) (requirements, updates []any) {
	id := int64(1)<<53 + 1 + int64(i) // no float holds it
	snapshot := object{
		"snapshot-id": id, "sequence-number": i + 1, "timestamp-ms": time.Now().UnixMilli(), "schema-id": 0,
		"summary": object{"operation": "append", "added-records": "1"}, "manifest-list": fmt.Sprintf("%s/metadata/snap-%d.avro", location, id),
	}
	requirement := object{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": nil}
	if i > 0 {
		snapshot["parent-snapshot-id"], requirement["snapshot-id"] = id-1, id-1
	}
	return []any{requirement}, []any{
		object{"action": "add-snapshot", "snapshot": snapshot},
		object{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id},
	}
}

// view is the body that creates a view over orders, in the namespace of the given levels.
func view(name string, levels ...string) object {
	return object{
		"name": name, "schema": wire.Schema(), "properties": object{},
		"view-version": viewVersion(1, "select * from orders", levels...),
	}
}

func viewVersion(id int, sql string, levels ...string) object {
	return object{
		"version-id": id, "timestamp-ms": time.Now().UnixMilli(), "schema-id": 0, "summary": object{"operation": "create"},
		"default-namespace": levels,
		"representations":   []any{object{"type": "sql", "sql": sql, "dialect": "spark"}},
	}
}
