//go:build peers

package remotes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/examples/internal/wire"
)

// writes is the write suite. Each step has objects of its own, in the namespace room of its scope.
func writes() []step {
	return []step{
		{"namespaces: create", createNamespace},
		{"config: what it says is true, writable", configIsTrue},
		{"namespaces: create, nested", createNested},
		{"namespaces: properties", updateProperties},
		{"namespaces: drop", dropNamespace},
		{"tables: create", createTable},
		{"tables: create in stages", stageTable},
		{"tables: commit", commitTable},
		{"tables: commit, refused", commitRefused},
		{"tables: commit, refused as not the first", commitFirst},
		{"tables: commit, what nobody knows", commitUnknown},
		{"tables: transaction", transaction},
		{"tables: transaction, refused", transactionRefused},
		{"tables: rename", renameTable},
		{"tables: register", registerTable},
		{"tables: drop", dropTable},
		{"tables: drop and purge", purgeTable},
		{"tables: report, writable", reportWritable},
		{"requests sent twice", sentTwice},
		{"views: create, replace, drop", changeView},
		{"views: rename", renameView},
		{"views: create twice", viewTwice},
		{"views: refusals", viewRefusals},
		{"namespaces: absent, nothing is made there", absentNamespaces},
	}
}

// room is the namespace that the steps of a scope write in.
func (k *kit) room() string { return "room_" + k.scope }

// table creates an empty table in the room, and returns its path.
func (k *kit) table(name string) string {
	k.call(200, "POST", k.catalog.Namespace(k.at(k.room())...)+"/tables", object{"name": name, "schema": wire.Schema(), "stage-create": false})
	return k.catalog.Table(name, k.at(k.room())...)
}

// there asserts whether the remote itself has something.
func (k *kit) there(want bool, path string) {
	a, err := k.direct.Call("GET", path, nil)
	k.no(err, "look past Icefield")
	if got := a.Status == 200; got != want || a.Status != 200 && a.Status != 404 {
		k.failf("in the remote: %s is there: %v, %v", path, got, a)
	}
}

func createNamespace(k *kit) {
	body := object{"namespace": k.at(k.room()), "properties": object{"owner": "a client"}}
	var created struct {
		Namespace  []string
		Properties map[string]string
	}
	k.no(json.Unmarshal(k.call(200, "POST", "/namespaces", body).Body, &created), "decode")
	if !slices.Equal(created.Namespace, k.at(k.room())) || created.Properties["owner"] != "a client" {
		k.failf("created %+v", created)
	}
	k.there(true, k.direct.Namespace(k.room()))
	k.refused(409, "AlreadyExistsException", "POST", "/namespaces", body, k.room())
	if got, err := k.catalog.LoadNamespace(k.at(k.room())...); err != nil || got["owner"] != "a client" {
		k.failf("loaded %v, %v", got, err)
	}
}

func createNested(k *kit) {
	body := object{"namespace": k.at(k.room(), "inner"), "properties": object{}}
	if k.server.flat {
		a, err := k.catalog.Call("POST", "/namespaces", body)
		k.no(err, "create")
		if a.Status != 400 && a.Status != 501 {
			k.failf("a server without levels: %v", a)
		}
		return
	}
	k.call(200, "POST", "/namespaces", body)
	k.there(true, k.direct.Namespace(k.room(), "inner"))
	k.call(200, "POST", k.catalog.Namespace(k.at(k.room(), "inner")...)+"/tables", object{"name": "deep", "schema": wire.Schema(), "stage-create": false})
	k.sameTable("deep", k.room(), "inner")
}

func updateProperties(k *kit) {
	path := k.catalog.Namespace(k.at(k.room())...) + "/properties"
	var body struct{ Updated, Removed, Missing []string }
	answer := k.call(200, "POST", path, object{"updates": object{"color": "blue"}, "removals": []string{"owner"}})
	k.no(json.Unmarshal(answer.Body, &body), "decode")
	if !slices.Equal(body.Updated, []string{"color"}) || !slices.Equal(body.Removed, []string{"owner"}) {
		k.failf("%v", answer)
	}
	got, err := k.direct.LoadNamespace(k.room())
	if err != nil || got["color"] != "blue" || got["owner"] != "" {
		k.failf("in the remote: %v, %v", got, err)
	}
}

