package mounttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// createChecks are about creating tables, at once and staged.
func createChecks() []check {
	create := of(capabilities.CreateTable)
	staged := create.Union(of(capabilities.CommitTable))
	return []check{
		{name: "create/all primitive types", needs: create, run: func(s *suite) { s.createTypes(false) }},
		{name: "create/version 3 types", needs: create, run: func(s *suite) { s.createTypes(true) }},
		{name: "create/nested types", needs: create, run: (*suite).createNested},
		{name: "create/partitioned and sorted", needs: create, run: (*suite).createPartitioned},
		{name: "create/first metadata", needs: create, run: (*suite).createFirst},
		{name: "create/format version", needs: create, run: (*suite).createVersion},
		{name: "create/properties", needs: create, run: (*suite).createProperties},
		{name: "create/location inside", needs: create, run: (*suite).createLocation},
		{name: "create/location outside", needs: create, run: (*suite).createOutside},
		{name: "create/duplicate", needs: create, run: (*suite).createDuplicate},
		{name: "create/missing namespace", needs: create, run: (*suite).createMissing},
		{name: "create/invalid schema", needs: create, run: (*suite).createInvalid},
		{name: "create/staged lists nothing", needs: create, run: (*suite).stagedNothing},
		{name: "create/staged duplicate", needs: create, run: (*suite).stagedDuplicate},
		{name: "create/staged then committed", needs: staged, run: (*suite).stagedCommit},
		{name: "create/staged twice", needs: staged, run: (*suite).stagedTwice},
		{name: "create/staged into a dropped namespace", needs: staged, writes: of(capabilities.DropNamespace), run: (*suite).stagedOrphan},
	}
}

func (s *suite) create(req *mounts.CreateTableRequest) doc {
	s.Helper()
	created, err := s.b.CreateTable(s.ctx, req)
	s.must(err)
	loaded := s.load(req.Object())
	if created.MetadataLocation != loaded.MetadataLocation || !sameJSON(created.Metadata, loaded.Metadata) {
		s.Error("what a creation answers is not what is loaded")
	}
	return s.doc(loaded.Metadata)
}

// schemaOf is the current schema of a table.
func (d doc) schema() doc {
	id, _ := d.num("current-schema-id")
	return d.by("schemas", "schema-id", id)
}

// column is the field of that name in a schema.
func (d doc) column(name string) doc {
	for _, field := range d.list("fields") {
		if field.text("name") == name {
			return field
		}
	}
	return nil
}

func (s *suite) createTypes(v3 bool) {
	types := PrimitiveTypes(v3)
	var fields []string
	for i, typ := range types {
		fields = append(fields, fmt.Sprintf(`{"id":%d,"name":"c%d","required":false,"type":%q}`, i+1, i, typ))
	}
	req := &mounts.CreateTableRequest{Namespace: s.namespace("shop"), Name: "types",
		Schema: raw(`{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`)}
	if v3 {
		req.Properties = map[string]string{"format-version": "3"}
	}
	schema := s.create(req).schema()
	for i, typ := range types {
		column := schema.column(fmt.Sprintf("c%d", i))
		got := strings.ReplaceAll(column.text("type"), " ", "")
		if got != strings.ReplaceAll(typ, " ", "") {
			s.Errorf("%s became %q", typ, got)
		}
		if required, ok := column["required"].(bool); !ok || required {
			s.Errorf("%s became required", typ)
		}
	}
	if n := len(schema.list("fields")); n != len(types) {
		s.Errorf("%d columns, want %d", n, len(types))
	}
}

func (s *suite) createNested() {
	table := s.create(&mounts.CreateTableRequest{Namespace: s.namespace("shop"), Name: "nested", Schema: raw(`{"type":"struct","fields":[
		{"id":1,"name":"id","required":true,"type":"long","doc":"the key"},
		{"id":2,"name":"address","required":true,"type":{"type":"struct","fields":[
			{"id":3,"name":"street","required":false,"type":"string"},
			{"id":4,"name":"geo","required":false,"type":{"type":"struct","fields":[{"id":5,"name":"lat","required":true,"type":"double"}]}}]}},
		{"id":6,"name":"tags","required":false,"type":{"type":"list","element-id":7,"element-required":true,"element":"string"}},
		{"id":8,"name":"prices","required":false,"type":{"type":"map","key-id":9,"key":"string","value-id":10,"value-required":false,
			"value":{"type":"list","element-id":11,"element-required":false,"element":"decimal(9, 2)"}}}]}`)})
	schema := table.schema()
	if schema.column("id").text("doc") != "the key" {
		s.Error("the doc of a column is lost")
	}
	address := schema.column("address").sub("type")
	if address.column("geo").sub("type").column("lat").text("type") != "double" {
		s.Errorf("the struct became %v", address)
	}
	if tags := schema.column("tags").sub("type"); tags.text("element") != "string" || tags["element-required"] != true {
		s.Errorf("the list became %v", tags)
	}
	prices := schema.column("prices").sub("type")
	if prices.text("key") != "string" || prices.sub("value").text("type") != "list" {
		s.Errorf("the map became %v", prices)
	}
	if last, _ := table.num("last-column-id"); last != 11 {
		s.Errorf("last-column-id %d, want 11 for eleven fields", last)
	}
	ids := fieldIDs(schema)
	slices.Sort(ids)
	if !slices.Equal(ids, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) {
		s.Errorf("field ids %v, want 1 to 11, each once", ids)
	}
}

