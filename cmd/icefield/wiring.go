package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/router"
	"github.com/icefield/icefield/router/federate"
)

// catalogs is a configuration come to life: every mount, open or being opened,
// and the handler that serves them.
type catalogs struct {
	mounted []*wrap.Mounted
	handler http.Handler
}

// openCatalogs opens the mounts of a configuration and puts everything around
// them. The required ones are opened at the same time, and all that fail are in
// the error. The others are opened in the background from then on. On an error
// everything that was opened is closed again.
func openCatalogs(ctx context.Context, cfg *config.Config, logger *slog.Logger) (c *catalogs, err error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	around := surroundings{instanceID: cfg.InstanceID(), metrics: wrap.NewMetrics(registry), logger: logger}

	c = &catalogs{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.close())
		}
	}()
	backends, err := openRequired(ctx, cfg, around)
	if err != nil {
		return c, err
	}
	rows := make([]mounts.Mount, len(cfg.Mounts))
	for i, m := range cfg.Mounts {
		if !m.Required {
			backends[i] = openLater(m, around)
		}
		mounted := stack(m, backends[i], around)
		c.mounted = append(c.mounted, mounted)
		rows[i] = mounted.Mount()
	}
	table, err := mounts.NewMap(rows...)
	if err != nil {
		return c, err
	}
	if err := federate.CheckShadows(ctx, table); err != nil {
		return c, err
	}
	ring, err := pagination.NewKeyring(cfg.Server.Secret, cfg.Material())
	if err != nil {
		return c, err
	}
	c.handler = router.New(router.Config{
		Tree: router.Catalog{
			Name:    cfg.Server.Name,
			Backend: federate.New(table, ring, federate.Options{Name: cfg.Server.Name}),
		},
		Views: views(table, ring), Mounts: table,
		Timeout: cfg.Server.RequestTimeout, MaxBody: cfg.Server.MaxBody, InstanceID: around.instanceID,
		Gatherer: registry, Registerer: registry, Logger: logger, Version: thisBuild().Version,
	})
	for _, m := range c.mounted {
		m.Start()
	}
	return c, nil
}

// openRequired opens the required mounts, each in its place; the places of the
// others stay nil. On an error it has closed what it opened.
func openRequired(ctx context.Context, cfg *config.Config, around surroundings) ([]mounts.Backend, error) {
	backends, failed := make([]mounts.Backend, len(cfg.Mounts)), make([]error, len(cfg.Mounts))
	var group sync.WaitGroup
	for i, m := range cfg.Mounts {
		if !m.Required {
			continue
		}
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, cfg.Server.RequestTimeout)
			defer cancel()
			backend, err := openMount(ctx, m, around)
			if err != nil {
				failed[i] = unopened(m, err)
				return
			}
			backends[i] = backend
		})
	}
	group.Wait()
	err := errors.Join(failed...)
	if err == nil {
		return backends, nil
	}
	for _, backend := range backends {
		if backend != nil {
			err = errors.Join(err, backend.Close())
		}
	}
	return nil, err
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

func openLater(m config.Mount, around surroundings) mounts.Backend {
	return wrap.NewLazy(func(ctx context.Context) (mounts.Backend, error) {
		return openMount(ctx, m, around)
	}, wrap.LazyOptions{Logger: around.logger.With("mount", m.Name)})
}

func stack(m config.Mount, backend mounts.Backend, around surroundings) *wrap.Mounted {
	return wrap.Stack(backend, wrap.Options{
		Name: m.Name, ViewName: m.ViewName, Driver: m.Kind, Owner: m.Owner, Required: m.Required, ReadOnly: m.ReadOnly,
		Timeout: m.Request, Breaker: wrap.BreakerOptions{Failures: m.Breaker.Failures, OpenFor: m.Breaker.OpenFor},
		InFlight: m.InFlight, Jobs: m.Kind == config.KindNative, Metrics: around.metrics, Logger: around.logger,
	})
}

// views makes each mount a catalog of its own.
func views(table *mounts.Map, ring *pagination.Keyring) []router.Catalog {
	var all []router.Catalog
	for _, m := range table.All() {
		view := m.View
		if m == table.Under() {
			view = federate.Underneath(view, table)
		}
		all = append(all, router.Catalog{
			Name: m.ViewName, Prefix: m.ViewName, Backend: wrap.Tokens(view, ring, m.ViewName, m.Name),
		})
	}
	return all
}

// close closes every mount, and waits for it.
func (c *catalogs) close() error {
	failed := make([]error, len(c.mounted))
	var group sync.WaitGroup
	for i, m := range c.mounted {
		group.Go(func() { failed[i] = m.Close() })
	}
	group.Wait()
	return errors.Join(failed...)
}
