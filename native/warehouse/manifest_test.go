package warehouse

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/apache/iceberg-go"
)

// A manifest list and a manifest of many entries, larger than one read.
func TestManifestsAreReadFromEveryKindOfWarehouse(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		ctx := context.Background()
		const files = 3000
		schema := iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64, Required: true})
		snapshot, sequence := int64(7), int64(1)
		var entries []iceberg.ManifestEntry
		for i := range files {
			data, err := iceberg.NewDataFileBuilder(*iceberg.UnpartitionedSpec, iceberg.EntryContentData,
				w.Root().Join("t", "data", fmt.Sprintf("x=%%2F/%d.parquet", i)).String(), iceberg.ParquetFile, nil, nil, nil, 1, 100)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, iceberg.NewManifestEntry(iceberg.EntryStatusADDED, &snapshot, &sequence, &sequence, data.Build()))
		}
		manifestAt, listAt := w.Root().Join("t", "metadata", "m%20.avro"), w.Root().Join("t", "metadata", "snap-7.avro")
		var content bytes.Buffer
		manifest, err := iceberg.WriteManifest(manifestAt.String(), &content, 2, *iceberg.UnpartitionedSpec, schema, snapshot, entries)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(ctx, manifestAt, content.Bytes()); err != nil {
			t.Fatal(err)
		}
		content.Reset()
		if err := iceberg.WriteManifestList(2, &content, snapshot, nil, &sequence, 0, []iceberg.ManifestFile{manifest}); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(ctx, listAt, content.Bytes()); err != nil {
			t.Fatal(err)
		}
		storage := w.IO(ctx)
		list, err := storage.Open(listAt.String())
		if err != nil {
			t.Fatal(err)
		}
		defer list.Close()
		manifests, err := iceberg.ReadManifestList(list)
		if err != nil || len(manifests) != 1 {
			t.Fatalf("%d manifests, %v", len(manifests), err)
		}
		read, err := manifests[0].FetchEntries(storage, false)
		if err != nil || len(read) != files {
			t.Fatalf("%d entries, %v", len(read), err)
		}
		if got, want := read[files-1].DataFile().FilePath(), entries[files-1].DataFile().FilePath(); got != want {
			t.Errorf("the last is %s, want %s", got, want)
		}
	})
}
