//go:build peers

package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// behind is a store whose connections go through a proxy, and another that sees
// what is really there.
func behind(t *testing.T, config Config) (*proxy, *Store, *Store) {
	t.Helper()
	cluster := pgtest.Shared(t)
	url := cluster.NewDatabase(t)
	p := newProxy(t, cluster.Address())
	direct := opened(t, Config{URL: url})
	config.URL = p.through(t, url)
	return p, opened(t, config), direct
}

// commitMarks are what tells the message with COMMIT from others: its text where
// it is prepared, and its name.
func commitMarks(s *Store) []string { return []string{"COMMIT\x00", s.sql.commit.name} }

func swapTo(s *Store, ident mounts.Identifier, to string) error {
	return s.Update(context.Background(), func(tx store.Tx) error {
		o, err := tx.Object(ident)
		if err != nil {
			return err
		}
		_, err = tx.Swap(ident, o.Location, to, store.By{Time: time.Now()})
		return err
	})
}

// A connection that breaks at COMMIT leaves nobody in doubt: each change is made
// exactly once, and the caller is told so.
func TestACommitWhoseConnectionBreaksIsDoneExactlyOnce(t *testing.T) {
	for name, what := range map[string]cut{"before COMMIT arrives": beforeIt, "after COMMIT arrived": afterIt,
		"and nobody is told, before": swallow, "and nobody is told, after": swallowReply} {
		t.Run(name, func(t *testing.T) {
			p, s, direct := behind(t, Config{Statement: 300 * time.Millisecond, Lock: 200 * time.Millisecond})
			s.limits.grace = 300 * time.Millisecond
			fill(t, direct, 1)
			rounds := 6
			if what == swallow || what == swallowReply {
				rounds = 2 // each waits for what does not come
			}
			for i := range rounds {
				// Of several cuts in a row the last ones meet the run that was made again.
				p.arm(what, 1+i%2, commitMarks(s)...)
				if err := swapTo(s, table("t0"), location(0, i)); err != nil {
					t.Errorf("swap %d: %v", i, err)
				}
				// What logs nothing proves itself by a mark.
				p.arm(what, 1, commitMarks(s)...)
				if err := createNamespace(s, fmt.Sprint("made", i)); err != nil {
					t.Errorf("namespace %d: %v", i, err)
				}
				p.arm(pass, 0)
			}
			checkLog(t, direct, table("t0"), rounds+1)
			if c, err := direct.Counts(context.Background()); err != nil || c.Namespaces != int64(rounds+1) || c.Commits != int64(rounds+1) {
				t.Errorf("there are %+v (%v)", c, err)
			}
		})
	}
}

// Where it cannot be found out it must be said.
func TestAnOutcomeThatCannotBeFoundOutIsUnknown(t *testing.T) {
	for name, what := range map[string]cut{"not done": beforeIt, "done": afterIt} {
		t.Run(name, func(t *testing.T) {
			p, s, direct := behind(t, Config{Resolve: 300 * time.Millisecond})
			fill(t, direct, 1)
			if err := swapTo(s, table("t0"), "first"); err != nil {
				t.Fatal(err)
			}
			p.arm(what, 1, commitMarks(s)...)
			p.refuse(true)
			err := swapTo(s, table("t0"), "second")
			if !errors.Is(err, store.ErrOutcomeUnknown) || errors.Is(err, store.ErrUnavailable) {
				t.Errorf("the caller was told %v", err)
			}
			if err != nil && strings.Contains(err.Error(), pgtest.Shared(t).Password()) {
				t.Errorf("the password is in %v", err)
			}
			p.refuse(false)
			log := checkLog(t, direct, table("t0"), -1)
			if done := log[len(log)-1].To == "second"; done != (what == afterIt) {
				t.Errorf("it was done: %v", done)
			}
		})
	}
}

