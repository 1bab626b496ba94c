package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router"
	"github.com/icefield/icefield/router/federate"
)

// build opens what a configuration has and the generation before has not, and
// puts everything together. The generation is never nil: on an error it says what
// was opened for it.
func (c *catalogs) build(ctx context.Context, cfg *config.Config, before *generation) (*generation, error) {
	g := newGeneration(cfg)
	ring, err := pagination.NewKeyring(cfg.Server.Secret, cfg.Material())
	if err != nil {
		return g, err
	}
	around := c.surroundings(cfg, ring)
	if before != nil {
		c.candidate.Store(&around.instanceID)
		defer c.candidate.Store(nil)
	}
	if err := c.openAccess(ctx, g, before); err != nil {
		return g, err
	}
	if err := g.place(ctx, before, around, c.names); err != nil {
		return g, err
	}
	table, err := mounts.NewMap(rows(g.mounts)...)
	if err != nil {
		return g, err
	}
	if err := c.checkShadows(ctx, g); err != nil {
		return g, err
	}
	tree, err := c.guard(g, cfg.Server.Name, federate.New(table, ring, federate.Options{Name: cfg.Server.Name}), policy.InTree(table))
	if err != nil {
		return g, err
	}
	views, err := c.views(g, table, ring)
	if err != nil {
		return g, err
	}
	surface := router.Config{
		Tree: router.Catalog{Name: cfg.Server.Name, Backend: tree}, Views: views, Mounts: table,
		Timeout: cfg.Server.RequestTimeout, MaxBody: cfg.Server.MaxBody, InstanceID: around.instanceID,
		Gatherer: c.registry, Metrics: c.requests, Logger: c.logger, Version: thisBuild().Version,
	}
	if err := c.enter(&surface, g, tree); err != nil {
		return g, err
	}
	g.handler = router.New(surface)
	return g, nil
}

// surroundings is what a configuration's mounts may use of the server.
func (c *catalogs) surroundings(cfg *config.Config, ring *pagination.Keyring) surroundings {
	return surroundings{instanceID: cfg.InstanceID(), metrics: c.metrics, vending: c.vendMetrics, logger: c.logger,
		stores: c.stores, ring: ring, memory: c.memory, governed: c.governed}
}

// place fills the generation's mounts: those that mean the same as before are
// those of before. What fails to open is in the error, all of it.
func (g *generation) place(ctx context.Context, before *generation, around surroundings, names *topNames) error {
	var needed []config.Mount
	for _, m := range g.cfg.Mounts {
		if same := before.find(m.Name); (same == nil || !same.config.Equal(m)) && m.Required {
			needed = append(needed, m)
		}
	}
	backends, err := openRequired(ctx, needed, g.cfg.Server.RequestTimeout, around)
	if err != nil {
		return err
	}
	var tried []<-chan struct{}
	for _, m := range g.cfg.Mounts {
		if same := before.find(m.Name); same != nil && same.config.Equal(m) {
			g.mounts = append(g.mounts, same)
			continue
		}
		backend := backends[m.Name]
		if backend == nil {
			later := openLater(m, around)
			backend, tried = later, append(tried, later.Tried())
		}
		p := &placed{config: m, mounted: stack(m, backend, around)}
		p.row = p.mounted.Mount()
		if m.Name == mounts.UnderName {
			p.row.Tree, p.row.View = names.guard(p.row.Tree), names.guard(p.row.View)
		}
		g.mounts, g.opened = append(g.mounts, p), append(g.opened, p)
	}
	if before != nil {
		giveTime(ctx, tried)
	}
	return nil
}

// firstAttempt is how long a change waits for the mounts that need not be
// reachable.
const firstAttempt = 5 * time.Second