func dropNamespace(k *kit) {
	name := k.room() + "_gone"
	k.call(200, "POST", "/namespaces", object{"namespace": k.at(name), "properties": object{}})
	path := k.catalog.Namespace(k.at(name)...)
	k.call(200, "POST", path+"/tables", object{"name": "t", "schema": wire.Schema(), "stage-create": false})
	k.refused(409, "NamespaceNotEmptyException", "DELETE", path, nil, name)
	k.call(204, "DELETE", path+"/tables/t", nil)
	k.call(204, "DELETE", path, nil)
	k.there(false, k.direct.Namespace(name))
	k.refused(404, "NoSuchNamespaceException", "DELETE", path, nil, name)
}

func createTable(k *kit) {
	path := k.table("created")
	k.sameTable("created", k.room())
	body := object{"name": "created", "schema": wire.Schema(), "stage-create": false}
	k.refused(409, "AlreadyExistsException", "POST", strings.TrimSuffix(path, "/created"), body, "created")
}

func stageTable(k *kit) {
	path := k.catalog.Namespace(k.at(k.room())...) + "/tables"
	staged := k.call(200, "POST", path, object{"name": "staged", "schema": wire.Schema(), "stage-create": true, "properties": object{"a": "b"}})
	var body struct {
		Metadata struct {
			UUID     string `json:"table-uuid"`
			Location string
			Schemas  []any
			Specs    []any `json:"partition-specs"`
			Orders   []any `json:"sort-orders"`
		}
	}
	k.no(json.Unmarshal(staged.Body, &body), "decode")
	k.call(404, "HEAD", path+"/staged", nil)
	k.there(false, k.direct.Table("staged", k.room()))
	m := body.Metadata
	commit := object{
		"identifier":   k.identifier("staged", k.room()),
		"requirements": []any{object{"type": "assert-create"}},
		"updates": []any{
			object{"action": "assign-uuid", "uuid": m.UUID}, object{"action": "upgrade-format-version", "format-version": 2},
			object{"action": "add-schema", "schema": m.Schemas[0], "last-column-id": 3}, object{"action": "set-current-schema", "schema-id": -1},
			object{"action": "add-spec", "spec": m.Specs[0]}, object{"action": "set-default-spec", "spec-id": -1},
			object{"action": "add-sort-order", "sort-order": m.Orders[0]}, object{"action": "set-default-sort-order", "sort-order-id": -1},
			object{"action": "set-location", "location": m.Location}, object{"action": "set-properties", "updates": object{"a": "b"}},
		},
	}
	k.call(200, "POST", path+"/staged", commit)
	k.sameTable("staged", k.room())
	again := k.call(409, "POST", path+"/staged", commit)
	if again.Type != "CommitFailedException" && again.Type != "AlreadyExistsException" {
		k.failf("created twice: %v", again)
	}
}

// append adds the i-th snapshot to a table of the room, counted from 0.
func (k *kit) append(i, status int, name string) *wire.Answer {
	table, err := k.catalog.LoadTable(name, k.at(k.room())...)
	k.no(err, "load")
	requirements, updates := appended(table.Metadata.Location, i)
	body := object{"identifier": k.identifier(name, k.room()), "requirements": requirements, "updates": updates}
	return k.call(status, "POST", k.catalog.Table(name, k.at(k.room())...), body)
}

func commitTable(k *kit) {
	k.table("committed")
	for i := range 2 {
		before, err := k.catalog.LoadTable("committed", k.at(k.room())...)
		k.no(err, "load")
		location, metadata, _ := loaded(k, k.append(i, 200, "committed").Body)
		if location == before.MetadataLocation || location == "" {
			k.failf("the commit did not move the table: %s", location)
		}
		current := metadata.(map[string]any)["current-snapshot-id"]
		if fmt.Sprint(current) != fmt.Sprint(int64(1)<<53+1+int64(i)) {
			k.failf("the current snapshot is %v", current)
		}
		k.sameTable("committed", k.room())
	}
}

