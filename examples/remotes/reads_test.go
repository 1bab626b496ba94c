//go:build peers

package remotes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/icefield/icefield/capabilities"
)

// reads is the read suite. It changes nothing.
func reads() []step {
	return []step{
		{"config: what it says is true", configIsTrue},
		{"namespaces: list", listNamespaces},
		{"namespaces: list in one", listNested},
		{"namespaces: pages of every size", pageNamespaces},
		{"namespaces: load", loadNamespace},
		{"namespaces: exist", namespaceExists},
		{"namespaces: absent", absentNamespace},
		{"tables: list in an absent namespace", listAbsentTables},
		{"tables: list", listTables},
		{"tables: pages of every size", pageTables},
		{"tables: load", loadTable},
		{"tables: load, nested", loadNested},
		{"tables: snapshots that refs name", loadRefs},
		{"tables: ETag, 304", loadAgain},
		{"tables: exist", tableExists},
		{"tables: absent", absentTable},
		{"tables: probes for metadata tables", probes},
		{"tables: probes by HEAD", probesByHEAD},
		{"tables: awkward names", awkwardNames},
		{"tables: load, delegated", loadDelegated},
		{"tables: credentials", credentials},
		{"tables: report", reportMetrics},
		{"views: list", listViews},
		{"views: load", loadView},
		{"views: exist", viewExists},
		{"views: absent", absentView},
		{"views: list in an absent namespace", listAbsentViews},
		{"writes: refused where read-only", readOnly},
	}
}

// offers says whether the mount's own view advertises an operation.
func (k *kit) offers(op capabilities.Op) bool {
	config, err := k.catalog.Config(k.mount)
	k.no(err, "config")
	return slices.Contains(config.Endpoints, op.Row().Endpoint())
}

// configIsTrue calls everything about objects that are not there: what is advertised may say so, and what is not says
// that it is not supported. Only the mount's own view says it of everything; the tree advertises what all mounts have.
func configIsTrue(k *kit) {
	warehouse := ""
	if k.scope == "view" {
		warehouse = k.mount
	}
	config, err := k.catalog.Config(warehouse)
	k.no(err, "config")
	if config.Defaults == nil || config.Overrides == nil || len(config.Endpoints) == 0 {
		k.failf("defaults, overrides or endpoints is missing: %+v", config)
	}
	if k.scope == "view" && config.Overrides["prefix"] != k.mount {
		k.failf("the prefix is %q", config.Overrides["prefix"])
	}
	for _, row := range capabilities.Operations() {
		offered := slices.Contains(config.Endpoints, row.Endpoint())
		if !offered && k.scope == "tree" {
			continue
		}
		method, path, body := k.probe(row)
		a, err := k.catalog.Call(method, path, body)
		k.no(err, row.Name)
		switch {
		case offered && (a.Status >= 500 || a.Status == 405 || a.Status == 406):
			k.failf("%s is advertised: %v", row.Name, a)
		case offered && a.Status == 404 && method != http.MethodHead && !strings.HasPrefix(a.Type, "NoSuch"):
			k.failf("%s is advertised: %v", row.Name, a)
		case !offered && a.Status != 501:
			k.failf("%s is not advertised: %v", row.Name, a)
		}
	}
}

