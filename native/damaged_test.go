package native

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// TestADamagedMetadataFileIsAnErrorAndChangesNothing: an answer is put together
// around the document, so half a document would be half an answer.
func TestADamagedMetadataFileIsAnErrorAndChangesNothing(t *testing.T) {
	for name, damage := range map[string]func(doc []byte) []byte{
		"cut off":     func(doc []byte) []byte { return doc[:len(doc)/2] },
		"empty":       func([]byte) []byte { return nil },
		"an array":    func([]byte) []byte { return []byte("[]") },
		"not gzip":    func([]byte) []byte { return []byte("\x1f\x8b and no more") },
		"half a gzip": func(doc []byte) []byte { return gzipped(doc)[:40] },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, func(c *Config) { c.MetadataCache = 0 })
			ns := f.namespace("a")
			id, view := mounts.Identifier{Namespace: ns, Name: "t"}, mounts.Identifier{Namespace: ns, Name: "v"}
			file := f.table(id).MetadataLocation
			for _, location := range []string{file, f.view(view).MetadataLocation} {
				doc, err := os.ReadFile(local(location))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(local(location), damage(doc), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			const sentence = "the metadata file of a.t is damaged"
			for _, mode := range []mounts.Snapshots{mounts.SnapshotsAll, mounts.SnapshotsRefs} {
				_, err := f.LoadTable(context.Background(), &mounts.LoadTableRequest{Table: id, Snapshots: mode})
				wantError(t, err, mounts.Internal, "a.t", sentence)
			}
			_, err := f.LoadView(context.Background(), &mounts.LoadViewRequest{View: view})
			wantError(t, err, mounts.Internal, "a.v", "the metadata file of a.v is damaged")
			_, err = f.CommitTable(context.Background(), &mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"a":"1"}}`)}})
			wantError(t, err, mounts.Internal, "a.t", sentence)
			_, err = f.UnregisterTable(context.Background(), &mounts.UnregisterTableRequest{Table: id})
			wantError(t, err, mounts.Internal, "a.t", sentence)
			if err := f.TableExists(context.Background(), &mounts.TableExistsRequest{Table: id}); err != nil {
				t.Errorf("unregistered: %v", err)
			}
			wantError(t, f.DropTable(context.Background(), &mounts.DropTableRequest{Table: id, Purge: true}), mounts.InvalidArgument, "a.t", "is damaged")
			_, err = f.RegisterTable(context.Background(), &mounts.RegisterTableRequest{Namespace: ns, Name: "again", MetadataLocation: file})
			if !errors.Is(err, mounts.ValidationFailed) {
				t.Errorf("registered: %v", err)
			}
			if err := f.DropTable(context.Background(), &mounts.DropTableRequest{Table: id}); err != nil {
				t.Errorf("cannot be dropped: %v", err)
			}
		})
	}
}
