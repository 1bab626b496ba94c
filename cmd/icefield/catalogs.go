package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/policy/audit"
	"github.com/icefield/icefield/policy/cedar"
	"github.com/icefield/icefield/policy/quota"
	"github.com/icefield/icefield/policy/vend"
	"github.com/icefield/icefield/router"
	"github.com/icefield/icefield/router/middleware"
)

// catalogs is what a running server serves: the mount table of the moment, and
// those that it replaced for as long as requests are under way on them. It owns
// what outlives a mount table: metrics, open registry files, memory.
type catalogs struct {
	logger   *slog.Logger
	registry *prometheus.Registry
	metrics  *wrap.Metrics
	requests *router.Metrics
	memory   *mounts.Memory
	stores   *stores
	names    *topNames
	governed *governed
	settings *settings
	// certificates is nil for a server without TLS.
	certificates *certificates

	auditMetrics *audit.Metrics
	quotaMetrics *quota.Metrics
	vendMetrics  *vend.Metrics
	limits       *quota.Limits
	// rules is nil until there are logins; it is written under changing.
	rules *cedar.Live

	current atomic.Pointer[generation]
	// candidate is the name in X-Icefield-Via under which the mounts of the next
	// generation are being opened; nil for none.
	candidate atomic.Pointer[string]

	changing sync.Mutex // one change of the mount table at a time
	mu       sync.Mutex // of what follows, and of the counts in placed
	live     map[*generation]bool
	pending  *config.Config // what is being put into effect; nil for nothing
	closing  bool

	hurry    chan struct{} // closed when the generations that are over cannot be waited for
	retiring sync.WaitGroup

	once sync.Once
	err  error
}

// openCatalogs opens the mounts of a configuration and puts everything around
// them. The required ones are opened at the same time, and all that fail are in
// the error. The others are opened in the background from then on. On an error
// everything that was opened is closed again.
func openCatalogs(ctx context.Context, cfg *config.Config, shown *certificates, logger *slog.Logger) (*catalogs, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	c := &catalogs{
		logger: logger, registry: registry, metrics: wrap.NewMetrics(registry), requests: router.NewMetrics(registry),
		memory: mounts.NewMemory(cfg.Server.MaxMemory), stores: newStores(), names: newTopNames(), governed: &governed{},
		settings: newSettings(registry), certificates: shown, auditMetrics: audit.NewMetrics(registry), quotaMetrics: quota.NewMetrics(registry),
		vendMetrics: vend.NewMetrics(registry), live: map[*generation]bool{}, hurry: make(chan struct{}),
	}
	c.limits = quota.New(quota.Options{Metrics: c.quotaMetrics})
	if shown != nil {
		shown.register(registry)
	}
	c.metrics.ShowMemory(c.memory)
	if _, err := c.replace(ctx, cfg); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// ServeHTTP answers a request on the mount table of the moment. Until it is
// answered the mounts of that table stay open.
func (c *catalogs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if c.leadsBack(r) {
		opening(*c.candidate.Load(), c.logger).ServeHTTP(w, r)
		return
	}
	g := c.current.Load()
	for !g.enter() { // replaced in between
		g = c.current.Load()
	}
	defer g.leave()
	g.handler.ServeHTTP(w, r)
}

// leadsBack reports that a request comes from a mount that this server is opening
// right now for its next mount table.
func (c *catalogs) leadsBack(r *http.Request) bool {
	via := r.Header[middleware.ViaHeader]
	if len(via) == 0 {
		return false
	}
	id := c.candidate.Load()
	return id != nil && slices.ContainsFunc(via, func(line string) bool { return strings.Contains(line, *id) })
}

// replace puts another configuration into effect, whole or not at all. Mounts
// that mean the same go on as they are; the others are opened first. Requests
// under way stay on the table that they began with, and what that alone held is
// closed when the last of them is answered. It is not for the settings that
// Server.NeedsRestart names. A configuration that means the same as before changes
// nothing.
func (c *catalogs) replace(ctx context.Context, cfg *config.Config) (changes, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	before := c.current.Load()
	if before != nil && before.means(cfg) {
		return changes{}, nil
	}
	if err := c.announce(cfg); err != nil {
		return changes{}, err
	}
	defer func() { _ = c.announce(nil) }() // what it protects was read before
	next, err := c.build(ctx, cfg, before)
	if err == nil {
		err = c.takeOver(ctx, next)
	}
	if err != nil {
		return changes{}, errors.Join(err, c.discard(next))
	}
	if before != nil {
		c.retiring.Go(func() { c.retire(before) })
		before.leave()
	}
	return differences(before, next), nil
}

// announce begins the putting into effect of a configuration, or ends it.
func (c *catalogs) announce(cfg *config.Config) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = cfg
	return c.protect()
}

