package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func testSetFence(t *testing.T, p store.Portable) {
	hasFence(t, p, nil)
	source, destination := fence(store.FenceSource), fence(store.FenceDestination)
	another := fence(store.FenceSource)
	another.Migration = otherMigration
	for _, from := range []*store.Fence{source, destination} {
		if err := p.SetFence(t.Context(), from, another); !errors.Is(err, store.ErrFenceMoved) {
			t.Errorf("a fence that is not there was replaced: %v", err)
		}
	}
	hasFence(t, p, nil)
	setFence(t, p, nil, nil)
	setFence(t, p, nil, source)
	for _, from := range []*store.Fence{nil, destination, another} {
		if err := p.SetFence(t.Context(), from, nil); !errors.Is(err, store.ErrFenceMoved) {
			t.Errorf("another fence than the expected one was taken down: %v", err)
		}
		hasFence(t, p, source)
	}
	// The same again, with other words: what counts are role and migration.
	worded := *source
	worded.Peer, worded.Since = "s\u00e9 \"quoted\" \\ %", moment.Add(1000)
	setFence(t, p, source, &worded)
	setFence(t, p, source, destination)
	setFence(t, p, destination, nil)
	makeNamespaces(t, p, ns("open"))
}

func testConcurrentFences(t *testing.T, p store.Portable) {
	for range 5 {
		var group sync.WaitGroup
		var won atomic.Pointer[store.Fence]
		for i := range byte(8) {
			group.Go(func() {
				mine := fence(store.FenceDestination)
				mine.Migration[15] = i + 1
				switch err := p.SetFence(t.Context(), nil, mine); {
				case err == nil:
					if before := won.Swap(mine); before != nil {
						t.Errorf("two fences were put up: %v and %v", before.Migration, mine.Migration)
					}
				case !errors.Is(err, store.ErrFenceMoved):
					t.Error(err)
				}
			})
		}
		group.Wait()
		if won.Load() == nil {
			t.Fatal("nobody put a fence up")
		}
		hasFence(t, p, won.Load())
		setFence(t, p, won.Load(), nil)
	}
}

// fenced expects the refusal of a fence, with what it says.
func fenced(t *testing.T, what string, err error, want *store.Fence) {
	t.Helper()
	var refusal *store.FencedError
	if !errors.Is(err, store.ErrFenced) || errors.Is(err, store.ErrOutcomeUnknown) || !errors.As(err, &refusal) ||
		!refusal.Fence.Same(want) || refusal.Fence.Peer != want.Peer || !refusal.Fence.Since.Equal(want.Since) {
		t.Errorf("%s: %v, want the refusal of %+v", what, err, want)
	}
}

func testFencedSource(t *testing.T, p store.Portable) {
	makeNamespaces(t, p, ns("a"))
	made := makeObject(t, p, object(id("t", "a"), store.Table, "l"))
	f := fence(store.FenceSource)
	setFence(t, p, nil, f)
	// A store may learn of the fence only when the closure asks it something.
	fenced(t, "an Update", p.Update(t.Context(), func(tx store.Tx) error {
		return second(tx.Swap(id("t", "a"), "l", "m", by("x")))
	}), f)
	fenced(t, "an Update that changes nothing", p.Update(t.Context(), func(store.Tx) error { return nil }), f)
	if got := load(t, p, id("t", "a")); got.ID != made.ID || got.Location != "l" {
		t.Errorf("what is read of a source is %+v", got)
	}
	setFence(t, p, f, nil)
	update(t, p, func(tx store.Tx) error { return second(tx.Swap(id("t", "a"), "l", "m", by("x"))) })
}