// probe is a request for an operation on what is not there.
func (k *kit) probe(row capabilities.Operation) (method, path string, body any) {
	path = strings.TrimPrefix(row.Path, "/v1/{prefix}")
	path = strings.Replace(path, "/namespaces/{namespace}", k.catalog.Namespace(k.at("nowhere")...), 1)
	path = strings.NewReplacer("{table}", "nothing", "{view}", "nothing", "{plan-id}", "none", "{function}", "nothing").Replace(path)
	here, there := k.identifier("nothing", "nowhere"), k.identifier("other", "nowhere")
	create := object{"name": "nothing", "stage-create": false, "schema": object{"type": "struct", "schema-id": 0, "fields": []any{}}}
	bodies := map[capabilities.Op]any{
		capabilities.CreateNamespace:           object{"namespace": k.at(sales)},
		capabilities.UpdateNamespaceProperties: object{"updates": object{"a": "b"}, "removals": []string{}},
		capabilities.CreateTable:               create,
		capabilities.RegisterTable:             object{"name": "nothing", "metadata-location": "s3://nowhere/metadata/v1.metadata.json"},
		capabilities.UnregisterTable:           object{},
		capabilities.CommitTable:               object{"identifier": here, "requirements": []any{}, "updates": []any{}},
		capabilities.CommitTransaction:         object{"table-changes": []any{object{"identifier": here, "requirements": []any{}, "updates": []any{}}}},
		capabilities.RenameTable:               object{"source": here, "destination": there},
		capabilities.ReportMetrics:             metrics("nothing"),
		capabilities.CreateView:                view("nothing", k.at("nowhere")...),
		capabilities.RegisterView:              object{"name": "nothing", "metadata-location": "s3://nowhere/metadata/v1.metadata.json"},
		capabilities.ReplaceView:               object{"identifier": here, "requirements": []any{}, "updates": []any{}},
		capabilities.RenameView:                object{"source": here, "destination": there},
		capabilities.PlanScan:                  object{"snapshot-id": 1},
		capabilities.FetchScanTasks:            object{"plan-task": "none"},
		capabilities.SignRequest:               object{"region": "us-east-1", "method": "GET", "uri": "http://127.0.0.1/nowhere", "headers": object{}},
	}
	return row.Verb, path, bodies[row.Op]
}

// metrics is the report of a scan.
func metrics(table string) object {
	return object{
		"report-type": "scan-report", "table-name": table, "snapshot-id": 1, "filter": true, "schema-id": 0,
		"projected-field-ids": []int{}, "projected-field-names": []string{}, "metrics": object{},
	}
}

// joined is names as listings give them, in this scope.
func (k *kit) joined(under []string, names ...string) []string {
	var all []string
	for _, name := range names {
		all = append(all, strings.Join(append(k.at(under...), name), "\x1f"))
	}
	slices.Sort(all)
	return all
}

// numbered is what is in the namespace "paged".
func numbered(letter string) []string {
	var all []string
	for i := range pieces {
		all = append(all, fmt.Sprintf("%s%d", letter, i))
	}
	return all
}

func (k *kit) same(what string, got, want []string) {
	got = slices.Clone(got)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		k.failf("%s: %q instead of %q", what, got, want)
	}
}

func listNamespaces(k *kit) {
	got, err := k.catalog.Namespaces(k.under...).All()
	k.no(err, "list")
	for _, want := range k.joined(nil, sales, paged, spare, names) {
		if !slices.Contains(got, want) {
			k.failf("%q is not in %q", want, got)
		}
	}
	if k.scope == "tree" {
		got, err := k.catalog.Namespaces().All()
		k.no(err, "list the mounts")
		k.same("mounts", got, []string{desk, shelf})
	}
}

func listNested(k *kit) {
	want := k.joined([]string{sales}, eu)
	if k.server.flat {
		want = nil
	}
	got, err := k.catalog.Namespaces(k.at(sales)...).All()
	k.no(err, "list")
	k.same("in sales", got, want)
	got, err = k.catalog.Namespaces(k.at(spare)...).All()
	k.no(err, "list")
	k.same("in spare", got, nil)
}

func pageNamespaces(k *kit) {
	want := k.joined([]string{paged}, numbered("n")...)
	if k.server.flat {
		want = nil
	}
	for size := 1; size <= pieces+1; size++ {
		got, _, err := k.catalog.Namespaces(k.at(paged)...).Walk(size)
		k.no(err, "walk")
		k.same(fmt.Sprintf("pages of %d", size), got, want)
	}
	for size := 1; size <= 6; size++ {
		got, _, err := k.catalog.Namespaces(k.under...).Walk(size)
		k.no(err, "walk")
		for _, want := range k.joined(nil, sales, paged, spare, names) {
			if !slices.Contains(got, want) {
				k.failf("%q is not in pages of %d: %q", want, size, got)
			}
		}
	}
}

func loadNamespace(k *kit) {
	properties, err := k.catalog.LoadNamespace(k.at(sales)...)
	k.no(err, "load")
	want, err := k.direct.LoadNamespace(sales)
	k.no(err, "load past Icefield")
	if !reflect.DeepEqual(properties, want) || want["from"] != "the remote" {
		k.failf("%v instead of %v", properties, want)
	}
	var body struct{ Namespace []string }
	k.no(json.Unmarshal(k.call(200, "GET", k.catalog.Namespace(k.at(sales)...), nil).Body, &body), "load")
	if !slices.Equal(body.Namespace, k.at(sales)) {
		k.failf("it is called %q", body.Namespace)
	}
}

