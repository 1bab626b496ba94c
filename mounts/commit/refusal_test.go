package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestRefusedUpdates(t *testing.T) {
	v1, v2, v3 := grown(t, 1, 2), grown(t, 2, 2), grown(t, 3, 2)
	schemaOf := func(fields string, rest ...string) string {
		return addSchema(`{"type":"struct","fields":[` + fields + `]` + strings.Join(rest, "") + `}`)
	}
	id := `{"id":1,"name":"id","required":true,"type":"long"}`
	deep := `"long"`
	for i := range maxTypeDepth + 1 {
		deep = fmt.Sprintf(`{"type":"list","element-id":%d,"element-required":false,"element":%s}`, 10+i, deep)
	}
	next := int64(now + 1001)
	for name, test := range map[string]struct {
		base    json.RawMessage
		updates string
		kind    mounts.Kind
		part    string
	}{
		"other uuid": {v2, `{"action":"assign-uuid","uuid":"00000000-0000-0000-0000-000000000001"}`, mounts.ValidationFailed, "never changes"},
		"no uuid":    {v2, `{"action":"assign-uuid","uuid":"abc"}`, mounts.BadRequest, "not a UUID"},

		"variant before v3":         {v2, schemaOf(id + `,{"id":3,"name":"v","required":false,"type":"variant"}`), mounts.ValidationFailed, "variant is not supported until v3"},
		"nested variant before v3":  {v1, schemaOf(id + `,{"id":3,"name":"l","required":false,"type":{"type":"list","element-id":4,"element-required":false,"element":"variant"}}`), mounts.ValidationFailed, "invalid type for l.element: variant is not supported until v3"},
		"geometry before v3":        {v2, schemaOf(id + `,{"id":3,"name":"g","required":false,"type":"geometry(OGC:CRS84)"}`), mounts.ValidationFailed, "until v3"},
		"default before v3":         {v2, schemaOf(id + `,{"id":3,"name":"d","required":false,"type":"int","initial-default":1}`), mounts.ValidationFailed, "default is not supported until v3"},
		"default of a variant":      {v3, schemaOf(id + `,{"id":3,"name":"v","required":false,"type":"variant","initial-default":1}`), mounts.ValidationFailed, "null initial-default"},
		"unknown type":              {v2, schemaOf(id + `,{"id":3,"name":"u","required":false,"type":"tensor"}`), mounts.ValidationFailed, "unrecognized"},
		"unknown nested type":       {v2, schemaOf(id + `,{"id":3,"name":"u","required":false,"type":{"type":"tensor"}}`), mounts.BadRequest, `"tensor"`},
		"column id twice":           {v2, schemaOf(id + `,{"id":1,"name":"two","required":false,"type":"int"}`), mounts.ValidationFailed, "stands twice"},
		"column id twice, nested":   {v2, schemaOf(id + `,{"id":3,"name":"l","required":false,"type":{"type":"list","element-id":1,"element-required":false,"element":"int"}}`), mounts.ValidationFailed, "stands twice"},
		"column name twice":         {v2, schemaOf(id + `,{"id":3,"name":"id","required":false,"type":"int"}`), mounts.ValidationFailed, "schema is not valid"},
		"column without id":         {v2, schemaOf(`{"name":"id","required":true,"type":"long"}`), mounts.BadRequest, `"id" of "id" is missing`},
		"column id of 0":            {v2, schemaOf(`{"id":0,"name":"id","required":true,"type":"long"}`), mounts.ValidationFailed, "ids are 1 to"},
		"reserved column id":        {v2, schemaOf(`{"id":2147483546,"name":"id","required":true,"type":"long"}`), mounts.ValidationFailed, "ids are 1 to"},
		"column without name":       {v2, schemaOf(`{"id":1,"required":true,"type":"long"}`), mounts.BadRequest, "no name"},
		"column name too long":      {v2, schemaOf(`{"id":1,"required":true,"type":"long","name":"` + strings.Repeat("x", maxName+1) + `"}`), mounts.BadRequest, "4096"},
		"column without required":   {v2, schemaOf(`{"id":1,"name":"id","type":"long"}`), mounts.ValidationFailed, "'required'"},
		"schema is no struct":       {v2, addSchema(`{"type":"list","fields":[]}`), mounts.ValidationFailed, "must be struct"},
		"schema without fields":     {v2, addSchema(`{"type":"struct"}`), mounts.ValidationFailed, "fields are required"},
		"no schema":                 {v2, `{"action":"add-schema"}`, mounts.BadRequest, `"schema" is missing`},
		"types too deep":            {v2, schemaOf(id + `,{"id":3,"name":"d","required":false,"type":` + deep + `}`), mounts.ValidationFailed, "deeper than 100"},
		"identifier is missing":     {v2, schemaOf(id, `,"identifier-field-ids":[9]`), mounts.ValidationFailed, "names 9 as identifier"},
		"identifier is optional":    {v2, schemaOf(id+`,{"id":3,"name":"o","required":false,"type":"int"}`, `,"identifier-field-ids":[3]`), mounts.ValidationFailed, "optional"},
		"identifier is a float":     {v2, schemaOf(id+`,{"id":3,"name":"f","required":true,"type":"double"}`, `,"identifier-field-ids":[3]`), mounts.ValidationFailed, "double"},
		"identifier in optional":    {v2, schemaOf(id+`,{"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[{"id":4,"name":"i","required":true,"type":"int"}]}}`, `,"identifier-field-ids":[4]`), mounts.ValidationFailed, "optional struct"},
		"identifier in a list":      {v2, schemaOf(id+`,{"id":3,"name":"l","required":true,"type":{"type":"list","element-id":4,"element-required":true,"element":"int"}}`, `,"identifier-field-ids":[4]`), mounts.ValidationFailed, "inside a list"},
		"no schema added":           {v2, lastSchema, mounts.ValidationFailed, "none was added"},
		"unknown schema":            {v2, `{"action":"set-current-schema","schema-id":5}`, mounts.ValidationFailed, "no schema with the id 5"},
		"current schema removed":    {v2, `{"action":"remove-schemas","schema-ids":[0]}`, mounts.ValidationFailed, "cannot be removed"},
		"schema removed and chosen": {v2, addSchema(threeColumns) + `,{"action":"remove-schemas","schema-ids":[1]},` + lastSchema, mounts.ValidationFailed, "none was added"},

		"spec on no column":         {v2, addSpec(`{"source-id":9,"name":"x","transform":"identity"}`), mounts.ValidationFailed, "column 9"},
		"spec on no second column":  {v3, addSpec(`{"source-ids":[1,9],"name":"x","transform":"zorder"}`), mounts.ValidationFailed, "column 9"},
		"spec with wrong type":      {v2, addSpec(`{"source-id":1,"name":"x","transform":"day"}`), mounts.ValidationFailed, `applies day to "id"`},
		"spec with a column's name": {v2, addSpec(`{"source-id":2,"name":"id","transform":"day"}`), mounts.ValidationFailed, "name of another column"},
		"spec without transform":    {v2, addSpec(`{"source-id":2,"name":"x"}`), mounts.ValidationFailed, "transform"},
		"spec without name":         {v2, addSpec(`{"source-id":2,"transform":"day"}`), mounts.ValidationFailed, "name"},
		"spec field id twice":       {v2, addSpec(`{"source-id":1,"field-id":1001,"name":"a","transform":"bucket[2]"},{"source-id":2,"field-id":1001,"name":"b","transform":"day"}`), mounts.ValidationFailed, "1001 twice"},
		"spec repeats itself":       {v2, addSpec(`{"source-id":1,"name":"a","transform":"bucket[2]"},{"source-id":1,"name":"b","transform":"bucket[2]"}`), mounts.ValidationFailed, "redundant"},
		"spec without fields":       {v2, `{"action":"add-spec","spec":{}}`, mounts.BadRequest, "fields"},
		"spec with too many fields": {v2, addSpec(strings.TrimSuffix(strings.Repeat(`{},`, maxFields+1), ",")), mounts.ValidationFailed, "more than 1000"},
		"no spec added":             {v2, lastSpec, mounts.ValidationFailed, "none was added"},
		"unknown spec":              {v2, `{"action":"set-default-spec","spec-id":5}`, mounts.ValidationFailed, "no partition spec with the id 5"},
		"spec on two before v3":     {v2, addSpec(`{"source-ids":[1,2],"name":"z","transform":"zorder"}`), mounts.ValidationFailed, "2 sources; a transform of several columns is not supported until v3"},
		"order on two before v3":    {v1, addOrder(2, `{"source-ids":[1,2],"transform":"zorder","direction":"asc","null-order":"nulls-first"}`), mounts.ValidationFailed, "not supported until v3"},
		"default spec removed":      {v2, `{"action":"remove-partition-specs","spec-ids":[0]}`, mounts.ValidationFailed, "cannot be removed"},

		"order on no column":  {v2, addOrder(2, `{"source-id":9,"transform":"identity","direction":"asc","null-order":"nulls-first"}`), mounts.ValidationFailed, "column 9"},
		"order without order": {v2, addOrder(2, `{"source-id":1,"transform":"identity","null-order":"nulls-first"}`), mounts.ValidationFailed, "direction"},
		"no order added":      {v2, lastOrder, mounts.ValidationFailed, "none was added"},
		"unknown order":       {v2, `{"action":"set-default-sort-order","sort-order-id":5}`, mounts.ValidationFailed, "no sort order with the id 5"},

		"stale sequence number":   {v2, snap(2, 200, 102, 2, next, ""), mounts.CommitConflict, "please retry"},
		"no sequence number":      {v2, strings.Replace(snap(2, 200, 102, 3, next, ""), `"sequence-number":3,`, ``, 1), mounts.BadRequest, "sequence-number"},
		"snapshot exists":         {v2, snap(2, 102, 101, 3, next, ""), mounts.ValidationFailed, "already has a snapshot with the id 102"},
		"snapshot twice":          {v2, snap(2, 200, 102, 3, next, "") + "," + snap(2, 200, 102, 4, next, ""), mounts.ValidationFailed, "already has a snapshot"},
		"parent is missing":       {v2, snap(2, 200, 77, 3, next, ""), mounts.ValidationFailed, "parent 77"},
		"schema is missing":       {v2, strings.Replace(snap(2, 200, 102, 3, next, ""), `"schema-id":0`, `"schema-id":8`, 1), mounts.ValidationFailed, "schema 8"},
		"snapshot too old":        {v2, snap(2, 200, 102, 3, now-60_000, ""), mounts.ValidationFailed, "before the table's last change"},
		"snapshot far ahead":      {v2, snap(2, 200, 102, 3, now*1000, ""), mounts.ValidationFailed, "milliseconds"},
		"snapshot without id":     {v2, `{"action":"add-snapshot","snapshot":{"timestamp-ms":1}}`, mounts.BadRequest, "snapshot-id"},
		"snapshot without files":  {v2, strings.Replace(snap(2, 200, 102, 3, next, ""), `"manifest-list"`, `"x"`, 1), mounts.BadRequest, "manifest-list"},
		"summary of numbers":      {v2, strings.Replace(snap(2, 200, 102, 3, next, ""), `"append"`, `7`, 1), mounts.BadRequest, `"/summary/operation"`},
		"row ids before v3":       {v2, snap(2, 200, 102, 3, next, rows(0, 1)), mounts.ValidationFailed, "belong to v3"},
		"no row ids in v3":        {v3, snap(3, 200, 102, 3, next, ""), mounts.ValidationFailed, "first-row-id"},
		"no added rows in v3":     {v3, snap(3, 200, 102, 3, next, `,"first-row-id":20`), mounts.ValidationFailed, "added-rows"},
		"key before v3":           {v2, snap(2, 200, 102, 3, next, `,"key-id":"k"`), mounts.ValidationFailed, "belongs to a v3 table"},
		"stale row ids":           {v3, snap(3, 200, 102, 3, next, rows(19, 1)), mounts.CommitConflict, "please retry"},
		"negative rows":           {v3, snap(3, 200, 102, 3, next, rows(20, -1)), mounts.ValidationFailed, "negative"},
		"rows beyond 64 bits":     {v3, snap(3, 200, 102, 3, next, rows(20, 9223372036854775800)), mounts.ValidationFailed, "64 bits"},
		"number of a v1 snapshot": {v1, snap(1, 200, 102, 0, next, `,"sequence-number":-4`), mounts.ValidationFailed, "-4"},

		"ref to nothing":         {v2, setRef("dev", "branch", 77), mounts.ValidationFailed, "snapshot 77"},
		"ref of no kind":         {v2, setRef("dev", "twig", 101), mounts.ValidationFailed, "not valid"},
		"ref without kind":       {v2, `{"action":"set-snapshot-ref","ref-name":"dev","snapshot-id":101}`, mounts.BadRequest, `"type"`},
		"ref without name":       {v2, setRef("", "branch", 101), mounts.BadRequest, "ref-name"},
		"ref name too long":      {v2, setRef(strings.Repeat("r", maxName+1), "branch", 101), mounts.BadRequest, "ref-name"},
		"main as a tag":          {v2, setRef("main", "tag", 101), mounts.ValidationFailed, "main is a branch"},
		"age of zero":            {v2, strings.Replace(setRef("dev", "branch", 101), `}`, `,"max-ref-age-ms":0}`, 1), mounts.ValidationFailed, "greater than 0"},
		"tag that keeps":         {v2, strings.Replace(setRef("dev", "tag", 101), `}`, `,"min-snapshots-to-keep":1}`, 1), mounts.ValidationFailed, "tags do not"},
		"snapshot ids are text":  {v2, `{"action":"remove-snapshots","snapshot-ids":["101"]}`, mounts.BadRequest, "/snapshot-ids/0"},
		"location is empty":      {v2, `{"action":"set-location","location":"/"}`, mounts.ValidationFailed, "empty"},
		"property is a number":   {v2, `{"action":"set-properties","updates":{"a":1}}`, mounts.BadRequest, "/updates/a"},
		"property name too long": {v2, `{"action":"set-properties","updates":{"` + strings.Repeat("p", maxName+1) + `":"v"}}`, mounts.ValidationFailed, "over 4096"},
		"statistics of nothing":  {v2, `{"action":"set-statistics","statistics":{"snapshot-id":7,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, mounts.ValidationFailed, "snapshot 7"},
		"statistics of two":      {v2, `{"action":"set-statistics","snapshot-id":102,"statistics":{"snapshot-id":101,"statistics-path":"p","file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}}`, mounts.BadRequest, "about snapshot 102"},
		"lineage before v3":      {v2, `{"action":"enable-row-lineage"}`, mounts.ValidationFailed, "row lineage is not supported until v3"},
		"secret before v3":       {v2, addKey(`"key-id":"k","encrypted-key-metadata":"AA=="`), mounts.ValidationFailed, "not supported until v3"},
		"secret without id":      {v3, addKey(`"encrypted-key-metadata":"AA=="`), mounts.BadRequest, "needs"},
		"secret without text":    {v3, addKey(`"key-id":"k"`), mounts.BadRequest, "needs"},
		"secret of blank id":     {v3, addKey(`"key-id":" k","encrypted-key-metadata":"AA=="`), mounts.BadRequest, "blank"},
		"secret of nothing":      {v3, addKey(`"key-id":"k","encrypted-key-metadata":""`), mounts.BadRequest, "base64"},
		"secret in plain":        {v3, addKey(`"key-id":"k","encrypted-key-metadata":"?"`), mounts.BadRequest, "base64"},
		"secret in lines":        {v3, addKey(`"key-id":"k","encrypted-key-metadata":"AA\n=="`), mounts.BadRequest, "base64"},
		"secret with a null":     {v3, addKey(`"key-id":"k","encrypted-key-metadata":"AA==","properties":{"a":null}`), mounts.BadRequest, "/properties/a"},
		"no secret":              {v3, `{"action":"add-encryption-key"}`, mounts.BadRequest, `"encryption-key"`},
		"no secret's id":         {v3, `{"action":"remove-encryption-key"}`, mounts.BadRequest, `"key-id"`},
		"statistics cut short":   {v2, `{"action":"set-statistics","statistics":{"snapshot-id":101,"statistics-path":"p","file-size-in-bytes":1}}`, mounts.BadRequest, "file-footer-size-in-bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := commitTo(test.base, ``, test.updates)
			refused(t, err, test.kind, test.part)
			if msg := mounts.AsError(err).Message(); strings.Contains(msg, "{object}") || len(msg) > 700 {
				t.Fatalf("the message is not fit for a client: %s", msg)
			}
		})
	}
}

func TestACommitThatFailsHalfWayChangesNothing(t *testing.T) {
	doc := grown(t, 2, 2)
	before := string(doc)
	_, err := commitTo(doc, ``, setRef("dev", "branch", 101)+`,{"action":"remove-snapshots","snapshot-ids":[101]},{"action":"set-current-schema","schema-id":9}`)
	refused(t, err, mounts.ValidationFailed, "id 9")
	if string(doc) != before {
		t.Fatal("the base changed")
	}
}

func TestAParentlessSnapshotDoesNotTurnBackTheSequence(t *testing.T) {
	doc := must(t, grown(t, 2, 3), ``, snap(2, 200, 0, 1, now+9000, ""))
	wants(t, doc, "3", "last-sequence-number")
}

func TestRowsThatBeginLateAreNotGivenAgain(t *testing.T) {
	doc := must(t, grown(t, 3, 1), ``, snap(3, 200, 101, 2, now+9000, rows(50, 5)))
	wants(t, doc, "55", "next-row-id")
}

func TestStoredMetadataThatCannotBeReadIsOurFault(t *testing.T) {
	for name, doc := range map[string]string{
		"nothing":       ``,
		"not JSON":      `{"format-version":2,`,
		"list":          `[]`,
		"name twice":    `{"format-version":2,"format-version":3}`,
		"odd numbers":   strings.Replace(string(made(t, 2)), `"last-column-id":2`, `"last-column-id":"two"`, 1),
		"odd snapshots": strings.Replace(string(made(t, 2)), `"snapshots":[]`, `"snapshots":{}`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := commitTo(json.RawMessage(doc), ``, addSchema(threeColumns))
			refused(t, err, mounts.Internal, "stored metadata of db.events cannot be read")
		})
	}
	_, err := commitTo(json.RawMessage(`{"format-version":4}`), ``, ``)
	refused(t, err, mounts.ValidationFailed, "format version 4")
}
