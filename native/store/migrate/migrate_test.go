package migrate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func TestAMoveCopiesEverythingAndSwitchesOver(t *testing.T) {
	for _, batch := range []int{0, 1, 7} {
		from, to := open(t), open(t)
		fill(t, from, 250)
		opt := names
		opt.Batch = batch
		var steps []Progress
		opt.Progress = func(p Progress) { steps = append(steps, p) }
		result, err := Run(t.Context(), from, to, opt)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, from, to, result)
		if result.Resumed || result.Already || result.Counts.Total() < 500 {
			t.Errorf("the result is %+v", result)
		}
		for i, p := range steps {
			if p.Total != result.Counts.Total() || p.Done > p.Total || i > 0 && (p.Stage < steps[i-1].Stage || p.Stage == steps[i-1].Stage && p.Done <= steps[i-1].Done) {
				t.Errorf("progress went from %+v to %+v", steps[max(0, i-1)], p)
			}
		}
		if last := steps[len(steps)-1]; last.Stage != Verifying || last.Done != last.Total {
			t.Errorf("the last progress is %+v", last)
		}
		// Once more: it is done, and what was changed since is nobody's business.
		change := func(tx store.Tx) error { return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"new"}}) }
		if err := to.Update(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		again, err := Run(t.Context(), from, to, opt)
		if err != nil || !again.Already || again.Digest != result.Digest || again.Counts != result.Counts || again.Migration != result.Migration {
			t.Errorf("a second run: %+v (%v), after %+v", again, err, result)
		}
	}
}

func TestAnEmptyRegistryMovesToo(t *testing.T) {
	from, to := open(t), open(t)
	for range 2 {
		result, err := Run(t.Context(), from, to, names)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, from, to, result)
	}
}

// TestARunThatEndsAnywhereCanBeRunAgain ends a run at each call that it makes, done
// or not, and looks at what is left behind: never two registries that take changes,
// never a copy that can be read and is not whole.
func TestARunThatEndsAnywhereCanBeRunAgain(t *testing.T) {
	ended := errors.New("the process ended here")
	opt := names
	opt.Batch = 16
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			from, to := open(t), open(t)
			fill(t, from, 20)
			var calls atomic.Int64
			var where atomic.Pointer[string]
			ctx, cancel := context.WithCancel(t.Context())
			stop := func(side string) func(string, bool) error {
				return func(call string, now bool) error {
					if now != after || calls.Add(1) < int64(n) {
						return nil
					}
					place := side + " " + call
					where.CompareAndSwap(nil, &place)
					cancel()
					return ended
				}
			}
			_, err := Run(ctx, &fault{from, stop("from")}, &fault{to, stop("to")}, opt)
			cancel()
			if err == nil {
				if n < 20 {
					t.Errorf("a run made %d calls only", n)
				}
				break
			}
			open := func(s store.Portable) bool { return roleOf(t, s) == 0 }
			if open(to) && contents(t, to).counts.Total() > 0 && (roleOf(t, from) != store.FenceMoved || contents(t, from).total() != contents(t, to).total()) {
				t.Errorf("ended at %s (after: %v) the copy is open with %+v, and the source has the fence %d", *where.Load(), after, contents(t, to).counts, roleOf(t, from))
			}
			result, err := Run(t.Context(), from, to, names)
			if err != nil {
				t.Errorf("ended at %s (after: %v), call %d, it cannot be run again: %v", *where.Load(), after, n, err)
				continue
			}
			complete(t, from, to, result)
		}
	}
}

func TestADatabaseThatComesBackIsWaitedFor(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 20)
	var mu sync.Mutex
	failed := map[string]bool{}
	away := func(side string) func(string, bool) error {
		return func(call string, after bool) error {
			mu.Lock()
			defer mu.Unlock()
			key := fmt.Sprint(side, call, after)
			if failed[key] || call == "CurrentFence" || call == "Counts" {
				return nil
			}
			failed[key] = true
			if after {
				return fmt.Errorf("%w: the connection broke", store.ErrOutcomeUnknown)
			}
			return store.ErrUnavailable
		}
	}
	result, err := Run(t.Context(), &fault{from, away("from")}, &fault{to, away("to")}, names)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, from, to, result)
	if len(failed) < 10 {
		t.Errorf("only %v failed", failed)
	}
}