// Anything that breaks before COMMIT is made again, or nothing was done.
func TestAConnectionThatBreaksBeforeCommitChangesNothing(t *testing.T) {
	p, s, direct := behind(t, Config{Patience: 300 * time.Millisecond})
	fill(t, direct, 1)
	for i, what := range []cut{beforeIt, afterIt} {
		p.arm(what, 2, "BEGIN", s.sql.begin.name)
		if err := swapTo(s, table("t0"), location(0, i)); err != nil {
			t.Errorf("a swap that lost its first message: %v", err)
		}
	}
	p.arm(beforeIt, 1<<30, "BEGIN", s.sql.begin.name)
	err := swapTo(s, table("t0"), "never")
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a swap that never gets through: %v", err)
	}
	p.arm(pass, 0)
	checkLog(t, direct, table("t0"), 3)
	// A reader is answered as soon as it gets through.
	p.arm(beforeIt, 2, s.sql.object.view.name)
	if err := s.View(context.Background(), func(tx store.Tx) error { _, err := tx.Object(table("t0")); return err }); err != nil {
		t.Errorf("a read whose connection broke: %v", err)
	}
	if p.left() != 0 {
		t.Errorf("%d cuts were not made", p.left())
	}
}

// The database is restarted, crashed, and its connections are cut, while writers
// of two replicas write: what they were told is what is there.
func TestARestartedDatabaseLosesAndDoublesNothing(t *testing.T) {
	const writers = 12
	cluster := pgtest.Start(t)
	s := replicas(t, cluster.NewDatabase(t), 2, Config{Patience: 30 * time.Second, Resolve: 30 * time.Second})
	fill(t, s[0], writers/2)
	stop := make(chan struct{})
	var group sync.WaitGroup
	var acknowledged, refused, unknownOutcome atomic.Int64
	told := make([]map[string]bool, writers)
	for w := range writers {
		told[w] = map[string]bool{}
		group.Go(func() {
			// Two writers share a table, one on each replica.
			ident := table(fmt.Sprint("t", w/2))
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				to := location(w, i)
				err := swapTo(s[w%2], ident, to)
				switch {
				case err == nil:
					acknowledged.Add(1)
					told[w][to] = true
				case errors.Is(err, store.ErrOutcomeUnknown):
					unknownOutcome.Add(1)
				default:
					refused.Add(1)
					told[w][to] = false
				}
			}
		})
	}
	// Each blow falls when writers have gone on after the last one.
	next := func() {
		goal := acknowledged.Load() + 150
		for deadline := time.Now().Add(time.Minute); acknowledged.Load() < goal; {
			if time.Now().After(deadline) {
				t.Fatal("no writer goes on")
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	for range 5 {
		next()
		cluster.CutConnections(t)
		next()
		cluster.Crash(t)
		cluster.Begin(t)
		next()
		cluster.CutConnections(t)
	}
	next()
	cluster.Restart(t)
	next()
	close(stop)
	group.Wait()
	t.Logf("%d swaps were acknowledged, %d refused, %d unknown", acknowledged.Load(), refused.Load(), unknownOutcome.Load())
	if unknownOutcome.Load() != 0 {
		t.Errorf("%d outcomes could not be found out, though the database came back", unknownOutcome.Load())
	}
	there := map[string]int{}
	rows := 0
	for i := range writers / 2 {
		for _, c := range checkLog(t, s[0], table(fmt.Sprint("t", i)), -1)[1:] {
			there[c.To]++
			rows++
		}
	}
	for w := range told {
		for to, done := range told[w] {
			if done != (there[to] == 1) {
				t.Errorf("%s: acknowledged %v, there %d times", to, done, there[to])
			}
		}
	}
	if rows != int(acknowledged.Load()) {
		t.Errorf("%d swaps were acknowledged, %d are there", acknowledged.Load(), rows)
	}
}

func TestAFullPoolIsUnavailable(t *testing.T) {
	s := opened(t, Config{URL: pgtest.Shared(t).NewDatabase(t) + "&pool_max_conns=1", Acquire: 100 * time.Millisecond})
	fill(t, s, 1)
	inside, leave := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		if err := s.Update(context.Background(), func(tx store.Tx) error {
			_, err := tx.Object(table("t0"))
			close(inside)
			<-leave
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	<-inside
	for what, run := range map[string]func(context.Context, func(store.Tx) error) error{"View": s.View, "Update": s.Update} {
		if err := run(context.Background(), func(store.Tx) error { t.Error("it ran"); return nil }); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "pool_max_conns") {
			t.Errorf("%s: %v", what, err)
		}
	}
	close(leave)
	group.Wait()
}

func TestALockThatIsHeldTooLongIsUnavailable(t *testing.T) {
	s := replicas(t, pgtest.Shared(t).NewDatabase(t), 2, Config{Lock: 150 * time.Millisecond})
	fill(t, s[0], 2)
	inside, leave := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		if err := s[0].Update(context.Background(), func(tx store.Tx) error {
			_, err := tx.Object(table("t0"))
			close(inside)
			<-leave
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	<-inside
	if err := swapTo(s[1], table("t0"), "x"); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a locked table: %v", err)
	}
	// Readers wait for nobody, and another table is free.
	if err := s[1].View(context.Background(), func(tx store.Tx) error { _, err := tx.Object(table("t0")); return err }); err != nil {
		t.Error(err)
	}
	if err := swapTo(s[1], table("t1"), "x"); err != nil {
		t.Error(err)
	}
	close(leave)
	group.Wait()
}

func TestALeavingCallerDoesNotCancelACommit(t *testing.T) {
	_, s, direct := behind(t, Config{})
	fill(t, direct, 1)
	ctx, cancel := context.WithCancel(context.Background())
	// The caller leaves while the closure runs: then nothing is done.
	err := s.Update(ctx, func(tx store.Tx) error {
		if _, err := tx.Swap(table("t0"), "l", "never", store.By{}); err != nil {
			return err
		}
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a caller that left before the commit: %v", err)
	}
	checkLog(t, direct, table("t0"), 1)
	// The session is not left behind in its transaction.
	if err := direct.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Swap(table("t0"), "l", "next", store.By{})
		return err
	}); err != nil {
		t.Error(err)
	}
}

func TestStatementsThatAPoolerLostAreDoneWithout(t *testing.T) {
	s := opened(t, Config{URL: pgtest.Shared(t).NewDatabase(t) + "&pool_max_conns=1"})
	fill(t, s, 1)
	conn, err := s.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "DEALLOCATE ALL").ReadAll(); err != nil {
		t.Fatal(err)
	}
	s.release(t.Context(), conn)
	if err := swapTo(s, table("t0"), "x"); err != nil {
		t.Errorf("a swap without its statements: %v", err)
	}
	if !s.unnamed.Load() {
		t.Error("statements are still prepared")
	}
	checkLog(t, s, table("t0"), 2)
}

// The first ones wait for the database, which may be restarting; those that come
// later are not kept waiting; and when it is back all are served again.
func TestADatabaseThatStaysAwayIsToldSoon(t *testing.T) {
	const patience = 2 * time.Second
	p, s, direct := behind(t, Config{Patience: patience})
	fill(t, direct, 1)
	read := func() error {
		return s.View(context.Background(), func(tx store.Tx) error { _, err := tx.Object(table("t0")); return err })
	}
	if err := read(); err != nil {
		t.Fatal(err)
	}
	p.refuse(true)
	p.arm(beforeIt, 1<<30, s.sql.object.view.name, "SELECT", "BEGIN", s.sql.begin.name, "ping")
	begin := time.Now()
	if err := read(); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the first one: %v", err)
	}
	first := time.Since(begin)
	begin = time.Now()
	for range 3 {
		for what, err := range map[string]error{"read": read(), "write": swapTo(s, table("t0"), "x")} {
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("a later %s: %v", what, err)
			}
		}
	}
	if later := time.Since(begin) / 6; first < patience || later > patience/2 {
		t.Errorf("the first one waited %v, later ones %v each", first, later)
	}
	p.refuse(false)
	p.arm(pass, 0)
	if err := read(); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}