// fieldIDs collects the ids of all fields, elements, keys and values.
func fieldIDs(d doc) (ids []int64) {
	if d == nil {
		return nil
	}
	for _, key := range []string{"id", "element-id", "key-id", "value-id"} {
		if id, ok := d.num(key); ok {
			ids = append(ids, id)
		}
	}
	for _, key := range []string{"type", "element", "key", "value"} {
		ids = append(ids, fieldIDs(d.sub(key))...)
	}
	for _, field := range d.list("fields") {
		ids = append(ids, fieldIDs(field)...)
	}
	return ids
}

// createPartitioned sends ids that a catalog may assign anew: spec and order
// must go along.
func (s *suite) createPartitioned() {
	table := s.create(&mounts.CreateTableRequest{Namespace: s.namespace("shop"), Name: "events",
		Schema: raw(`{"type":"struct","schema-id":7,"identifier-field-ids":[40],"fields":[
			{"id":40,"name":"id","required":true,"type":"long"},{"id":20,"name":"at","required":false,"type":"timestamptz"},
			{"id":30,"name":"kind","required":false,"type":"string"}]}`),
		PartitionSpec: raw(`{"spec-id":0,"fields":[{"source-id":20,"field-id":1000,"name":"at_day","transform":"day"},
			{"source-id":40,"field-id":1001,"name":"id_bucket","transform":"bucket[16]"}]}`),
		WriteOrder: raw(`{"order-id":1,"fields":[{"source-id":30,"transform":"identity","direction":"desc","null-order":"nulls-last"}]}`)})
	schema := table.schema()
	column := func(name string) int64 { id, _ := schema.column(name).num("id"); return id }
	specID, _ := table.num("default-spec-id")
	spec := table.by("partition-specs", "spec-id", specID).list("fields")
	if len(spec) != 2 {
		s.Fatalf("the default spec has %d fields, want 2", len(spec))
	}
	for i, want := range []struct{ column, name, transform string }{{"at", "at_day", "day"}, {"id", "id_bucket", "bucket[16]"}} {
		source, _ := spec[i].num("source-id")
		field, _ := spec[i].num("field-id")
		if source != column(want.column) || spec[i].text("name") != want.name || spec[i].text("transform") != want.transform || field != int64(1000+i) {
			s.Errorf("partition field %d is %v, want %v of column %d", i, spec[i], want, column(want.column))
		}
	}
	if last, _ := table.num("last-partition-id"); last != 1001 {
		s.Errorf("last-partition-id %d, want 1001", last)
	}
	orderID, _ := table.num("default-sort-order-id")
	order := table.by("sort-orders", "order-id", orderID).list("fields")
	if orderID == 0 || len(order) != 1 {
		s.Fatalf("the default sort order is %d with %d fields", orderID, len(order))
	}
	if source, _ := order[0].num("source-id"); source != column("kind") || order[0].text("direction") != "desc" || order[0].text("null-order") != "nulls-last" {
		s.Errorf("the sort field is %v, want column %d", order[0], column("kind"))
	}
	identifier, _ := schema["identifier-field-ids"].([]any)
	if len(identifier) != 1 || fmt.Sprint(identifier[0]) != fmt.Sprint(column("id")) {
		s.Errorf("identifier fields %v, want column %d", identifier, column("id"))
	}
}

// createFirst: what readers and writers of fresh metadata rely on.
func (s *suite) createFirst() {
	table := s.create(&mounts.CreateTableRequest{Namespace: s.namespace("shop"), Name: "first", Schema: Schema()})
	for key, want := range map[string]int64{"format-version": 2, "current-schema-id": 0, "default-spec-id": 0,
		"default-sort-order-id": 0, "last-column-id": 3, "last-sequence-number": 0} {
		if got, ok := table.num(key); !ok || got != want {
			s.Errorf("%s is %v, want %d", key, table[key], want)
		}
	}
	if table.text("table-uuid") == "" {
		s.Error("no table-uuid")
	}
	if current, ok := table.num("current-snapshot-id"); ok && current != -1 {
		s.Errorf("a new table has the current snapshot %d", current)
	}
	if len(table.list("snapshots")) > 0 || len(table.list("snapshot-log")) > 0 || len(table.list("metadata-log")) > 0 {
		s.Error("a new table has a history")
	}
	if updated, _ := table.num("last-updated-ms"); updated <= 0 {
		s.Error("no last-updated-ms")
	}
	if strings.HasSuffix(table.text("location"), "/") {
		s.Errorf("the location %q ends with a slash", table.text("location"))
	}
}

