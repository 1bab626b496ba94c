package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go/table"

	"github.com/icefield/icefield/mounts"
)

// long is a v2 table with a history of n snapshots, with summaries as engines
// write them.
func long(t testing.TB, n int) json.RawMessage {
	o, _ := parseObject(made(t, 2))
	snapshots, log := make([][]byte, n), make([][]byte, n)
	for i := range n {
		id, parent := int64(4_000_000_000_000_000_000+i*7), ""
		if i > 0 {
			parent = fmt.Sprintf(`"parent-snapshot-id":%d,`, id-7)
		}
		snapshots[i] = fmt.Appendf(nil, `{"snapshot-id":%d,%s"sequence-number":%d,"timestamp-ms":%d,"schema-id":0,"manifest-list":"s3://bucket/warehouse/db/events/metadata/snap-%d-1-0a8f2f6e-5d1c-4a53-9f4e-9a1f6d2b1c11.avro","summary":{"operation":"append","added-data-files":"4","added-records":"40000","added-files-size":"123456","changed-partition-count":"4","total-records":"%d","total-files-size":"%d","total-data-files":"%d","total-delete-files":"0","total-position-deletes":"0","total-equality-deletes":"0"}}`,
			id, parent, i+1, now-int64(n-i)*1000, id, i*40000, i*123456, i*4)
		log[i] = fmt.Appendf(nil, `{"timestamp-ms":%d,"snapshot-id":%d}`, now-int64(n-i)*1000, id)
	}
	head := int64(4_000_000_000_000_000_000 + (n-1)*7)
	o.set("snapshots", encodeArray(snapshots))
	o.set("snapshot-log", encodeArray(log))
	o.setInt("current-snapshot-id", head)
	o.setInt("last-sequence-number", int64(n))
	o.set("refs", fmt.Appendf(nil, `{"main":{"snapshot-id":%d,"type":"branch"}}`, head))
	doc := o.encode()
	readable(t, doc)
	return doc
}

func appendTo(n int) (requirements, updates string) {
	head := int64(4_000_000_000_000_000_000 + (n-1)*7)
	return fmt.Sprintf(`{"type":"assert-table-uuid","uuid":%q},{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":%d}`, tableUUID, head),
		snap(2, 8_000_000_000_000_000_000, head, int64(n+1), now, "") + "," + setRef("main", "branch", 8_000_000_000_000_000_000)
}

// BenchmarkAppend commits an append to a table with a history, and has iceberg-go
// parse, apply and marshal the same in the same run. x-iceberg-go is how many
// times as long that takes.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{10, 1000, 5000} {
		doc := long(b, n)
		requirements, updates := appendTo(n)
		req := &mounts.CommitTableRequest{Table: ident, Requirements: raws(requirements), Updates: raws(updates)}
		b.Run(fmt.Sprintf("snapshots=%d", n), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			var here, there time.Duration
			var all, few int
			for b.Loop() {
				began := time.Now()
				if _, err := Table(&Base{Metadata: doc, Location: "s3://b/m"}, req, fixed()); err != nil {
					b.Fatal(err)
				}
				here += time.Since(began)
				if all++; all%16 != 1 {
					continue
				}
				b.StopTimer()
				began = time.Now()
				if _, err := libraryCommit(doc, updates); err != nil {
					b.Fatal(err)
				}
				there += time.Since(began)
				few++
				b.StartTimer()
			}
			ours, theirs := float64(here)/float64(all), float64(there)/float64(few)
			b.ReportMetric(theirs/ours, "x-iceberg-go")
			b.ReportMetric(theirs, "iceberg-go-ns/op")
		})
	}
}

// libraryCommit is what the engine replaces: parse, apply, marshal.
func libraryCommit(doc json.RawMessage, updates string) (json.RawMessage, error) {
	meta, err := table.ParseMetadataBytes(doc)
	if err != nil {
		return nil, err
	}
	var list table.Updates
	if err := json.Unmarshal([]byte("["+updates+"]"), &list); err != nil {
		return nil, err
	}
	next, err := table.UpdateTableMetadata(meta, list, "s3://b/t/metadata/1.json")
	if err != nil {
		return nil, err
	}
	return json.Marshal(next)
}

func BenchmarkRefs(b *testing.B) {
	doc := long(b, 5000)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Refs(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInspect(b *testing.B) {
	doc := long(b, 5000)
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Inspect(doc); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExpire(b *testing.B) {
	doc := long(b, 5000)
	ids := make([]string, 2500)
	for i := range ids {
		ids[i] = fmt.Sprint(int64(4_000_000_000_000_000_000 + i*7))
	}
	req := &mounts.CommitTableRequest{Table: ident, Updates: raws(`{"action":"remove-snapshots","snapshot-ids":[` + strings.Join(ids, ",") + `]}`)}
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := Table(&Base{Metadata: doc}, req, fixed()); err != nil {
			b.Fatal(err)
		}
	}
}
