package mounttest

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func concurrencyChecks() []check {
	commit := of(capabilities.CommitTable)
	return []check{
		{name: "concurrent/appends", needs: commit, run: (*suite).concurrentAppends},
		{name: "concurrent/independent changes", needs: commit, run: (*suite).concurrentIndependent},
		{name: "concurrent/transactions", needs: of(capabilities.CommitTransaction), run: (*suite).concurrentTransactions},
		{name: "concurrent/creations of one table", needs: of(capabilities.CreateTable), run: (*suite).concurrentCreate},
		{name: "concurrent/drop of the namespace", needs: of(capabilities.CreateTable, capabilities.DropNamespace), run: (*suite).concurrentDrop},
	}
}

// together runs f n times at once and waits.
func together(n int, f func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	all.Wait()
}

// concurrentAppends: every acknowledged append is there exactly once, every
// refused one is not, and nothing else happened.
func (s *suite) concurrentAppends() {
	id, _ := s.fresh()
	const writers, each, tries = 6, 5, 400
	var mu sync.Mutex
	var acknowledged []int64
	conflicts := 0
	together(writers, func(i int) {
		for j := range each {
			snapshot := int64(1000*(i+1) + j)
			for try := range tries {
				loaded, err := s.b.LoadTable(s.ctx, &mounts.LoadTableRequest{Table: id})
				if err != nil {
					s.Errorf("load: %v", err)
					return
				}
				_, err = s.b.CommitTable(s.ctx, Append(id, loaded.Metadata, snapshot))
				if err == nil {
					mu.Lock()
					acknowledged = append(acknowledged, snapshot)
					mu.Unlock()
					break
				}
				if !errors.Is(err, mounts.CommitConflict) {
					s.Errorf("append %d: %v", snapshot, err)
					return
				}
				mu.Lock()
				conflicts++
				mu.Unlock()
				if try == tries-1 {
					s.Errorf("append %d: still a conflict after %d tries", snapshot, tries)
				}
			}
		}
	})
	table := s.doc(s.load(id).Metadata)
	slices.Sort(acknowledged)
	if got := snapshotIDs(table); !slices.Equal(got, acknowledged) {
		s.Errorf("after %d conflicts:\nsnapshots    %v\nacknowledged %v", conflicts, got, acknowledged)
	}
	// The history of main is one chain through all of them.
	at, length := table, 0
	next, ok := table.num("current-snapshot-id")
	for ok && length <= len(acknowledged) {
		at = table.by("snapshots", "snapshot-id", next)
		next, ok = at.num("parent-snapshot-id")
		length++
	}
	if length != len(acknowledged) {
		s.Errorf("main's history has %d snapshots of %d", length, len(acknowledged))
	}
	if last, _ := table.num("last-sequence-number"); last != int64(len(acknowledged)) {
		s.Errorf("last-sequence-number %d after %d appends", last, len(acknowledged))
	}
}

// concurrentIndependent: changes whose requirements do not touch each other
// need no retry by the client.
func (s *suite) concurrentIndependent() {
	id, created := s.fresh()
	uuid := raws(`{"type":"assert-table-uuid","uuid":` + string(encode(s.doc(created.Metadata).text("table-uuid"))) + `}`)
	const writers = 8
	together(writers, func(i int) {
		if _, err := s.commit(id, uuid, fmt.Sprintf(`{"action":"set-properties","updates":{"writer-%d":"was here"}}`, i)); err != nil {
			s.Errorf("writer %d: %v", i, err)
		}
	})
	properties := s.doc(s.load(id).Metadata).sub("properties")
	for i := range writers {
		if properties.text(fmt.Sprintf("writer-%d", i)) != "was here" {
			s.Errorf("the change of writer %d is lost", i)
		}
	}
}

// concurrentTransactions changes two tables together, in either order: nobody
// waits for ever, and the tables always carry the mark of the same transaction.
func (s *suite) concurrentTransactions() {
	a, b, _, _ := s.pair()
	together(8, func(i int) {
		mark := fmt.Sprintf(`{"action":"set-properties","updates":{"mark":"%d"}}`, i)
		order := changes(change(a, "", mark), change(b, "", mark))
		if i%2 == 1 {
			slices.Reverse(order)
		}
		if err := s.transaction(order...); err != nil && !errors.Is(err, mounts.CommitConflict) {
			s.Errorf("transaction %d: %v", i, err)
		}
	})
	left, right := s.doc(s.load(a).Metadata).sub("properties").text("mark"), s.doc(s.load(b).Metadata).sub("properties").text("mark")
	if left != right || left == "" {
		s.Errorf("one table is at transaction %q, the other at %q", left, right)
	}
}

func (s *suite) concurrentCreate() {
	id := mounts.Identifier{Namespace: s.namespace("shop"), Name: "orders"}
	var mu sync.Mutex
	var created []*mounts.Table
	together(8, func(int) {
		t, err := s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: id.Namespace, Name: id.Name, Schema: Schema()})
		if err != nil {
			s.want(err, id, mounts.AlreadyExists)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		created = append(created, t)
	})
	if len(created) != 1 {
		s.Fatalf("%d of 8 created the same table", len(created))
	}
	if loaded := s.load(id); loaded.MetadataLocation != created[0].MetadataLocation {
		s.Errorf("created %s, loaded %s", created[0].MetadataLocation, loaded.MetadataLocation)
	}
}

// concurrentDrop: either the table is there and the namespace stays, or the
// namespace went and the table was refused.
func (s *suite) concurrentDrop() {
	for round := range 10 {
		n := s.namespace(fmt.Sprintf("round_%d", round))
		id := mounts.Identifier{Namespace: n, Name: "orders"}
		var create, drop error
		together(2, func(i int) {
			if i == 0 {
				_, create = s.b.CreateTable(s.ctx, &mounts.CreateTableRequest{Namespace: n, Name: id.Name, Schema: Schema()})
				return
			}
			drop = s.b.DropNamespace(s.ctx, &mounts.DropNamespaceRequest{Namespace: n})
		})
		switch {
		case create == nil:
			s.want(drop, space(n), mounts.NamespaceNotEmpty)
			s.load(id)
		case drop == nil:
			s.want(create, space(n), mounts.NoSuchNamespace)
			s.notLoaded(id)
		default:
			s.Errorf("both failed: %v; %v", create, drop)
		}
	}
}