func commitRefused(k *kit) {
	k.table("raced")
	for i := range 2 {
		k.append(i, 200, "raced")
	}
	before, err := k.direct.LoadTable("raced", k.room())
	k.no(err, "load")
	if a := k.append(1, 409, "raced"); a.Type != "CommitFailedException" { // it asserts that there is one snapshot less
		k.failf("%v", a)
	}
	after, err := k.direct.LoadTable("raced", k.room())
	k.no(err, "load")
	if before.MetadataLocation != after.MetadataLocation {
		k.failf("a refused commit moved the table")
	}
	set := []any{object{"action": "set-properties", "updates": object{"a": "b"}}}
	body := object{"identifier": k.identifier("raced", k.room()), "updates": set,
		"requirements": []any{object{"type": "assert-table-uuid", "uuid": uuid.NewString()}}}
	k.refused(409, "CommitFailedException", "POST", k.catalog.Table("raced", k.at(k.room())...), body)
	body = object{"identifier": k.identifier("nothing", k.room()), "updates": set, "requirements": []any{}}
	k.refused(404, "NoSuchTableException", "POST", k.catalog.Table("nothing", k.at(k.room())...), body, "nothing")
}

// commitFirst is a commit that says that the branch is not there yet, while it is.
func commitFirst(k *kit) {
	k.table("begun")
	k.append(0, 200, "begun")
	if a := k.append(0, 409, "begun"); a.Type != "CommitFailedException" {
		k.failf("%v", a)
	}
}

func commitUnknown(k *kit) {
	path := k.table("puzzled")
	before, err := k.direct.LoadTable("puzzled", k.room())
	k.no(err, "load")
	body := object{"identifier": k.identifier("puzzled", k.room()), "requirements": []any{},
		"updates": []any{object{"action": "paint-it", "color": "blue"}}}
	a, err := k.catalog.Call("POST", path, body)
	k.no(err, "commit")
	if a.Status != 400 {
		k.failf("want 400, got %v", a)
	}
	after, err := k.direct.LoadTable("puzzled", k.room())
	k.no(err, "load")
	if before.MetadataLocation != after.MetadataLocation {
		k.failf("a commit that nobody understands moved the table")
	}
}

// change is a change of one table in a transaction.
func (k *kit) change(name string, requirement any) object {
	return object{"identifier": k.identifier(name, k.room()), "requirements": []any{requirement},
		"updates": []any{object{"action": "set-properties", "updates": object{"in": "both"}}}}
}

// either is the property that change sets, of both tables, in the remote.
func (k *kit) either(one, other string) [2]string {
	var got [2]string
	for i, name := range []string{one, other} {
		table, err := k.direct.LoadTable(name, k.room())
		k.no(err, "load")
		got[i] = table.Metadata.Properties["in"]
	}
	return got
}