func (s *suite) createVersion() {
	n := s.namespace("shop")
	for _, version := range []string{"1", "2", "3"} {
		table := s.create(&mounts.CreateTableRequest{Namespace: n, Name: "v" + version, Schema: Schema(),
			Properties: map[string]string{"format-version": version, "kept": "yes"}})
		if got, _ := table.num("format-version"); fmt.Sprint(got) != version {
			s.Errorf("asked for format version %s, got %d", version, got)
		}
		if _, stored := table.sub("properties")["format-version"]; stored || table.sub("properties").text("kept") != "yes" {
			s.Errorf("properties %v", table.sub("properties"))
		}
	}
	id := s.id("v99", "shop")
	_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Name: id.Name, Schema: Schema(),
		Properties: map[string]string{"format-version": "99"}})
	s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	s.absent(id)
}

func (s *suite) createProperties() {
	want := map[string]string{"owner": "hank", "write.format.default": "parquet", "comment": "é & \"quoted\" <b>", "empty": ""}
	table := s.create(&mounts.CreateTableRequest{Namespace: s.namespace("shop"), Name: "props", Schema: Schema(), Properties: want})
	for key, value := range want {
		if got, ok := table.sub("properties")[key]; !ok || got != value {
			s.Errorf("property %s is %v, want %q", key, got, value)
		}
	}
}

// createLocation chooses a place beside one that the catalog chose itself.
func (s *suite) createLocation() {
	id, created := s.fresh()
	asked := s.doc(created.Metadata).text("location") + "-beside/deeper"
	table := s.create(&mounts.CreateTableRequest{Namespace: id.Namespace, Name: "placed", Schema: Schema(), Location: asked + "/"})
	if got := table.text("location"); got != asked {
		s.Errorf("asked for %s, got %s", asked, got)
	}
}

func (s *suite) createOutside() {
	n := s.namespace("shop")
	_, created := s.id("inside", "shop"), s.table(s.id("inside", "shop"))
	inside := s.doc(created.Metadata).text("location")
	for i, location := range []string{"s3://somebody-elses-bucket/table", "file:///etc", inside + "/../../../../../../../../escape", "relative/path"} {
		id := mounts.Identifier{Namespace: n, Name: fmt.Sprint("outside", i)}
		_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Name: id.Name, Schema: Schema(), Location: location})
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.Forbidden)
		s.absent(id)
	}
}

func (s *suite) createDuplicate() {
	id, before := s.fresh()
	_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()})
	s.want(err, id, mounts.AlreadyExists)
	s.unchanged(id, before)
}

func (s *suite) createMissing() {
	for _, stage := range []bool{false, true} {
		_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: s.ns("missing"), Name: "t", Schema: Schema(), StageCreate: stage})
		s.want(err, space(s.ns("missing")), mounts.NoSuchNamespace)
	}
	if got := s.namespaces(s.ns(), 0); len(got) > 0 {
		s.Errorf("left behind: %q", got)
	}
}

func (s *suite) createInvalid() {
	n := s.namespace("shop")
	for i, schema := range []string{
		``, `null`, `[]`, `"text"`, `{"type":"struct"}`,
		`{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"no-such-type"}]}`,
		`{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"},{"id":2,"name":"a","required":false,"type":"int"}]}`,
	} {
		id := mounts.Identifier{Namespace: n, Name: fmt.Sprint("invalid", i)}
		_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Name: id.Name, Schema: json.RawMessage(schema)})
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	}
	for i, spec := range []string{
		`{"spec-id":0,"fields":[{"source-id":99,"field-id":1000,"name":"x","transform":"identity"}]}`,
	} {
		id := mounts.Identifier{Namespace: n, Name: fmt.Sprint("spec", i)}
		_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Name: id.Name, Schema: Schema(), PartitionSpec: raw(spec)})
		s.want(err, id, mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	}
	_, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Schema: Schema()})
	s.want(err, space(n), mounts.BadRequest, mounts.InvalidArgument)
	if got := s.tables(n, 0); len(got) > 0 {
		s.Errorf("left behind: %q", got)
	}
}
