//go:build peers

package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// replicas are stores on one database, as servers beside each other have them.
func replicas(t *testing.T, url string, n int, config Config) []*Store {
	t.Helper()
	config.URL = url
	list := make([]*Store, n)
	for i := range list {
		list[i] = opened(t, config)
	}
	return list
}

func create(s *Store, ident mounts.Identifier, location string) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Create(store.Object{Namespace: ident.Namespace, Name: ident.Name, Kind: store.Table, ID: uuid.New(), Location: location}, store.By{Time: time.Now()})
		return err
	})
}

func createNamespace(s *Store, path ...string) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		return tx.CreateNamespace(store.Namespace{Path: path, ID: uuid.New()})
	})
}

func dropNamespace(s *Store, path ...string) error {
	return s.Update(context.Background(), func(tx store.Tx) error { return tx.DropNamespace(path) })
}

// Whether native asks first or not: a drop of a namespace and the creation of
// something in it must not both succeed.
func TestNothingIsCreatedInANamespaceThatIsBeingDropped(t *testing.T) {
	s := replicas(t, pgtest.Shared(t).NewDatabase(t), 2, Config{})
	var drops, creates int
	for round := range 60 {
		name := fmt.Sprint("n", round)
		if err := createNamespace(s[0], name); err != nil {
			t.Fatal(err)
		}
		asking := round%2 == 0
		var dropped, created error
		var group sync.WaitGroup
		group.Go(func() {
			dropped = s[0].Update(context.Background(), func(tx store.Tx) error {
				if asking {
					if _, err := tx.Namespace(mounts.Namespace{name}); err != nil {
						return err
					}
				}
				return tx.DropNamespace(mounts.Namespace{name})
			})
		})
		group.Go(func() {
			created = s[1].Update(context.Background(), func(tx store.Tx) error {
				if asking {
					if _, err := tx.Namespace(mounts.Namespace{name}); err != nil {
						return errors.Join(store.ErrNoNamespace, err)
					}
				}
				if round%3 == 0 {
					return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{name, "inner"}})
				}
				_, err := tx.Create(store.Object{Namespace: mounts.Namespace{name}, Name: "t", Kind: store.Table, ID: uuid.New(), Location: "l"}, store.By{})
				return err
			})
		})
		group.Wait()
		switch {
		case dropped == nil && errors.Is(created, store.ErrNoNamespace):
			drops++
		case created == nil && errors.Is(dropped, store.ErrNotEmpty):
			creates++
		default:
			t.Errorf("round %d: the drop ended with %v, the creation with %v", round, dropped, created)
		}
	}
	t.Logf("%d drops and %d creations won", drops, creates)
}

func TestConcurrentSwapsOfTwoReplicasLoseNothing(t *testing.T) {
	const writers, each = 4, 25
	s := replicas(t, pgtest.Shared(t).NewDatabase(t), 2, Config{})
	fill(t, s[0], 1)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := 0; i < each; {
				err := s[w%2].Update(context.Background(), func(tx store.Tx) error {
					o, err := tx.Object(table("t0"))
					if err != nil {
						return err
					}
					_, err = tx.Swap(table("t0"), o.Location, location(w, i), store.By{Time: time.Now()})
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				i++
			}
		})
	}
	group.Wait()
	checkLog(t, s[0], table("t0"), writers*each+1)
}