func transaction(k *kit) {
	k.table("left")
	k.table("right")
	empty := object{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": nil}
	k.call(204, "POST", "/transactions/commit", object{"table-changes": []any{k.change("left", empty), k.change("right", empty)}})
	if got := k.either("left", "right"); got != [2]string{"both", "both"} {
		k.failf("in the remote: %q", got)
	}
}

func transactionRefused(k *kit) {
	k.table("port")
	k.table("starboard")
	empty := object{"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": nil}
	other := object{"type": "assert-table-uuid", "uuid": uuid.NewString()}
	k.refused(409, "CommitFailedException", "POST", "/transactions/commit",
		object{"table-changes": []any{k.change("port", empty), k.change("starboard", other)}})
	if got := k.either("port", "starboard"); got != [2]string{} {
		k.failf("in the remote, after a transaction that was refused: %q", got)
	}
	k.refused(404, "NoSuchTableException", "POST", "/transactions/commit",
		object{"table-changes": []any{k.change("port", empty), k.change("nothing", empty)}})
}

func renameTable(k *kit) {
	k.table("before")
	rename := func(from, to string) object {
		return object{"source": k.identifier(from, k.room()), "destination": k.identifier(to, k.room())}
	}
	a, err := k.catalog.Call("POST", "/tables/rename", rename("before", "after"))
	k.no(err, "rename")
	if a.Status != 204 && a.Status != 200 {
		k.failf("rename: %v", a)
	}
	k.there(false, k.direct.Table("before", k.room()))
	k.sameTable("after", k.room())
	k.call(404, "HEAD", k.catalog.Table("before", k.at(k.room())...), nil)
	k.table("before")
	k.refused(409, "AlreadyExistsException", "POST", "/tables/rename", rename("before", "after"), "after")
	k.refused(404, "NoSuchTableException", "POST", "/tables/rename", rename("nothing", "new"), "nothing")
}

func registerTable(k *kit) {
	k.table("origin")
	origin, err := k.catalog.LoadTable("origin", k.at(k.room())...)
	k.no(err, "load")
	k.call(204, "DELETE", k.catalog.Table("origin", k.at(k.room())...)+"?purgeRequested=false", nil)
	body := object{"name": "registered", "metadata-location": origin.MetadataLocation}
	register := k.catalog.Namespace(k.at(k.room())...) + "/register"
	k.call(200, "POST", register, body)
	got, err := k.direct.LoadTable("registered", k.room())
	if err != nil || got.Metadata.UUID != origin.Metadata.UUID {
		k.failf("in the remote: %+v, %v", got, err)
	}
	k.refused(409, "AlreadyExistsException", "POST", register, body, "registered")
}

func dropTable(k *kit) {
	path := k.table("dropped")
	k.call(204, "DELETE", path, nil)
	k.there(false, k.direct.Table("dropped", k.room()))
	k.refused(404, "NoSuchTableException", "DELETE", path, nil, "dropped")
	k.refused(404, "NoSuchTableException", "GET", path, nil, "dropped")
}

func purgeTable(k *kit) {
	path := k.table("purged")
	k.call(204, "DELETE", path+"?purgeRequested=true", nil)
	k.there(false, k.direct.Table("purged", k.room()))
}

func reportWritable(k *kit) {
	k.call(204, "POST", k.table("reported")+"/metrics", metrics("reported"))
}

// sentTwice sends the same creation and the same drop twice with one Idempotency-Key each: done again where the config
// promises it, refused as any second one elsewhere.
func sentTwice(k *kit) {
	warehouse := ""
	if k.scope == "view" {
		warehouse = k.mount
	}
	config, err := k.catalog.Config(warehouse)
	k.no(err, "config")
	kept := config.KeyLifetime != ""
	tables := k.catalog.Namespace(k.at(k.room())...) + "/tables"
	twice := func(method, path string, body any, first, second int) {
		key := http.Header{"Idempotency-Key": {uuid.Must(uuid.NewV7()).String()}}
		one := k.callWith(key, first, method, path, body)
		if kept {
			second = first
		}
		two := k.callWith(key, second, method, path, body)
		if kept && string(one.Body) != string(two.Body) {
			k.failf("%s %s: %v and then %v", method, path, one, two)
		}
	}
	twice("POST", tables, object{"name": "once", "schema": wire.Schema(), "stage-create": false}, 200, 409)
	twice("DELETE", tables+"/once", nil, 204, 404)
}

func changeView(k *kit) {
	views := k.catalog.Namespace(k.at(k.room())...) + "/views"
	if k.server.noViews {
		k.refused(501, "UnsupportedOperationException", "POST", views, view("seen", k.at(k.room())...), k.mount)
		return
	}
	type document struct {
		Metadata struct {
			UUID     string `json:"view-uuid"`
			Current  int    `json:"current-version-id"`
			Versions []struct {
				ID              int      `json:"version-id"`
				Default         []string `json:"default-namespace"`
				Representations []struct{ SQL string }
			}
		}
	}
	check := func(body []byte, sql string, namespace []string) document {
		var got document
		k.no(json.Unmarshal(body, &got), "decode")
		for _, version := range got.Metadata.Versions {
			if !slices.Equal(version.Default, namespace) {
				k.failf("the view's namespace is %q: %s", version.Default, body)
			}
			if version.ID == got.Metadata.Current && version.Representations[0].SQL != sql {
				k.failf("the view says %s: %s", version.Representations[0].SQL, body)
			}
		}
		if len(got.Metadata.Versions) == 0 {
			k.failf("no version: %s", body)
		}
		return got
	}
	both := func(sql string) {
		check(k.call(200, "GET", views+"/seen", nil).Body, sql, k.at(k.room()))
		a, err := k.direct.Call("GET", k.direct.Namespace(k.room())+"/views/seen", nil)
		k.no(err, "look past Icefield")
		check(a.Body, sql, []string{k.room()})
	}
	const first, second = "select * from orders", "select id from orders"
	created := check(k.call(200, "POST", views, view("seen", k.at(k.room())...)).Body, first, k.at(k.room()))
	both(first)
	replace := object{
		"identifier":   k.identifier("seen", k.room()),
		"requirements": []any{object{"type": "assert-view-uuid", "uuid": created.Metadata.UUID}},
		"updates": []any{
			object{"action": "add-view-version", "view-version": viewVersion(2, second, k.at(k.room())...)},
			object{"action": "set-current-view-version", "view-version-id": -1},
		},
	}
	check(k.call(200, "POST", views+"/seen", replace).Body, second, k.at(k.room()))
	both(second)
	k.call(204, "DELETE", views+"/seen", nil)
	k.there(false, k.direct.Namespace(k.room())+"/views/seen")
	k.refused(404, "NoSuchViewException", "DELETE", views+"/seen", nil, "seen")
}

func renameView(k *kit) {
	views := k.catalog.Namespace(k.at(k.room())...) + "/views"
	body := object{"source": k.identifier("old", k.room()), "destination": k.identifier("new", k.room())}
	if k.server.noViews {
		k.refused(501, "UnsupportedOperationException", "POST", "/views/rename", body, k.mount)
		return
	}
	k.call(200, "POST", views, view("old", k.at(k.room())...))
	k.call(204, "POST", "/views/rename", body)
	k.there(false, k.direct.Namespace(k.room())+"/views/old")
	k.there(true, k.direct.Namespace(k.room())+"/views/new")
	k.refused(404, "NoSuchViewException", "POST", "/views/rename", body, "old")
}

func viewTwice(k *kit) {
	views := k.catalog.Namespace(k.at(k.room())...) + "/views"
	if !k.offers(capabilities.CreateView) {
		k.refused(501, "UnsupportedOperationException", "POST", views, view("twice", k.at(k.room())...), k.mount)
		return
	}
	k.call(200, "POST", views, view("twice", k.at(k.room())...))
	k.refused(409, "AlreadyExistsException", "POST", views, view("twice", k.at(k.room())...), "twice")
}

func viewRefusals(k *kit) {
	views := k.catalog.Namespace(k.at(k.room())...) + "/views"
	if !k.offers(capabilities.CreateView) {
		k.refused(501, "UnsupportedOperationException", "DELETE", views+"/nothing", nil, k.mount)
		return
	}
	k.call(200, "POST", views, view("kept", k.at(k.room())...))
	other := object{"identifier": k.identifier("kept", k.room()), "updates": []any{object{"action": "set-properties", "updates": object{"a": "b"}}},
		"requirements": []any{object{"type": "assert-view-uuid", "uuid": uuid.NewString()}}}
	k.refused(409, "CommitFailedException", "POST", views+"/kept", other)
	other["identifier"], other["requirements"] = k.identifier("nothing", k.room()), []any{}
	k.refused(404, "NoSuchViewException", "POST", views+"/nothing", other, "nothing")
	k.table("taken")
	k.refused(409, "AlreadyExistsException", "POST", views, view("taken", k.at(k.room())...), "taken")
}

// absentNamespaces tries to make something in a namespace that is not there. It comes last: some servers then have it.
func absentNamespaces(k *kit) {
	void := "void_" + k.scope
	path := k.catalog.Namespace(k.at(void)...)
	table, err := k.catalog.LoadTable("committed", k.at(k.room())...)
	k.no(err, "load")
	refused := func(path string, body any) { k.refused(404, "NoSuchNamespaceException", "POST", path, body, void) }
	refused(path+"/properties", object{"updates": object{"a": "b"}, "removals": []string{}})
	refused(path+"/tables", object{"name": "t", "schema": wire.Schema(), "stage-create": false})
	refused(path+"/register", object{"name": "t", "metadata-location": table.MetadataLocation})
	refused("/tables/rename", object{"source": k.identifier("committed", k.room()), "destination": k.identifier("t", void)})
	if !k.server.noViews {
		refused(path+"/views", view("v", k.at(void)...))
	}
}
