package mounttest

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Metadata returns a valid table metadata document (format version 2) of
// exactly that many bytes, or the smallest there is if that is more: 24
// columns, as many appended snapshots with their logs as fit, and padding in a
// table property. Equal sizes give equal documents. The padding is less than
// one snapshot, so the document has the shape of a real one.
func Metadata(bytes int) json.RawMessage {
	// A snapshot with its log entries is longer than this.
	const perSnapshot = 500
	n := sort.Search(bytes/perSnapshot+1, func(n int) bool { return len(document(n, "")) > bytes }) - 1
	doc := document(max(0, n), "")
	if missing := bytes - len(doc); missing > 0 {
		doc = document(max(0, n), strings.Repeat("x", missing))
	}
	return doc
}

func document(snapshots int, padding string) json.RawMessage {
	const location = "s3://sample-bucket/warehouse/shop/orders"
	const start = int64(1700000000000)
	fields := make([]any, 24)
	types := PrimitiveTypes(false)
	for i := range fields {
		fields[i] = map[string]any{"id": i + 1, "name": fmt.Sprintf("column_%02d", i+1), "required": i == 0,
			"type": types[(i+2)%len(types)], "doc": "what this column holds"}
	}
	doc := map[string]any{
		"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": location,
		"last-sequence-number": snapshots, "last-updated-ms": start + int64(snapshots)*60000, "last-column-id": len(fields),
		"schemas":           []any{map[string]any{"type": "struct", "schema-id": 0, "identifier-field-ids": []int{1}, "fields": fields}},
		"current-schema-id": 0,
		"partition-specs": []any{map[string]any{"spec-id": 0, "fields": []any{
			map[string]any{"source-id": 7, "field-id": 1000, "name": "column_07_day", "transform": "day"}}}},
		"default-spec-id": 0, "last-partition-id": 1000,
		"sort-orders": []any{map[string]any{"order-id": 1, "fields": []any{
			map[string]any{"transform": "identity", "source-id": 1, "direction": "asc", "null-order": "nulls-first"}}}},
		"default-sort-order-id": 1,
		"properties": map[string]string{"owner": "suite", "write.parquet.compression-codec": "zstd",
			"comment": padding},
		"current-snapshot-id": -1, "refs": map[string]any{},
		"snapshots": []any{}, "snapshot-log": []any{}, "metadata-log": []any{},
		"statistics": []any{}, "partition-statistics": []any{},
	}
	var list, log, files []any
	for i := 1; i <= snapshots; i++ {
		id, at := 3055729675574597000+int64(i), start+int64(i)*60000
		snapshot := map[string]any{
			"snapshot-id": id, "sequence-number": i, "timestamp-ms": at, "schema-id": 0,
			"manifest-list": fmt.Sprintf("%s/metadata/snap-%d-1-0f7c1d4e-8f5b-4c1c-9d7e-%012d.avro", location, id, i),
			"summary": map[string]string{"operation": "append", "spark.app.id": "application_1700000000000_0042",
				"added-data-files": "4", "added-records": "182000", "added-files-size": "54021931", "changed-partition-count": "2",
				"total-records": fmt.Sprint(182000 * i), "total-files-size": fmt.Sprint(54021931 * i), "total-data-files": fmt.Sprint(4 * i),
				"total-delete-files": "0", "total-position-deletes": "0", "total-equality-deletes": "0",
				"engine-name": "spark", "engine-version": "3.5.1", "iceberg-version": "Apache Iceberg 1.9.0"},
		}
		if i > 1 {
			snapshot["parent-snapshot-id"] = id - 1
		}
		list = append(list, snapshot)
		log = append(log, map[string]any{"snapshot-id": id, "timestamp-ms": at})
		files = append(files, map[string]any{"timestamp-ms": at - 60000,
			"metadata-file": fmt.Sprintf("%s/metadata/%05d-4f1c2a9b-6d0e-4b58-8a77-%012d.metadata.json", location, i-1, i)})
		doc["current-snapshot-id"], doc["refs"] = id, map[string]any{"main": map[string]any{"snapshot-id": id, "type": "branch"}}
	}
	if snapshots > 0 {
		doc["snapshots"], doc["snapshot-log"], doc["metadata-log"] = list, log, files
	}
	return encode(doc)
}
