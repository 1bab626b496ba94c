package main

import (
	"context"
	"log/slog"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/native/store/postgres"
)

// openRegistry opens the store of a native registry; it is the one place that
// knows every kind of store.
func openRegistry(ctx context.Context, r config.Registry) (store.Portable, error) {
	if r.Postgres != "" {
		return postgres.Open(ctx, postgres.Config{URL: r.Postgres})
	}
	return bolt.Open(r.Bolt)
}

// usable refuses a registry that a migration closed to readers: a server that
// starts on it most likely has an old catalog_url. One that only takes no changes
// for the moment is served, with a warning.
func usable(ctx context.Context, registry store.Portable, logger *slog.Logger) error {
	fence, err := registry.CurrentFence(ctx)
	if err != nil {
		return err
	}
	if err := fence.Refuses(false); err != nil {
		return err
	}
	if err := fence.Refuses(true); err != nil && logger != nil {
		logger.Warn("this registry can be read only: " + err.Error())
	}
	return nil
}