// A copy that was begun, then given up at the source, which went on: nothing of
// the old copy may be left.
func TestASourceThatWentOnIsCopiedAnew(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 30)
	interrupted := errors.New("interrupted")
	_, err := Run(t.Context(), from, &fault{to, func(call string, after bool) error {
		if call == "Import" && after && contents(t, to).counts.Commits > 20 {
			return interrupted
		}
		return nil
	}}, names)
	if !errors.Is(err, interrupted) {
		t.Fatal(err)
	}
	begun, _ := to.CurrentFence(t.Context())
	if _, err := Abort(t.Context(), from, "from", AbortOptions{}); err != nil {
		t.Fatal(err)
	}
	dropped := mounts.Identifier{Namespace: mounts.Namespace{"ns\x00000", "inner"}, Name: "t00002"}
	if err := from.Update(t.Context(), func(tx store.Tx) error { _, err := tx.Drop(dropped, store.By{Time: moment}); return err }); err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), from, to, names)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, from, to, result)
	if !result.Resumed || result.Migration == begun.Migration {
		t.Errorf("%+v, after the move %v", result, begun.Migration)
	}
	err = to.View(t.Context(), func(tx store.Tx) error { _, err := tx.Object(dropped); return err })
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was dropped came back: %v", err)
	}
}

// Writers that run while the registry is moved are told, and nothing that they
// were told is done is missing from the copy.
func TestNothingThatWasAcknowledgedIsLeftBehind(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 100)
	var group sync.WaitGroup
	acknowledged := make([][]mounts.Namespace, 8)
	busy := make(chan struct{}, len(acknowledged))
	for w := range acknowledged {
		group.Go(func() {
			for i := 0; ; i++ {
				path := mounts.Namespace{fmt.Sprintf("w%d-%d", w, i)}
				err := from.Update(t.Context(), func(tx store.Tx) error {
					return tx.CreateNamespace(store.Namespace{Path: path, ID: uuid.New(), Created: moment, Updated: moment})
				})
				if err != nil {
					if !errors.Is(err, store.ErrFenced) {
						t.Error(err)
					}
					return
				}
				acknowledged[w] = append(acknowledged[w], path)
				if i == 10 {
					busy <- struct{}{}
				}
			}
		})
	}
	for range acknowledged {
		<-busy
	}
	result, err := Run(t.Context(), from, to, names)
	if err != nil {
		t.Fatal(err)
	}
	group.Wait()
	complete(t, from, to, result)
	total := 0
	for _, paths := range acknowledged {
		total += len(paths)
		for _, path := range paths {
			if err := to.View(t.Context(), func(tx store.Tx) error { _, err := tx.Namespace(path); return err }); err != nil {
				t.Errorf("%q was acknowledged and is not in the copy: %v", path, err)
			}
		}
	}
	if want := result.Counts.Namespaces - 2; int64(total) != want {
		t.Errorf("%d namespaces were acknowledged, %d are new in the copy", total, want)
	}
}

// lossy is a store that does not keep what it is given.
type lossy struct {
	store.Portable
	spoil func([]store.Entry) []store.Entry
}

func (l lossy) Import(ctx context.Context, id uuid.UUID, entries []store.Entry) error {
	return l.Portable.Import(ctx, id, l.spoil(entries))
}

func TestACopyThatIsNotEqualIsNeverOpened(t *testing.T) {
	for what, test := range map[string]struct {
		spoil func([]store.Entry) []store.Entry
		words string
	}{
		"a record is lost": {func(e []store.Entry) []store.Entry {
			if e[0].Job != nil {
				return nil
			}
			return e
		}, "is missing"},
		"a record in the middle is lost": {func(e []store.Entry) []store.Entry {
			if e[0].Receipt != nil {
				return e[1:]
			}
			return e
		}, "in the place of the receipt"},
		"a field is another": {func(e []store.Entry) []store.Entry {
			e = append([]store.Entry{}, e...)
			for i := range e {
				if e[i].Object != nil {
					o := *e[i].Object
					o.Generation++
					e[i].Object = &o
				}
			}
			return e
		}, `it has the table "t00000"`},
		"there is more": {func(e []store.Entry) []store.Entry {
			return append([]store.Entry{{Job: &store.Job{ID: uuid.Max, State: store.JobDone}}}, e...)
		}, "the job ffffffff-ffff-ffff-ffff-ffffffffffff is too much"},
	} {
		from, to := open(t), open(t)
		fill(t, from, 20)
		_, err := Run(t.Context(), from, lossy{to, test.spoil}, names)
		var mismatch *Mismatch
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v", what, err)
		}
		if a, b := roleOf(t, from), roleOf(t, to); a != store.FenceSource || b != store.FenceDestination {
			t.Errorf("%s: the fences are %d and %d", what, a, b)
		}
	}
}