func namespaceExists(k *kit) {
	k.call(204, "HEAD", k.catalog.Namespace(k.at(sales)...), nil)
	if k.server.flat {
		k.call(404, "HEAD", k.catalog.Namespace(k.at(sales, eu)...), nil)
	} else {
		k.call(204, "HEAD", k.catalog.Namespace(k.at(sales, eu)...), nil)
	}
	k.call(404, "HEAD", k.catalog.Namespace(k.at("nowhere")...), nil)
	k.call(404, "HEAD", k.catalog.Namespace(k.at(sales, "nowhere")...), nil)
}

func absentNamespace(k *kit) {
	const kind = "NoSuchNamespaceException"
	for _, levels := range [][]string{{"nowhere"}, {sales, "nowhere"}, {"nowhere", "deep", "er"}} {
		k.refused(404, kind, "GET", k.catalog.Namespace(k.at(levels...)...), nil, levels...)
	}
}

func listAbsentTables(k *kit) {
	for _, levels := range [][]string{{"nowhere"}, {sales, "nowhere"}, {"nowhere", "deep", "er"}} {
		k.refused(404, "NoSuchNamespaceException", "GET", k.catalog.Namespace(k.at(levels...)...)+"/tables", nil, levels...)
	}
}

func listTables(k *kit) {
	got, err := k.catalog.Tables(k.at(sales)...).All()
	k.no(err, "list")
	k.same("in sales", got, k.joined([]string{sales}, "orders", "returns"))
	got, err = k.catalog.Tables(k.at(spare)...).All()
	k.no(err, "list")
	k.same("in spare", got, nil)
}

func pageTables(k *kit) {
	want := k.joined([]string{paged}, numbered("t")...)
	for size := 1; size <= pieces+1; size++ {
		got, _, err := k.catalog.Tables(k.at(paged)...).Walk(size)
		k.no(err, "walk")
		k.same(fmt.Sprintf("pages of %d", size), got, want)
	}
}