// protect guards the names and the warehouses of the mounts of every table that
// is in effect, and of the one that is to be. The caller holds mu.
func (c *catalogs) protect() error {
	tables := []*config.Config{}
	for g := range c.live {
		tables = append(tables, g.cfg)
	}
	if c.pending != nil {
		tables = append(tables, c.pending)
	}
	var names []string
	var all []config.Mount
	for _, cfg := range tables {
		for _, m := range cfg.Mounts {
			names, all = append(names, m.Name), append(all, m)
		}
	}
	c.names.take(names)
	return c.governed.set(all)
}

// takeOver makes a generation the one that requests begin on.
func (c *catalogs) takeOver(ctx context.Context, g *generation) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || ctx.Err() != nil {
		return errShutdown
	}
	for _, p := range g.mounts {
		p.tables++
	}
	g.hold()
	c.apply(g)
	for _, p := range g.opened {
		p.mounted.Start()
	}
	c.live[g] = true
	c.current.Store(g)
	return nil
}

// errShutdown is why a change is given up that nobody needs any more.
var errShutdown = errors.New("the server is being shut down")

// discard closes what was opened for a generation that did not come to be.
func (c *catalogs) discard(g *generation) error {
	err := errors.Join(closeMounts(g.opened), closeParts(g.fresh))
	for _, m := range g.cfg.Mounts {
		c.metrics.Forget(m.Name)
	}
	return err
}

// patience is how long, beyond the time that a request has, a mount table that is
// over waits for the last of its requests.
const patience = 10 * time.Second

// retire waits for the requests that are under way on a generation that is over,
// and closes what it alone held. No request calls a mount any more when its time
// is up; one that is still there then only writes its answer.
func (c *catalogs) retire(g *generation) {
	timer := time.NewTimer(g.cfg.Server.RequestTimeout + patience)
	defer timer.Stop()
	select {
	case <-g.idle:
	case <-c.hurry:
	case <-timer.C:
		c.logger.Warn("requests are still under way on a mount table that was replaced; its mounts are closed", "requests", g.users.Load())
	}
	if err := c.drop(g); err != nil {
		c.logger.Error("a mount that was removed or changed did not close well", "error", err)
	}
}

// drop ends a generation: its mounts that no other one holds are closed, and
// their names forgotten.
func (c *catalogs) drop(g *generation) error {
	var last []*placed
	c.mu.Lock()
	delete(c.live, g)
	for _, p := range g.mounts {
		if p.tables--; p.tables == 0 {
			last = append(last, p)
		}
	}
	parts := g.release()
	shown, kept := map[string]bool{}, map[string]bool{}
	for other := range c.live {
		maps.Copy(shown, catalogNames(other.cfg))
		for _, m := range other.cfg.Mounts {
			kept[m.Name] = true
		}
	}
	_ = c.protect() // what it protects was read before
	c.mu.Unlock()
	err := errors.Join(closeMounts(last), closeParts(parts))
	for name := range catalogNames(g.cfg) {
		if !shown[name] {
			c.requests.Forget(name)
		}
	}
	for _, m := range g.cfg.Mounts {
		if !kept[m.Name] {
			c.vendMetrics.Forget(m.Name)
		}
	}
	return err
}

// catalogNames are the names under which a configuration's catalogs are counted.
func catalogNames(cfg *config.Config) map[string]bool {
	names := map[string]bool{cfg.Server.Name: true}
	for _, m := range cfg.Mounts {
		names[m.ViewName] = true
	}
	return names
}

// close closes every mount, and waits for it. No request may begin any more.
// Further calls return what the first did.
func (c *catalogs) close() error {
	c.once.Do(func() {
		c.mu.Lock()
		c.closing = true
		c.mu.Unlock()
		close(c.hurry)
		c.changing.Lock() // waits for a change under way
		defer c.changing.Unlock()
		c.retiring.Wait()
		if g := c.current.Load(); g != nil {
			c.err = c.drop(g)
		}
		if c.rules != nil {
			c.err = errors.Join(c.err, c.rules.Close())
		}
	})
	return c.err
}

// closeMounts closes mounts at the same time, and waits for them.
func closeMounts(list []*placed) error {
	failed := make([]error, len(list))
	var group sync.WaitGroup
	for i, p := range list {
		group.Go(func() { failed[i] = p.mounted.Close() })
	}
	group.Wait()
	return errors.Join(failed...)
}
