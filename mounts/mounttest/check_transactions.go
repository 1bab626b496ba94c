package mounttest

import (
	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func transactionChecks() []check {
	needs := of(capabilities.CommitTransaction)
	return []check{
		{name: "transactions/all", needs: needs, run: (*suite).transactionAll},
		{name: "transactions/none on a failed requirement", needs: needs, run: (*suite).transactionConflict},
		{name: "transactions/none on an unknown update", needs: needs, run: (*suite).transactionUnknown},
		{name: "transactions/missing table", needs: needs, run: (*suite).transactionMissing},
		{name: "transactions/one table twice", needs: needs, run: (*suite).transactionTwice},
		{name: "transactions/creation", needs: needs.Union(of(capabilities.CreateTable)), run: (*suite).transactionCreate},
	}
}

// pair creates two tables in two namespaces.
func (s *suite) pair() (a, b mounts.Identifier, ta, tb *mounts.Table) {
	s.Helper()
	s.namespace("shop")
	s.namespace("stock")
	a, b = s.id("orders", "shop"), s.id("orders", "stock")
	return a, b, s.table(a), s.table(b)
}

func change(id mounts.Identifier, requirement string, updates ...string) mounts.CommitTableRequest {
	req := mounts.CommitTableRequest{Table: id, Updates: raws(updates...)}
	if requirement != "" {
		req.Requirements = raws(requirement)
	}
	return req
}

// refused wants a transaction to be refused for the sake of one change. A
// remote's answer need not say which, then the error is about the first.
func (s *suite) refused(about mounts.Identifier, changes []mounts.CommitTableRequest, kinds ...mounts.Kind) {
	s.Helper()
	s.wantAbout(s.transaction(changes...), []mounts.Identifier{about, changes[0].Table}, kinds...)
}

func changes(list ...mounts.CommitTableRequest) []mounts.CommitTableRequest { return list }

func (s *suite) transaction(changes ...mounts.CommitTableRequest) error {
	return s.b.CommitTransaction(s.ctx, &mounts.CommitTransactionRequest{Changes: changes})
}

func (s *suite) transactionAll() {
	a, b, ta, tb := s.pair()
	s.must(s.transaction(*Append(a, ta.Metadata, 11), *Append(b, tb.Metadata, 12)))
	for id, before := range map[*mounts.Identifier]*mounts.Table{&a: ta, &b: tb} {
		after := s.load(*id)
		if len(s.committed(*id, before, after).list("snapshots")) != 1 {
			s.Errorf("%s has no snapshot", id)
		}
	}
}

func (s *suite) transactionConflict() {
	a, b, ta, tb := s.pair()
	fails := `{"type":"assert-current-schema-id","current-schema-id":5}`
	s.refused(b, changes(change(a, "", touch), change(b, fails, touch)), mounts.CommitConflict)
	s.refused(a, changes(change(a, fails, touch), change(b, "", touch)), mounts.CommitConflict)
	s.unchanged(a, ta)
	s.unchanged(b, tb)
}

func (s *suite) transactionUnknown() {
	a, b, ta, tb := s.pair()
	s.refused(b, changes(change(a, "", touch), change(b, "", `{"action":"no-such-update"}`)), mounts.BadRequest, mounts.InvalidArgument)
	s.unchanged(a, ta)
	s.unchanged(b, tb)
}

func (s *suite) transactionMissing() {
	a, b, ta, tb := s.pair()
	missing := s.id("missing", "shop")
	s.refused(missing, changes(change(a, "", touch), change(missing, "", touch), change(b, "", touch)), mounts.NoSuchTable)
	s.unchanged(a, ta)
	s.unchanged(b, tb)
}

func (s *suite) transactionTwice() {
	a, b, ta, tb := s.pair()
	s.refused(a, changes(change(a, "", touch), change(b, "", touch), change(a, "", touch)), mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed)
	s.unchanged(a, ta)
	s.unchanged(b, tb)
}

func (s *suite) transactionCreate() {
	a, b, ta, tb := s.pair()
	id := s.id("returns", "shop")
	staged := s.stage(id)
	s.refused(a, changes(*s.finish(id, staged), change(a, `{"type":"assert-current-schema-id","current-schema-id":5}`, touch)), mounts.CommitConflict)
	s.absent(id)
	s.must(s.transaction(change(a, "", touch), *s.finish(id, staged)))
	if got, want := s.doc(s.load(id).Metadata).text("table-uuid"), s.doc(staged.Metadata).text("table-uuid"); got != want {
		s.Errorf("staged as %s, created as %s", want, got)
	}
	s.committed(a, ta, s.load(a))
	s.unchanged(b, tb)
}
