package jobstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/apache/iceberg-go"
)

// Snapshot is one append to a table.
type Snapshot struct {
	// Manifests is the number of its own manifests; its list names those of all
	// snapshots before as well, as that of an append does.
	Manifests int
	// Files is the number of data files in each.
	Files int
	// Deletes adds a manifest of that many delete files.
	Deletes int
	// Also are data files that the first manifest names too, whatever they are.
	Also []string
}

// Layout is a table on disk.
type Layout struct {
	// Location is the table's, as file:///path.
	Location string
	// Data, Manifests and Lists are the files that were written, as locations.
	Data, Manifests, Lists []string
	// Updates are those of a REST commit that adds the snapshots.
	Updates []any

	t         testing.TB
	write     func(location string, content []byte) error
	listed    []iceberg.ManifestFile
	snapshots []any
	made      int64
	began     int64 // in milliseconds
}

// New begins a table at a location of the file system; its folders are made.
func New(t testing.TB, location string) *Layout {
	t.Helper()
	for _, folder := range []string{"data", "metadata"} {
		if err := os.MkdirAll(Path(location+"/"+folder), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	return NewOn(t, location, func(location string, content []byte) error { return os.WriteFile(Path(location), content, 0o600) })
}

// NewOn begins a table at any location, whose files are written by a function.
func NewOn(t testing.TB, location string, write func(location string, content []byte) error) *Layout {
	return &Layout{Location: location, t: t, write: write, began: time.Now().UnixMilli()}
}

// Path is the path of a file: location.
func Path(location string) string { return strings.TrimPrefix(location, "file://") }

// Schema is that of the tables.
func Schema() *iceberg.Schema {
	return iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64})
}

func (l *Layout) put(name string, content []byte) string {
	l.t.Helper()
	location := l.Location + "/" + name
	l.check(l.write(location, content))
	return location
}

// Append writes a snapshot and everything that it leads to.
func (l *Layout) Append(s Snapshot) {
	l.t.Helper()
	l.made++
	id := l.made
	for m := range s.Manifests {
		var names []string
		if m == 0 {
			names = append(names, s.Also...)
		}
		for f := range s.Files {
			name := l.put(fmt.Sprintf("data/%05d-%03d-%05d.parquet", id, m, f), []byte("rows"))
			l.Data = append(l.Data, name)
			names = append(names, name)
		}
		l.manifest(id, m, iceberg.ManifestContentData, names)
	}
	if s.Deletes > 0 {
		var names []string
		for f := range s.Deletes {
			name := l.put(fmt.Sprintf("data/%05d-%05d-deletes.parquet", id, f), []byte("deleted"))
			l.Data = append(l.Data, name)
			names = append(names, name)
		}
		l.manifest(id, s.Manifests, iceberg.ManifestContentDeletes, names)
	}
	var list bytes.Buffer
	sequence := id
	l.check(iceberg.WriteManifestList(2, &list, id, l.parent(id), &sequence, 0, l.listed))
	file := l.put(fmt.Sprintf("metadata/snap-%d.avro", id), list.Bytes())
	l.Lists = append(l.Lists, file)
	snapshot := map[string]any{"snapshot-id": id, "sequence-number": id, "timestamp-ms": l.began + id, "manifest-list": file,
		"summary": map[string]string{"operation": "append"}, "schema-id": 0}
	if parent := l.parent(id); parent != nil {
		snapshot["parent-snapshot-id"] = *parent
	}
	l.snapshots = append(l.snapshots, snapshot)
	l.Updates = append(l.Updates, map[string]any{"action": "add-snapshot", "snapshot": snapshot},
		map[string]any{"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id})
}

func (l *Layout) parent(id int64) *int64 {
	if id == 1 {
		return nil
	}
	before := id - 1
	return &before
}

func (l *Layout) manifest(snapshot int64, number int, content iceberg.ManifestContent, names []string) {
	l.t.Helper()
	var buffer bytes.Buffer
	spec := *iceberg.UnpartitionedSpec
	w, err := iceberg.NewManifestWriter(2, &buffer, spec, Schema(), snapshot, iceberg.WithManifestWriterContent(content))
	l.check(err)
	kind := iceberg.EntryContentData
	if content == iceberg.ManifestContentDeletes {
		kind = iceberg.EntryContentPosDeletes
	}
	for _, name := range names {
		data, err := iceberg.NewDataFileBuilder(spec, kind, name, iceberg.ParquetFile, nil, nil, nil, 1, 4)
		l.check(err)
		l.check(w.Add(iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, nil, nil, data.Build())))
	}
	l.check(w.Close())
	file := l.put(fmt.Sprintf("metadata/%05d-m%d.avro", snapshot, number), buffer.Bytes())
	entry := iceberg.NewManifestFile(2, file, int64(buffer.Len()), 0, snapshot).SequenceNum(snapshot, snapshot).Content(content).
		AddedFiles(int32(len(names))).AddedRows(int64(len(names))).Build() // #nosec G115 -- the few files that a test names
	l.Manifests, l.listed = append(l.Manifests, file), append(l.listed, entry)
}

// Finish writes a metadata file for a table that no catalog made, with more of
// its fields as given, and returns its location.
func (l *Layout) Finish(more map[string]any) string {
	l.t.Helper()
	doc := map[string]any{
		"format-version": 2, "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1", "location": l.Location,
		"last-sequence-number": l.made, "last-updated-ms": l.began + l.made, "last-column-id": 1,
		"schemas": []any{Schema()}, "current-schema-id": 0, "partition-specs": []any{map[string]any{"spec-id": 0, "fields": []any{}}},
		"default-spec-id": 0, "last-partition-id": 999, "sort-orders": []any{map[string]any{"order-id": 0, "fields": []any{}}},
		"default-sort-order-id": 0, "snapshots": l.snapshots, "properties": map[string]string{},
	}
	if l.made > 0 {
		doc["current-snapshot-id"] = l.made
		doc["refs"] = map[string]any{"main": map[string]any{"snapshot-id": l.made, "type": "branch"}}
	}
	maps.Copy(doc, more)
	text, err := json.Marshal(doc)
	l.check(err)
	return l.put("metadata/00001-current.metadata.json", text)
}

func (l *Layout) check(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// Tree lists every file and folder below a folder by its path from there, with
// its content; folders have a slash at the end and none.
func Tree(t testing.TB, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		content, err := fs.ReadFile(files, name)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