// loaded is a loaded table or view, whatever it holds.
func loaded(k *kit, body []byte) (location string, metadata, config any) {
	var all struct {
		Location string `json:"metadata-location"`
		Metadata any    `json:"metadata"`
		Config   any    `json:"config"`
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	k.no(decoder.Decode(&all), "decode")
	return all.Location, all.Metadata, all.Config
}

// sameTable asserts that a table is what it is past Icefield.
func (k *kit) sameTable(name string, levels ...string) {
	location, metadata, _ := loaded(k, k.call(200, "GET", k.catalog.Table(name, k.at(levels...)...), nil).Body)
	a, err := k.direct.Call("GET", k.direct.Table(name, levels...), nil)
	k.no(err, "load past Icefield")
	wantLocation, want, _ := loaded(k, a.Body)
	if location != wantLocation || location == "" || !reflect.DeepEqual(metadata, want) {
		k.failf("%s %v\ninstead of %s %v", location, metadata, wantLocation, want)
	}
}

func loadTable(k *kit) {
	k.sameTable("orders", sales)
	k.sameTable("returns", sales)
}

func loadNested(k *kit) {
	if k.server.flat {
		k.refused(404, "NoSuchTableException", "GET", k.catalog.Table("parcels", k.at(sales, eu)...), nil, "parcels")
		return
	}
	k.sameTable("parcels", sales, eu)
	k.call(204, "HEAD", k.catalog.Table("parcels", k.at(sales, eu)...), nil)
}

func loadRefs(k *kit) {
	for query, want := range map[string]int{"?snapshots=refs": 1, "?snapshots=all": 2, "": 2} {
		var body struct{ Metadata struct{ Snapshots []any } }
		k.no(json.Unmarshal(k.call(200, "GET", k.catalog.Table("orders", k.at(sales)...)+query, nil).Body, &body), "decode")
		if len(body.Metadata.Snapshots) != want {
			k.failf("%d snapshots for %q", len(body.Metadata.Snapshots), query)
		}
	}
}

func loadAgain(k *kit) {
	path := k.catalog.Table("orders", k.at(sales)...)
	tag := k.call(200, "GET", path, nil).Header.Get("ETag")
	if tag == "" {
		k.failf("there is no ETag")
	}
	k.callWith(http.Header{"If-None-Match": {tag}}, 304, "GET", path, nil)
	k.callWith(http.Header{"If-None-Match": {`"another"`}}, 200, "GET", path, nil)
	k.callWith(http.Header{"If-None-Match": {tag}}, 200, "GET", k.catalog.Table("returns", k.at(sales)...), nil)
}

func tableExists(k *kit) {
	k.call(204, "HEAD", k.catalog.Table("orders", k.at(sales)...), nil)
	k.call(404, "HEAD", k.catalog.Table("nothing", k.at(sales)...), nil)
	k.call(404, "HEAD", k.catalog.Table("orders", k.at("nowhere")...), nil)
}

func absentTable(k *kit) {
	k.refused(404, "NoSuchTableException", "GET", k.catalog.Table("nothing", k.at(sales)...), nil, "nothing")
	k.refused(404, "NoSuchTableException", "GET", k.catalog.Table("orders", k.at("nowhere")...), nil, "nowhere", "orders")
	k.refused(404, "NoSuchTableException", "GET", k.catalog.Table("nothing", k.at(sales)...)+"?snapshots=refs", nil, "nothing")
}

// probes are the names that Java and Spark try before they take "files" for a metadata table.
func probes(k *kit) {
	for _, probe := range metadataTables {
		path := k.catalog.Table(probe, k.at(sales, "orders")...)
		k.refused(404, "NoSuchTableException", "GET", path, nil, probe)
		k.refused(404, "NoSuchTableException", "GET", path+"?snapshots=refs", nil, probe)
	}
}

func probesByHEAD(k *kit) {
	for _, probe := range metadataTables {
		k.call(404, "HEAD", k.catalog.Table(probe, k.at(sales, "orders")...), nil)
	}
}

// awkwardNames loads tables with awkward names, as far as the server itself has them. The first scope creates them.
func awkwardNames(k *kit) {
	var refused []string
	for _, name := range awkward {
		at := k.direct.Table(name, names)
		if name == ".." { // as itself it is a step in the path, for some
			at = k.direct.Table("%%", names)
			at = strings.ReplaceAll(at, "%25", "%2E")
		}
		a, err := k.direct.Call("GET", at, nil)
		if err == nil && a.Status == 404 {
			body := object{"name": name, "schema": object{"type": "struct", "schema-id": 0, "fields": []any{}}, "stage-create": false}
			if _, err := k.direct.Call("POST", k.direct.Namespace(names)+"/tables", body); err == nil {
				a, err = k.direct.Call("GET", at, nil)
			}
		}
		through := k.catalog.Table(name, k.at(names)...)
		if err != nil || a.Status != 200 || !strings.Contains(string(a.Body), `"metadata-location"`) {
			refused = append(refused, name)
			if got, err := k.catalog.Call("GET", through, nil); err != nil || got.Status == 200 {
				k.failf("%q is refused by the server: %v %v; and through Icefield: %v, %v", name, a, err, got, err)
			}
			continue
		}
		k.sameTable(name, names)
		k.call(204, "HEAD", through, nil)
	}
	if !slices.Equal(refused, k.server.refuses) {
		k.failf("the server itself does not take %q, instead of %q", refused, k.server.refuses)
	}
}

// loadDelegated asserts that delegation is asked for without harm; what comes of it is the server's own affair.
func loadDelegated(k *kit) {
	plain, metadata, _ := loaded(k, k.call(200, "GET", k.catalog.Table("orders", k.at(sales)...), nil).Body)
	for _, way := range []string{"vended-credentials", "remote-signing", "vended-credentials,remote-signing"} {
		header := http.Header{"X-Iceberg-Access-Delegation": {way}}
		location, same, _ := loaded(k, k.callWith(header, 200, "GET", k.catalog.Table("orders", k.at(sales)...), nil).Body)
		if location != plain || !reflect.DeepEqual(metadata, same) {
			k.failf("%s gives another table: %s %v", way, location, same)
		}
	}
}

func credentials(k *kit) {
	path := k.catalog.Table("orders", k.at(sales)...) + "/credentials"
	if !k.offers(capabilities.LoadCredentials) {
		k.refused(501, "UnsupportedOperationException", "GET", path, nil, k.mount)
		return
	}
	var body struct {
		Credentials *[]any `json:"storage-credentials"`
	}
	k.no(json.Unmarshal(k.call(200, "GET", path, nil).Body, &body), "decode")
	if body.Credentials == nil {
		k.failf("there is no list of credentials")
	}
}

func reportMetrics(k *kit) {
	k.call(204, "POST", k.catalog.Table("orders", k.at(sales)...)+"/metrics", metrics("orders"))
}

func listViews(k *kit) {
	a, err := k.catalog.Call("GET", k.catalog.Namespace(k.at(sales)...)+"/views", nil)
	k.no(err, "list")
	if k.server.noViews {
		if a.Status != 501 {
			k.failf("a server without views lists them: %v", a)
		}
		return
	}
	var body struct {
		Identifiers []struct {
			Namespace []string
			Name      string
		}
	}
	k.no(json.Unmarshal(a.Body, &body), "decode")
	if len(body.Identifiers) != 1 || body.Identifiers[0].Name != "recent" || !slices.Equal(body.Identifiers[0].Namespace, k.at(sales)) {
		k.failf("%v", a)
	}
}

func loadView(k *kit) {
	path := k.catalog.Namespace(k.at(sales)...) + "/views/recent"
	if k.server.noViews {
		k.refused(501, "UnsupportedOperationException", "GET", path, nil, k.mount)
		return
	}
	type document struct {
		Location string `json:"metadata-location"`
		Metadata struct {
			UUID     string `json:"view-uuid"`
			Versions []struct {
				Default         []string `json:"default-namespace"`
				Representations []struct{ SQL, Dialect string }
			}
		}
	}
	var got, want document
	k.no(json.Unmarshal(k.call(200, "GET", path, nil).Body, &got), "decode")
	a, err := k.direct.Call("GET", k.direct.Namespace(sales)+"/views/recent", nil)
	k.no(err, "load past Icefield")
	k.no(json.Unmarshal(a.Body, &want), "decode")
	if len(want.Metadata.Versions) != 1 || !slices.Equal(want.Metadata.Versions[0].Default, []string{sales}) {
		k.failf("the remote's view: %+v", want)
	}
	want.Metadata.Versions[0].Default = k.at(sales)
	if !reflect.DeepEqual(got, want) || got.Location == "" {
		k.failf("%+v instead of %+v", got, want)
	}
}

func viewExists(k *kit) {
	views := k.catalog.Namespace(k.at(sales)...) + "/views/"
	if k.server.noViews {
		k.call(501, "HEAD", views+"recent", nil)
		return
	}
	k.call(204, "HEAD", views+"recent", nil)
	k.call(404, "HEAD", views+"nothing", nil)
}

func absentView(k *kit) {
	if k.server.noViews {
		k.refused(501, "UnsupportedOperationException", "GET", k.catalog.Namespace(k.at(sales)...)+"/views/nothing", nil, k.mount)
		return
	}
	k.refused(404, "NoSuchViewException", "GET", k.catalog.Namespace(k.at(sales)...)+"/views/nothing", nil, "nothing")
	k.refused(404, "NoSuchViewException", "GET", k.catalog.Namespace(k.at("nowhere")...)+"/views/recent", nil, "recent")
}

func listAbsentViews(k *kit) {
	views := k.catalog.Namespace(k.at("nowhere")...) + "/views"
	if k.server.noViews {
		k.refused(501, "UnsupportedOperationException", "GET", views, nil, k.mount)
		return
	}
	k.refused(404, "NoSuchNamespaceException", "GET", views, nil, "nowhere")
}

func readOnly(k *kit) {
	const kind = "UnsupportedOperationException"
	table := k.catalog.Table("orders", k.at(sales)...)
	k.refused(501, kind, "POST", k.catalog.Namespace(k.at(sales)...)+"/tables", object{"name": "new", "schema": object{}}, shelf)
	k.refused(501, kind, "POST", table, object{"requirements": []any{}, "updates": []any{}}, shelf)
	k.refused(501, kind, "DELETE", table, nil, shelf)
	k.refused(501, kind, "POST", "/namespaces", object{"namespace": k.at("new")}, shelf)
	k.refused(501, kind, "DELETE", k.catalog.Namespace(k.at(spare)...), nil, shelf)
}