// checkLog expects an unbroken log of so many rows, each with a new pointer.
func checkLog(t *testing.T, s *Store, ident mounts.Identifier, rows int) []store.Commit {
	t.Helper()
	var o store.Object
	var log []store.Commit
	if err := s.View(context.Background(), func(tx store.Tx) (err error) {
		if o, err = tx.Object(ident); err != nil {
			return err
		}
		log, err = tx.Commits(o.ID, 0, 1<<20)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i, c := range log {
		if i > 0 && c.From != log[i-1].To || c.Generation != uint64(i+1) || seen[c.To] {
			t.Errorf("row %d of %s breaks the chain: %+v", i, ident.Name, c)
		}
		seen[c.To] = true
	}
	if rows >= 0 && len(log) != rows {
		t.Errorf("the log of %s has %d rows, want %d", ident.Name, len(log), rows)
	}
	if len(log) == 0 || log[len(log)-1].To != o.Location || o.Generation != uint64(len(log)) {
		t.Errorf("the pointer of %s is %+v, its log has %d rows", ident.Name, o, len(log))
	}
	return log
}

// Two that read one namespace and then write it must not wait for each other.
func TestPropertiesOfOneNamespaceAreWrittenByManyAtOnce(t *testing.T) {
	const writers, each = 8, 10
	s := replicas(t, pgtest.Shared(t).NewDatabase(t), 2, Config{})
	if err := createNamespace(s[0], "n"); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range each {
				if err := s[w%2].Update(context.Background(), func(tx store.Tx) error {
					n, err := tx.Namespace(mounts.Namespace{"n"})
					if err != nil {
						return err
					}
					n.Properties[fmt.Sprint(w, "-", i)] = "set"
					return tx.PutNamespace(n)
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if err := s[1].View(context.Background(), func(tx store.Tx) error {
		n, err := tx.Namespace(mounts.Namespace{"n"})
		if len(n.Properties) != writers*each {
			t.Errorf("%d of %d properties are there", len(n.Properties), writers*each)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d updates in %v", writers*each, time.Since(begin))
}

// A table is moved back and forth; whoever looks for it under both names finds it
// under one. The second look comes in another round trip than the first.
func TestAViewIsOneState(t *testing.T) {
	s := replicas(t, pgtest.Shared(t).NewDatabase(t), 2, Config{})
	fill(t, s[0], 1)
	stop := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		names := []string{"t0", "other"}
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s[0].Update(context.Background(), func(tx store.Tx) error {
				return tx.Rename(table(names[i%2]), table(names[(i+1)%2]), store.By{Time: time.Now()})
			}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	again := 0
	for round := 0; round < 200 || again == 0 && round < 20_000; round++ {
		runs := 0
		var found []string
		if err := s[1].View(context.Background(), func(tx store.Tx) error {
			runs++
			found = nil
			for _, name := range []string{"t0", "other", "t0", "other"} {
				_, err := tx.Object(table(name))
				if err == nil {
					found = append(found, name)
				} else if !errors.Is(err, store.ErrNotFound) {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
			break
		}
		again += runs - 1
		if len(found) != 2 || found[0] != found[1] {
			t.Errorf("the table was found as %q", found)
		}
	}
	close(stop)
	group.Wait()
	if again == 0 {
		t.Error("no View ever saw a change, so nothing was tested")
	}
	t.Logf("%d runs were made again", again)
}

func TestReplicasThatStartAtOnceMakeOneSchema(t *testing.T) {
	url := pgtest.Shared(t).NewDatabase(t)
	var group sync.WaitGroup
	var made atomic.Int64
	for i := range 8 {
		group.Go(func() {
			s, err := Open(context.Background(), Config{URL: url + "&schema=together"})
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if err := createNamespace(s.(*Store), fmt.Sprint("n", i)); err != nil {
				t.Error(err)
			}
			made.Add(1)
		})
	}
	group.Wait()
	s := opened(t, Config{URL: url + "&schema=together"})
	if c, err := s.Counts(context.Background()); err != nil || c.Namespaces != made.Load() {
		t.Errorf("%d stores made %+v (%v)", made.Load(), c, err)
	}
	// Another schema of the database is another registry.
	if c, err := opened(t, Config{URL: url}).Counts(context.Background()); err != nil || c.Total() != 0 {
		t.Errorf("another schema holds %+v (%v)", c, err)
	}
}

// Each writer reads two pointers and moves one of them to the number of all moves
// so far: if what was read could change before the commit, two would write the
// same number.
func TestWhatAnUpdateReadStaysUntilItsCommit(t *testing.T) {
	const writers, each = 4, 20
	s := replicas(t, pgtest.Shared(t).NewDatabase(t), 2, Config{})
	fill(t, s[0], 2)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for range each {
				if err := s[w%2].Update(context.Background(), func(tx store.Tx) error {
					var both [2]store.Object
					sum := uint64(0)
					for i, name := range []string{"t0", "t1"} {
						o, err := tx.Object(table(name))
						if err != nil {
							return err
						}
						both[i], sum = o, sum+o.Generation
					}
					mine := both[w/2]
					_, err := tx.Swap(mine.Identifier(), mine.Location, fmt.Sprint("move ", sum), store.By{})
					return err
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, name := range []string{"t0", "t1"} {
		for _, c := range checkLog(t, s[0], table(name), -1) {
			if c.Generation > 1 && seen[c.To] {
				t.Errorf("two were %q", c.To)
			}
			seen[c.To] = true
		}
	}
	if len(seen) != writers*each+1 {
		t.Errorf("%d different moves, want %d", len(seen)-1, writers*each)
	}
}
