package native

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func TestTheCacheStaysWithinItsBytesAndKeepsWhatIsUsed(t *testing.T) {
	const content, entries = 1000, 40
	key := func(i int) cacheKey { return cacheKey{generation: uint64(i)} }
	one := (&cached{key(0), make([]byte, content)}).cost()
	c := newCache(one * 10)
	c.put(key(0), make([]byte, content))
	for i := 1; i < entries; i++ {
		c.put(key(i), make([]byte, content))
		if _, ok := c.get(key(0)); !ok {
			t.Fatalf("what is used all the time went when %d came", i)
		}
		if c.recent.Len() > 10 || len(c.byKey) != c.recent.Len() || c.room != c.limit-int64(c.recent.Len())*one {
			t.Fatalf("%d entries, %d keys, room %d", c.recent.Len(), len(c.byKey), c.room)
		}
	}
	if _, ok := c.get(key(1)); ok {
		t.Error("the oldest is still there")
	}
	if _, ok := c.get(key(entries - 1)); !ok {
		t.Error("the newest is not there")
	}
	c.put(key(99), make([]byte, c.limit/4+1))
	if _, ok := c.get(key(99)); ok || c.recent.Len() != 10 {
		t.Error("one large document drove out the others")
	}
	off := newCache(0)
	off.put(key(1), []byte("x"))
	if _, ok := off.get(key(1)); ok {
		t.Error("a cache of 0 bytes holds something")
	}
}

func TestTheGateLetsOneThroughAndForgetsItsLanes(t *testing.T) {
	g := newGate()
	ctx := context.Background()
	tables := []mounts.Identifier{ident("t", "a"), ident("u", "a"), ident("v", "a")}
	inside := map[string]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			mine := []mounts.Identifier{tables[i%3], tables[(i+1+i%2)%3], tables[i%3]}
			leave, err := g.enter(ctx, mine)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			for _, id := range mine[:2] {
				if inside[id.Name]++; inside[id.Name] != 1 {
					t.Errorf("%d are inside %s", inside[id.Name], id)
				}
			}
			mu.Unlock()
			mu.Lock()
			for _, id := range mine[:2] {
				inside[id.Name]--
			}
			mu.Unlock()
			leave()
		})
	}
	group.Wait()
	if len(g.lanes) != 0 {
		t.Errorf("%d lanes are left", len(g.lanes))
	}
	leave, err := g.enter(ctx, tables[:1])
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := g.enter(ended, tables); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left came in: %v", err)
	}
	leave()
	if len(g.lanes) != 0 {
		t.Errorf("%d lanes are left", len(g.lanes))
	}
}

func TestEntityTagLists(t *testing.T) {
	const tag = `"abc"`
	for list, want := range map[string]bool{
		`"abc"`: true, `W/"abc"`: true, `"x","abc"`: true, ` , "x" , W/"abc" `: true, `*`: true, ` * `: true, `"a,b", "abc"`: true,
		``: false, `abc`: false, `"abc`: false, `"abcd"`: false, `"x"`: false, `* "abc"`: false, `w/"abc"`: false, `"x" abc, "abc"`: false, `W/`: false,
	} {
		if matches(list, tag) != want {
			t.Errorf("%s matches: %v", list, !want)
		}
	}
}

func TestOpenRefusesWhatCannotWork(t *testing.T) {
	f := newFixture(t)
	for what, cfg := range map[string]Config{
		"no store":       {Warehouse: t.TempDir()},
		"no warehouse":   {Store: f.store},
		"bad warehouse":  {Store: f.store, Warehouse: "gs://b/x"},
		"negative cache": {Store: f.store, Warehouse: t.TempDir(), MetadataCache: -1},
	} {
		if b, err := Open(context.Background(), cfg); err == nil || b != nil {
			t.Errorf("%s: %v, %v", what, b, err)
		}
	}
}

func TestAStoppedStoreIsUnavailableAndSaysWhatToDo(t *testing.T) {
	e := fault(fmt.Errorf("bolt: catalog.db: %w: input/output error", store.ErrStopped))
	if e.Kind != mounts.Unavailable || e.OutcomeUnknown {
		t.Errorf("%v, outcome unknown: %v", e.Kind, e.OutcomeUnknown)
	}
	if text := e.Message(); !strings.Contains(text, "nothing was done") || strings.Contains(text, "catalog.db") {
		t.Error(text)
	}
}
