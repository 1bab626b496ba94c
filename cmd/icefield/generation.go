package main

import (
	"net/http"
	"sync/atomic"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/wrap"
)

// placed is one open mount. Mount tables that mean the same mount share it, with
// its connections, its breaker and its cache.
type placed struct {
	config  config.Mount
	mounted *wrap.Mounted
	row     mounts.Mount
	// tables counts the generations that hold it; the lock of catalogs guards it.
	tables int
}

// generation is one mount table come to life: everything that requests see until
// the configuration changes. A request that began on one ends on it.
type generation struct {
	cfg    *config.Config
	mounts []*placed // in the order of cfg.Mounts
	// opened are those of them that no generation before had.
	opened []*placed
	access access
	// fresh are the parts of access that no generation before had.
	fresh   []*part
	handler http.Handler

	// users counts the requests under way, and one more until the next generation
	// takes over.
	users atomic.Int64
	// idle is closed when the last of them has left.
	idle chan struct{}
}

func newGeneration(cfg *config.Config) *generation {
	g := &generation{cfg: cfg, idle: make(chan struct{})}
	g.users.Store(1)
	return g
}

// enter begins a request; false if the generation is over.
func (g *generation) enter() bool {
	for {
		n := g.users.Load()
		if n == 0 {
			return false
		}
		if g.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave ends a request, or the reign of the generation.
func (g *generation) leave() {
	if g.users.Add(-1) == 0 {
		close(g.idle)
	}
}

// find is the open mount of a name, or nil.
func (g *generation) find(name string) *placed {
	if g == nil {
		return nil
	}
	for _, p := range g.mounts {
		if p.config.Name == name {
			return p
		}
	}
	return nil
}

// means reports whether a configuration means what the generation was made of.
func (g *generation) means(cfg *config.Config) bool {
	if len(cfg.Mounts) != len(g.cfg.Mounts) || !cfg.Server.Same(g.cfg.Server) || !cfg.SameAccess(g.cfg) {
		return false
	}
	for _, m := range cfg.Mounts {
		if p := g.find(m.Name); p == nil || !p.config.Equal(m) {
			return false
		}
	}
	return true
}

// changes is what became of the mounts, by their names.
type changes struct{ added, changed, removed, kept []string }

// differences compares a generation with the one before, if there was one.
func differences(before, next *generation) changes {
	var c changes
	for _, p := range next.mounts {
		switch old := before.find(p.config.Name); old {
		case nil:
			c.added = append(c.added, p.config.Name)
		case p:
			c.kept = append(c.kept, p.config.Name)
		default:
			c.changed = append(c.changed, p.config.Name)
		}
	}
	if before == nil {
		return c
	}
	for _, p := range before.mounts {
		if next.find(p.config.Name) == nil {
			c.removed = append(c.removed, p.config.Name)
		}
	}
	return c
}
