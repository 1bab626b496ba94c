package native

import (
	"context"
	"slices"
	"sync"

	"github.com/icefield/icefield/mounts"
)

// gate lets the commits to one table through one after the other. It only
// spares this process lost swaps, each of which costs a written file; what keeps
// commits apart is the conditional swap, here and between replicas.
type gate struct {
	mu    sync.Mutex
	lanes map[string]*lane
}

type lane struct {
	free    chan struct{} // holds one token while nobody commits
	waiting int
}

func newGate() *gate { return &gate{lanes: map[string]*lane{}} }

// enter waits for the lanes of all tables and returns how to leave them. It
// fails only with the context's error. Lanes are entered in one order, so that
// transactions cannot wait for each other.
func (g *gate) enter(ctx context.Context, tables []mounts.Identifier) (leave func(), err error) {
	keys := make([]string, 0, len(tables))
	for _, id := range tables {
		keys = append(keys, laneKey(id))
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	entered := 0
	leave = func() {
		for _, key := range keys[:entered] {
			g.leave(key, true)
		}
	}
	for _, key := range keys {
		if err := g.wait(ctx, key); err != nil {
			leave()
			return nil, err
		}
		entered++
	}
	return leave, nil
}

func (g *gate) wait(ctx context.Context, key string) error {
	g.mu.Lock()
	l := g.lanes[key]
	if l == nil {
		l = &lane{free: make(chan struct{}, 1)}
		l.free <- struct{}{}
		g.lanes[key] = l
	}
	l.waiting++
	g.mu.Unlock()
	select {
	case <-l.free:
		return nil
	case <-ctx.Done():
		g.leave(key, false)
		return ctx.Err()
	}
}

// leave gives up a place, and with it the lane if it was held.
func (g *gate) leave(key string, held bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.lanes[key]
	if held {
		l.free <- struct{}{}
	}
	if l.waiting--; l.waiting == 0 {
		delete(g.lanes, key)
	}
}

// laneKey joins what no name holds twice; a mix-up would only make two tables
// wait for each other.
func laneKey(id mounts.Identifier) string {
	key := id.Name
	for _, level := range id.Namespace {
		key += "\x1f" + level
	}
	return key
}