func testFencedDestination(t *testing.T, p store.Portable) {
	makeNamespaces(t, p, ns("a"))
	f := fence(store.FenceDestination)
	nothing := func(store.Tx) error { return nil }
	for _, role := range []store.FenceRole{store.FenceMoved, store.FenceDestination} {
		before, _ := p.CurrentFence(t.Context())
		f = fence(role)
		setFence(t, p, before, f)
		fenced(t, "an Update", p.Update(t.Context(), nothing), f)
		fenced(t, "a View", p.View(t.Context(), nothing), f)
		fenced(t, "a View that reads", p.View(t.Context(), func(tx store.Tx) error { return second(tx.Namespace(ns("a"))) }), f)
	}
	setFence(t, p, f, nil)
	view(t, p, func(tx store.Tx) error { return second(tx.Namespace(ns("a"))) })
}

func testFenceReopened(t *testing.T, open func() store.Portable) {
	for _, role := range []store.FenceRole{store.FenceSource, store.FenceDestination, store.FenceMoved} {
		f := fence(role)
		p := open()
		setFence(t, p, nil, f)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p = open()
		hasFence(t, p, f)
		fenced(t, "an Update after a reopen", p.Update(t.Context(), func(store.Tx) error { return nil }), f)
		err := p.View(t.Context(), func(store.Tx) error { return nil })
		if role != store.FenceSource {
			fenced(t, "a View after a reopen", err, f)
		} else if err != nil {
			t.Error(err)
		}
		setFence(t, p, f, nil)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		p = open()
		hasFence(t, p, nil)
		makeNamespaces(t, p, ns(fmt.Sprint("after ", role)))
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// testFenceStopsWriters puts the fence up, through one handle, while writers use
// another: what they were told is done is in the export, and nothing comes after
// it.
func testFenceStopsWriters(t *testing.T, p, writersStore store.Portable) {
	const writers = 8
	makeNamespaces(t, p, ns("a"))
	f := fence(store.FenceSource)
	var group sync.WaitGroup
	var up atomic.Bool
	acknowledged := make([][]string, writers)
	busy := make(chan struct{}, writers)
	for w := range writers {
		group.Go(func() {
			defer func() { busy <- struct{}{} }() // also if it fails at once
			for i := 0; ; i++ {
				name, before := fmt.Sprintf("w%d-%05d", w, i), up.Load()
				err := writersStore.Update(t.Context(), func(tx store.Tx) error {
					return second(tx.Create(object(id(name, "a"), store.Table, name), by("x")))
				})
				if err != nil {
					fenced(t, "a writer", err, f)
					return
				}
				if before {
					t.Errorf("%s was written though the fence was up before it began", name)
					return
				}
				acknowledged[w] = append(acknowledged[w], name)
				if i == 20 {
					busy <- struct{}{}
				}
			}
		})
	}
	for range writers {
		<-busy
	}
	setFence(t, p, nil, f)
	up.Store(true)
	// From here on nothing changes, though some writers may not know it yet.
	first := export(t, p, 1000)
	group.Wait()
	sameEntries(t, "the export when the writers had gone", export(t, p, 777), first)
	want := slices.Sorted(slices.Values(slices.Concat(acknowledged...)))
	var got []string
	for _, e := range first {
		if e.Object != nil {
			got = append(got, e.Object.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d tables were acknowledged, %d are in the export", len(want), len(got))
	}
	if c := counts(t, p); c.Objects != int64(len(want)) || c.Commits != int64(len(want)) {
		t.Errorf("%d tables were acknowledged, the counts are %+v", len(want), c)
	}
	view(t, p, func(tx store.Tx) error {
		for _, name := range want {
			if o, err := tx.Object(mounts.Identifier{Namespace: ns("a"), Name: name}); err != nil || o.Location != name {
				t.Errorf("%s is %+v (%v)", name, o, err)
			}
		}
		return nil
	})
}

// RunReplicas runs what several handles of one registry must do together, for a
// store that allows them: fresh's Opener is called several times, without a
// Close between.
func RunReplicas(t *testing.T, fresh func(t *testing.T) Opener) {
	t.Run("AFenceStopsTheWritersOfOtherProcesses", func(t *testing.T) {
		opener := fresh(t)
		var handles [2]store.Portable
		for i := range handles {
			s, err := opener()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			handles[i] = s.(store.Portable)
		}
		testFenceStopsWriters(t, handles[0], handles[1])
	})
}
