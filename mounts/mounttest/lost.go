package mounttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// LostCommits runs appends through a stack over a real catalog, loses or breaks
// the answer of each at every place that a Fault can be, and then does what an
// engine does: it looks whether its snapshot is there, through the same stack,
// and appends again only if it is not. At the end every snapshot must be there
// exactly once, every error must have told the truth, and no read may have been
// older than the commit before it.
//
// Open opens the catalog at the far end, fresh and with every write; build puts
// the stack around it, as in Matrix, whose Names and Remote mean the same here.
func LostCommits(t *testing.T, open func(t testing.TB) mounts.Backend, m Matrix) {
	t.Helper()
	for _, fault := range []Fault{Before, After, MidAnswer} {
		for _, op := range []capabilities.Op{capabilities.CommitTable, capabilities.CommitTransaction} {
			t.Run(fmt.Sprintf("%s/%s", op, fault), func(t *testing.T) { report(t, m.lose(t, open(t), op, fault)) })
		}
	}
}

func (m Matrix) lose(t testing.TB, catalog mounts.Backend, op capabilities.Op, fault Fault) (wrong []string) {
	ctx := context.Background()
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	id := mounts.Identifier{Namespace: mounts.Namespace{"fixture"}, Name: "orders"}
	if _, err := catalog.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: id.Namespace}); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()}); err != nil {
		t.Fatal(err)
	}
	faults := Faults(catalog)
	stack := m.Build(t, faults)
	outer := id
	if m.Names != nil {
		outer.Namespace = m.Names(id.Namespace)
	}
	want := []int64{101, 102, 103}
	for _, snapshot := range want {
		loaded, err := stack.LoadTable(ctx, &mounts.LoadTableRequest{Table: outer})
		if err != nil {
			return append(wrong, fmt.Sprintf("load: %v", err))
		}
		faults.Fail(op, fault, 1)
		err = send(ctx, stack, op, Append(outer, loaded.Metadata, snapshot))
		faults.Clear()
		if err == nil {
			complain("append %d: a commit with a fault is reported as a success", snapshot)
			continue
		}
		happened := slices.Contains(stored(t, catalog, id), snapshot)
		if happened && !errors.Is(err, mounts.ErrOutcomeUnknown) {
			complain("append %d: it happened, and the error means that it did not: %v", snapshot, err)
		}
		seen := stored(t, stack, outer)
		if slices.Contains(seen, snapshot) != happened {
			complain("append %d: happened %v, and a read after it sees %v", snapshot, happened, seen)
		}
		if happened {
			continue
		}
		loaded, err = stack.LoadTable(ctx, &mounts.LoadTableRequest{Table: outer})
		if err == nil {
			err = send(ctx, stack, op, Append(outer, loaded.Metadata, snapshot))
		}
		if err != nil {
			complain("append %d: the second try: %v", snapshot, err)
		}
	}
	if got := stored(t, catalog, id); !slices.Equal(got, want) {
		complain("snapshots %v, want each of %v once", got, want)
	}
	return wrong
}

// send commits by the operation.
func send(ctx context.Context, b mounts.Backend, op capabilities.Op, req *mounts.CommitTableRequest) error {
	if op == capabilities.CommitTransaction {
		return b.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{*req}})
	}
	_, err := b.CommitTable(ctx, req)
	return err
}

func stored(t testing.TB, b mounts.Backend, id mounts.Identifier) []int64 {
	t.Helper()
	s := &suite{TB: t, ctx: context.Background(), b: b}
	return snapshotIDs(s.doc(s.load(id).Metadata))
}
