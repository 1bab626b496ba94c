package mounttest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// LostCommits runs commits through a stack over a real catalog (appends to a
// table, alone and in transactions, and new versions of a view), loses or breaks
// the answer of each at every place that a Fault can be, and then does what an
// engine does: it looks whether its commit is there, through the same stack, and
// commits again only if it is not. At the end every commit must be there exactly
// once, every error must have told the truth, and no read may have been older
// than the commit before it.
//
// Open opens the catalog at the far end, fresh and with every write; build puts
// the stack around it, as in Matrix, whose Names and Remote mean the same here.
func LostCommits(t *testing.T, open func(t testing.TB) mounts.Backend, m Matrix) {
	t.Helper()
	for _, fault := range []Fault{Before, After, MidAnswer} {
		for _, op := range []capabilities.Op{capabilities.CommitTable, capabilities.CommitTransaction, capabilities.ReplaceView} {
			t.Run(fmt.Sprintf("%s/%s", op, fault), func(t *testing.T) { report(t, m.lose(t, open(t), op, fault)) })
		}
	}
}

// history is an object whose commits can be told apart: each leaves a mark that
// stays.
type history struct {
	op   capabilities.Op
	make func(s *suite, id mounts.Identifier)
	// commit looks at the object and adds a mark to it.
	commit func(s *suite, id mounts.Identifier, mark int64) error
	marks  func(s *suite, id mounts.Identifier) []int64
}

func historyOf(op capabilities.Op) history {
	if op == capabilities.ReplaceView {
		return history{op, func(s *suite, id mounts.Identifier) { s.view(id) },
			func(s *suite, id mounts.Identifier, mark int64) error {
				_, err := s.redefine(id, s.loadView(id), spark(fmt.Sprint(mark)))
				return err
			},
			func(s *suite, id mounts.Identifier) (marks []int64) {
				for _, version := range s.doc(s.loadView(id).Metadata).list("versions")[1:] {
					mark, err := strconv.ParseInt(version.reads()["spark"], 10, 64)
					s.must(err)
					marks = append(marks, mark)
				}
				return marks
			}}
	}
	return history{op, func(s *suite, id mounts.Identifier) { s.table(id) },
		func(s *suite, id mounts.Identifier, mark int64) error {
			return send(s.ctx, s.b, op, Append(id, s.load(id).Metadata, mark))
		},
		func(s *suite, id mounts.Identifier) []int64 { return snapshotIDs(s.doc(s.load(id).Metadata)) }}
}

func (m Matrix) lose(t testing.TB, catalog mounts.Backend, op capabilities.Op, fault Fault) (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	h := historyOf(op)
	faults := Faults(catalog)
	inside := &suite{TB: t, ctx: context.Background(), b: catalog, w: catalog}
	through := &suite{TB: t, ctx: inside.ctx, b: m.Build(t, faults)}
	inside.namespace("fixture")
	id := inside.id("orders", "fixture")
	outer := id
	if m.Names != nil {
		outer.Namespace = m.Names(id.Namespace)
	}
	h.make(inside, id)
	want := []int64{101, 102, 103}
	for _, mark := range want {
		faults.Fail(op, fault, 1)
		err := h.commit(through, outer, mark)
		faults.Clear()
		if err == nil {
			complain("commit %d: it met a fault and is reported as a success", mark)
			continue
		}
		happened := slices.Contains(h.marks(inside, id), mark)
		if happened && !errors.Is(err, mounts.ErrOutcomeUnknown) {
			complain("commit %d: it happened, and the error means that it did not: %v", mark, err)
		}
		seen := h.marks(through, outer)
		if slices.Contains(seen, mark) != happened {
			complain("commit %d: happened %v, and a read after it sees %v", mark, happened, seen)
		}
		if happened {
			continue
		}
		if err := h.commit(through, outer, mark); err != nil {
			complain("commit %d: the second try: %v", mark, err)
		}
	}
	if got := h.marks(inside, id); !slices.Equal(got, want) {
		complain("commits %v, want each of %v once", got, want)
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