// giveTime waits for the first attempts to open mounts that need not be
// reachable, but not long: meanwhile the mounts before them serve, so that
// nobody who uses a mount that is changed finds it closed for a moment.
func giveTime(ctx context.Context, tried []<-chan struct{}) {
	timer := time.NewTimer(firstAttempt)
	defer timer.Stop()
	for _, one := range tried {
		select {
		case <-one:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// rows are mounts as a mount table has them.
func rows(list []*placed) []mounts.Mount {
	rows := make([]mounts.Mount, len(list))
	for i, p := range list {
		rows[i] = p.row
	}
	return rows
}

// checkShadows refuses mounts that would hide a namespace of the catalog
// underneath. Of those that were there before it is known: such a namespace
// cannot be created, unless the catalog underneath is another one.
func (c *catalogs) checkShadows(ctx context.Context, g *generation) error {
	under := g.find(mounts.UnderName)
	if under == nil {
		return nil
	}
	look := g.opened
	if slices.Contains(g.opened, under) {
		look = g.mounts
	}
	list := []*placed{under}
	var names []string
	for _, p := range look {
		if p != under {
			list, names = append(list, p), append(names, p.config.Name)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, g.cfg.Server.RequestTimeout)
	defer cancel()
	if err := c.names.settle(ctx, names); err != nil {
		return err
	}
	table, err := mounts.NewMap(rows(list)...)
	if err != nil {
		return err
	}
	if err := federate.CheckShadows(ctx, table); err != nil {
		return safe{err.Error(), err}
	}
	return nil
}

// safe is an error whose reason may be shown to clients; its own text is for the
// log.
type safe struct {
	reason string
	err    error
}

func (s safe) Error() string { return s.err.Error() }
func (s safe) Unwrap() error { return s.err }

// openRequired opens required mounts, by their names. On an error it has closed
// what it opened.
func openRequired(ctx context.Context, list []config.Mount, timeout time.Duration, around surroundings) (map[string]mounts.Backend, error) {
	opened, failed := make([]mounts.Backend, len(list)), make([]error, len(list))
	var group sync.WaitGroup
	for i, m := range list {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			backend, err := openMount(ctx, m, around)
			if err != nil {
				failed[i] = unopened(m, err)
				return
			}
			opened[i] = backend
		})
	}
	group.Wait()
	backends := map[string]mounts.Backend{}
	var names []string
	for i, m := range list {
		if failed[i] != nil {
			names = append(names, fmt.Sprintf("%q", m.Name))
			continue
		}
		backends[m.Name] = opened[i]
	}
	err := errors.Join(failed...)
	if err == nil {
		return backends, nil
	}
	for _, backend := range backends {
		err = errors.Join(err, backend.Close())
	}
	return nil, safe{"these required mounts cannot be opened: " + strings.Join(names, ", ") + "; read again with SIGHUP once they can, or let them be required = false", err}
}

// unopened says which required mount keeps the server from starting, and what
// to do.
func unopened(m config.Mount, err error) error {
	switch {
	case errors.Is(err, mounts.Loop):
		return looping{m.Name, err}
	case m.Kind == config.KindRest, errors.Is(err, store.ErrUnavailable):
		return fmt.Errorf("the mount %q cannot be opened: %w (with required = false the server starts without it and keeps trying)", m.Name, err)
	}
	return fmt.Errorf("the mount %q cannot be opened: %w", m.Name, err)
}

// looping is the error of a mount that leads back to this server. What the
// server answered to itself adds nothing to its text.
type looping struct {
	mount string
	err   error
}

func (l looping) Error() string {
	return fmt.Sprintf("the mount %q leads back to this server, so it would hold itself: set its catalog_url to another catalog, or leave it out", l.mount)
}

func (l looping) Unwrap() error { return l.err }

func openLater(m config.Mount, around surroundings) *wrap.Lazy {
	return wrap.NewLazy(func(ctx context.Context) (mounts.Backend, error) {
		return openMount(ctx, m, around)
	}, wrap.LazyOptions{Logger: around.logger.With("mount", m.Name)})
}

func stack(m config.Mount, backend mounts.Backend, around surroundings) *wrap.Mounted {
	return wrap.Stack(backend, options(m, around))
}

// options is what stands around a mount, in the words of package wrap.
func options(m config.Mount, around surroundings) wrap.Options {
	opt := wrap.Options{
		Name: m.Name, ViewName: m.ViewName, Driver: m.Kind, Owner: m.Owner, Required: m.Required, ReadOnly: m.ReadOnly,
		Timeout: m.Request, Breaker: wrap.BreakerOptions{Failures: m.Breaker.Failures, OpenFor: m.Breaker.OpenFor},
		InFlight: m.InFlight, Relays: relays(m), Jobs: m.Kind == config.KindNative, Metrics: around.metrics, Logger: around.logger,
	}
	if n := m.Native; n != nil {
		var does []string
		if n.Vending != nil {
			does = append(does, "vend")
		}
		if n.Signing {
			does = append(does, "sign")
		}
		opt.Credentials = strings.Join(does, ", ")
	}
	if r := m.Rest; r != nil {
		opt.HeedsContext, opt.Profile, opt.Credentials, opt.FoldsCase = true, r.Profile, "forward", profile(r).FoldsCase
		if r.Withhold {
			opt.Credentials = "withhold"
		}
		opt.Cache = wrap.CacheOptions{TTL: r.Cache.TTL, StaleIfDown: r.Cache.StaleIfDown, Size: r.Cache.Size, Coalesce: r.Cache.Coalesce,
			PerCaller: r.Auth.PerCaller(), IgnoreDelegation: r.Withhold}
	}
	return opt
}

// relays is how wide the storage credentials are that come from behind a mount.
func relays(m config.Mount) mounts.StorageAccess {
	switch {
	case m.Rest == nil:
		return mounts.NoStorage
	case m.Rest.RelayedAccess == config.AccessWrite:
		return mounts.WriteStorage
	case m.Rest.RelayedAccess == config.AccessRead:
		return mounts.ReadStorage
	}
	return mounts.NoStorage
}

// views makes each mount a catalog of its own.
func (c *catalogs) views(g *generation, table *mounts.Map, ring *pagination.Keyring) ([]router.Catalog, error) {
	var all []router.Catalog
	for _, m := range table.All() {
		view := m.View
		if m == table.Under() {
			view = federate.Underneath(view, table)
		}
		guard, err := c.guard(g, m.ViewName, wrap.Tokens(view, ring, m.ViewName, m.Name), policy.InMount(table, m))
		if err != nil {
			return nil, err
		}
		all = append(all, router.Catalog{Name: m.ViewName, Prefix: m.ViewName, Backend: guard, Visible: guard.Visible})
	}
	return all, nil
}
