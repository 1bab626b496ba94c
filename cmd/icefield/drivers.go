package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native"
)

// surroundings is what a driver may use of the server beside the mount's own
// settings. Its zero value will do.
type surroundings struct {
	instanceID string
	metrics    *wrap.Metrics
	logger     *slog.Logger
}

// driver opens the backends of one kind.
type driver struct {
	kind string
	open func(ctx context.Context, m config.Mount, around surroundings) (mounts.Backend, error)
}

// drivers is every kind of backend there is.
func drivers() []driver {
	return []driver{
		{config.KindNative, openNative},
		{config.KindRest, openRest},
	}
}

// openMount opens the backend of a mount, with what it is called in the logs.
func openMount(ctx context.Context, m config.Mount, around surroundings) (mounts.Backend, error) {
	if around.logger != nil {
		around.logger = around.logger.With("mount", m.Name)
	}
	for _, d := range drivers() {
		if d.kind == m.Kind {
			return d.open(ctx, m, around)
		}
	}
	return nil, fmt.Errorf("no driver for the backend %q", m.Kind)
}

func openNative(ctx context.Context, m config.Mount, around surroundings) (mounts.Backend, error) {
	store, err := openRegistry(ctx, m.Native.Registry)
	if err != nil {
		return nil, err
	}
	if err := usable(ctx, store, around.logger); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	backend, err := native.Open(ctx, native.Config{
		Store: store, Warehouse: m.Native.Warehouse, Storage: m.Native.Storage, MetadataCache: m.Native.MetadataCache,
		KeyLifetime: m.Native.KeyLifetime, ReadOnly: m.ReadOnly, Logger: around.logger,
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return backend.Idempotent(), nil
}

func openRest(ctx context.Context, m config.Mount, around surroundings) (mounts.Backend, error) {
	auth, err := login(m.Rest.Auth)
	if err != nil {
		return nil, err
	}
	backend, err := rest.Open(ctx, rest.Config{
		URL: m.Rest.URL, Warehouse: m.Rest.Warehouse, Auth: auth,
		Connect: m.Rest.Connect, Request: m.Request, MaxResponse: m.Rest.MaxResponse, InFlight: m.InFlight,
		InstanceID: around.instanceID, UserAgent: "icefield/" + thisBuild().Version,
		Observe: func(c rest.Call) {
			around.metrics.RemoteCall(m.Name, c.Op.String(), c.Kind, c.Status, c.Duration)
		},
		Logger: around.logger,
	})
	if err != nil {
		return nil, err
	}
	return backend, nil
}

// login makes of the names of secrets what reads them.
func login(a config.Auth) (rest.Auth, error) {
	switch a.Kind {
	case config.AuthBearer:
		return rest.Bearer(a.Token()), nil
	case config.AuthOAuth2:
		secret := os.Getenv(a.ClientSecretEnv)
		if secret == "" {
			return rest.Auth{}, fmt.Errorf("the environment variable %s is not set", a.ClientSecretEnv)
		}
		return rest.OAuth2(rest.OAuth2Config{
			TokenURL: a.TokenURL, ClientID: a.ClientID, ClientSecret: func() (string, error) { return secret, nil }, Scope: a.Scope,
		}), nil
	}
	return rest.NoAuth(), nil
}
