package native

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/jobs"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// Config is what a registry is made of.
type Config struct {
	// Store keeps the pointers. The backend closes it.
	Store store.Store
	// Warehouse is the root of all table locations: file:///path, a path, or
	// s3://bucket/path.
	Warehouse string
	// Storage holds the FileIO properties of this mount. Those that are no
	// secrets and that engines need (endpoint, region, path style) go out with
	// every table.
	Storage map[string]string
	// MetadataCache bounds the cached metadata in bytes; 0 switches it off.
	MetadataCache int64
	// KeyLifetime is how long the outcome of a request with an Idempotency-Key is
	// remembered (see Backend.Idempotent); 0 switches it off. DefaultKeyLifetime
	// is a good value.
	KeyLifetime time.Duration
	// Shared tells that the top-level namespaces belong to different tenants: each
	// then has a folder of its own, and what a request makes of it, or in it, lies
	// there. See home.
	Shared bool
	// ReadOnly keeps the registry from doing jobs (see package jobs): it shows
	// them, and another process does them.
	ReadOnly bool
	// Logger hears of files that could not be removed and of jobs; nil for none.
	Logger *slog.Logger

	// jobStore is how the runner of jobs reaches the store; nil: as everybody
	// does. Tests that stand before the store keep the runner out of it.
	jobStore store.Store
}

// Backend is a registry. It implements mounts.Backend.
type Backend struct {
	mounts.Unsupported
	store     store.Store
	warehouse *warehouse.Warehouse
	cache     *cache
	gate      *gate
	tags      tagger
	shared    bool
	log       *slog.Logger
	jobs      *jobs.Runner
	purge     *jobs.Purge

	// What Idempotent needs: how long outcomes are remembered, by which clock,
	// and which requests are at work.
	lifetime time.Duration
	now      func() time.Time
	flights  *flights
	// stop ends the goroutines of background.
	stop       context.CancelFunc
	background *sync.WaitGroup
}

var _ mounts.Backend = (*Backend)(nil)

// Open opens a registry over an open store. It creates a local warehouse's
// folder and contacts no bucket. On an error the store stays open.
func Open(ctx context.Context, cfg Config) (*Backend, error) {
	if cfg.Store == nil {
		return nil, errors.New("native: no store was given")
	}
	if cfg.MetadataCache < 0 {
		return nil, fmt.Errorf("native: a metadata cache of %d bytes makes no sense; 0 switches it off", cfg.MetadataCache)
	}
	if cfg.KeyLifetime < 0 {
		return nil, fmt.Errorf("native: outcomes cannot be remembered for %v; 0 switches it off", cfg.KeyLifetime)
	}
	w, err := warehouse.Open(ctx, cfg.Warehouse, cfg.Storage)
	if err != nil {
		return nil, err
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	b := &Backend{store: cfg.Store, warehouse: w, cache: newCache(cfg.MetadataCache), gate: newGate(),
		tags: newTagger(w.ClientHints()), shared: cfg.Shared, log: log, lifetime: cfg.KeyLifetime, now: time.Now, flights: newFlights(), background: new(sync.WaitGroup)}
	// The goroutines outlive the call that opened the registry.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.stop = stop
	if b.lifetime > 0 {
		b.background.Go(func() { b.pruneReceipts(background) })
	}
	b.openJobs(cfg)
	return b, nil
}

// supported is every operation of namespaces, tables and views.
func supported() capabilities.Set {
	var ops []capabilities.Op
	for _, row := range capabilities.Operations() {
		switch row.Role {
		case capabilities.Namespaces, capabilities.Tables, capabilities.Views:
			ops = append(ops, row.Op)
		}
	}
	return capabilities.Of(ops...)
}

// Capabilities implements mounts.Backend: namespaces, tables and views.
func (b *Backend) Capabilities() capabilities.Set { return supported() }

// Health implements mounts.Backend with one read of the store.
func (b *Backend) Health(ctx context.Context) error {
	err := b.store.View(ctx, func(tx store.Tx) error {
		_, err := tx.Children(nil, "", 1)
		return err
	})
	if err != nil {
		return fault(err)
	}
	return nil
}

// Close implements mounts.Backend: it ends what runs in the background and
// closes the store.
func (b *Backend) Close() error {
	b.stop()
	b.background.Wait()
	return errors.Join(b.jobs.Close(), b.store.Close(), b.warehouse.Close())
}

// Warehouse is the root of all locations, as file:///path or
// s3://bucket/path.
func (b *Backend) Warehouse() string { return b.warehouse.Root().String() }

// by says for the store who makes a change.
func by(ctx context.Context) store.By {
	caller := mounts.CallerFrom(ctx)
	who := store.By{Time: time.Now(), Principal: caller.Principal, RequestID: caller.RequestID}
	if caller.Once != nil {
		who.IdempotencyKey = caller.Once.Key
	}
	return who
}
