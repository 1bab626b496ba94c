//go:build peers

package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// opened is a registry in a new database.
func opened(t testing.TB, config Config) *Store {
	t.Helper()
	if config.URL == "" {
		config.URL = pgtest.Shared(t).NewDatabase(t)
	}
	s, err := Open(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.(*Store)
}

func table(name string) mounts.Identifier {
	return mounts.Identifier{Namespace: mounts.Namespace{"n"}, Name: name}
}

// fill makes the namespace n with so many tables.
func fill(t testing.TB, s *Store, tables int) {
	t.Helper()
	if err := s.Update(context.Background(), func(tx store.Tx) error {
		if err := tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"n"}}); err != nil {
			return err
		}
		for i := range tables {
			o := store.Object{Namespace: mounts.Namespace{"n"}, Name: fmt.Sprint("t", i), Kind: store.Table, ID: uuid.New(), Location: "l"}
			if _, err := tx.Create(o, store.By{}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func location(w, i int) string {
	return fmt.Sprintf("file:///warehouse/some/where/t%d/metadata/%05d-00000000-0000-0000-0000-000000000000.metadata.json", w, i)
}

// BenchmarkSwap swaps different pointers, as native does: the closure reads and
// then swaps. The unit trips/op is round trips.
func BenchmarkSwap(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := opened(b, Config{})
			fill(b, s, writers)
			before := s.trips.Load()
			b.ResetTimer()
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					ident := table(fmt.Sprint("t", w))
					for i := w; i < b.N; i += writers {
						if err := s.Update(context.Background(), func(tx store.Tx) error {
							o, err := tx.Object(ident)
							if err != nil {
								return err
							}
							_, err = tx.Swap(ident, o.Location, location(w, i), store.By{Principal: "p", RequestID: "r"})
							return err
						}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
			b.ReportMetric(float64(s.trips.Load()-before)/float64(b.N), "trips/op")
		})
	}
}

// BenchmarkSwapShared swaps one pointer from all writers.
func BenchmarkSwapShared(b *testing.B) {
	for _, writers := range []int{8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := opened(b, Config{})
			fill(b, s, 1)
			b.ResetTimer()
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					for i := w; i < b.N; i += writers {
						if err := swapTo(s, table("t0"), location(w, i)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// BenchmarkDurable is what the database makes of as many sessions as the pool
// has, each of which adds one small row a transaction, in one round trip: the
// rate to compare BenchmarkSwap with.
func BenchmarkDurable(b *testing.B) {
	for _, writers := range []int{1, 8, 16} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := opened(b, Config{})
			pgtest.Shared(b).ExecIn(b, s.pool.Config().ConnString(), "CREATE TABLE durable (n bigint, v bytea)")
			insert := newStatement("INSERT INTO durable (n, v) VALUES ($1, $2)")
			var group sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				group.Go(func() {
					conn, err := s.acquire(context.Background())
					if err != nil {
						b.Error(err)
						return
					}
					defer s.release(context.Background(), conn)
					for i := w; i < b.N; i += writers {
						if _, err := s.roundTrip(context.Background(), conn.PgConn, insert.with(number(int64(i)), text(location(w, i)))); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// BenchmarkLoad reads one pointer, which is all that a warm loadTable costs here.
func BenchmarkLoad(b *testing.B) {
	s := opened(b, Config{})
	fill(b, s, 1000)
	for _, readers := range []int{1, 16} {
		b.Run(fmt.Sprintf("readers=%d", readers), func(b *testing.B) {
			var group sync.WaitGroup
			for r := range readers {
				group.Go(func() {
					for i := r; i < b.N; i += readers {
						if err := s.View(context.Background(), func(tx store.Tx) error {
							_, err := tx.Object(table(fmt.Sprint("t", i%1000)))
							return err
						}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// BenchmarkPage reads a page of 100 names in namespaces of two sizes.
func BenchmarkPage(b *testing.B) {
	s := opened(b, Config{})
	for _, size := range []int{1_000, 1_000_000} {
		name := fmt.Sprint("n", size)
		if err := createNamespace(s, name); err != nil {
			b.Fatal(err)
		}
		pgtest.Shared(b).ExecIn(b, s.pool.Config().ConnString(), `INSERT INTO icefield.objects (namespace, name, kind, id, location, previous, generation, created, updated, folder)
			SELECT $1, convert_to(lpad(i::text, 7, '0'), 'UTF8'), 1, gen_random_uuid(), 'l', '', 1, 0, 0, '' FROM generate_series(1, $2::bigint) i`, keyOf(mounts.Namespace{name}), size)
	}
	pgtest.Shared(b).ExecIn(b, s.pool.Config().ConnString(), "ANALYZE")
	for _, size := range []int{1_000, 1_000_000} {
		b.Run(fmt.Sprintf("of=%d", size), func(b *testing.B) {
			for i := range b.N {
				if err := s.View(context.Background(), func(tx store.Tx) error {
					names, err := tx.Names(mounts.Namespace{fmt.Sprint("n", size)}, store.Table, fmt.Sprintf("%07d", i*1000%size), 100)
					if err == nil && len(names) != 100 {
						err = fmt.Errorf("a page of %d", len(names))
					}
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
