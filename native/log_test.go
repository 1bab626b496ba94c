package native

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// TestTheCommitLogTellsEveryPlaceOfATable: also under its new name, and by its
// id after it was dropped.
func TestTheCommitLogTellsEveryPlaceOfATable(t *testing.T) {
	f := newFixture(t)
	ctx := mounts.WithCaller(context.Background(), mounts.Caller{Principal: "ann", RequestID: "r-2"})
	id := mounts.Identifier{Namespace: f.namespace("a"), Name: "t"}
	first := f.table(id)
	second, err := f.CommitTable(ctx, &mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"a":"1"}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	renamed := mounts.Identifier{Namespace: id.Namespace, Name: "u"}
	if err := f.RenameTable(ctx, &mounts.RenameTableRequest{Source: id, Destination: renamed}); err != nil {
		t.Fatal(err)
	}
	log, err := f.Idempotent().(mounts.Logging).Commits(ctx, mounts.LogQuery{Object: renamed, Kind: "table", Limit: 10})
	if err != nil || len(log.Rows) != 2 {
		t.Fatalf("%+v, %v", log, err)
	}
	if r := log.Rows[0]; r.Generation != 1 || r.From != "" || r.To != first.MetadataLocation || r.Time.IsZero() {
		t.Errorf("the first row is %+v", r)
	}
	if r := log.Rows[1]; r.Generation != 2 || r.From != first.MetadataLocation || r.To != second.MetadataLocation || r.Principal != "ann" || r.RequestID != "r-2" {
		t.Errorf("the second row is %+v", r)
	}
	if err := f.DropTable(ctx, &mounts.DropTableRequest{Table: renamed}); err != nil {
		t.Fatal(err)
	}
	later, err := f.Commits(ctx, mounts.LogQuery{ID: log.ID, After: 2, Limit: 10})
	if err != nil || len(later.Rows) != 1 || later.Rows[0].From != second.MetadataLocation || later.Rows[0].To != "" {
		t.Errorf("after the drop: %+v, %v", later, err)
	}
}

func TestTheCommitLogOfWhatIsNotThere(t *testing.T) {
	f := newFixture(t)
	id := mounts.Identifier{Namespace: f.namespace("a"), Name: "v"}
	f.view(id)
	ask := func(q mounts.LogQuery) (*mounts.Log, error) {
		q.Limit = 10
		return f.Commits(context.Background(), q)
	}
	if log, err := ask(mounts.LogQuery{Object: id, Kind: "view"}); err != nil || len(log.Rows) != 1 {
		t.Errorf("a view: %+v, %v", log, err)
	}
	if _, err := ask(mounts.LogQuery{Object: id, Kind: "table"}); !errors.Is(err, mounts.NoSuchTable) {
		t.Errorf("a view as a table: %v", err)
	}
	if _, err := ask(mounts.LogQuery{ID: "x"}); !errors.Is(err, mounts.BadRequest) {
		t.Errorf("no id: %v", err)
	}
	if log, err := ask(mounts.LogQuery{ID: uuid.NewString()}); err != nil || log.Rows == nil || len(log.Rows) != 0 {
		t.Errorf("an id that never was: %+v, %v", log, err)
	}
}
