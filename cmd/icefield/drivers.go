package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy/vend"
)

// surroundings is what a driver may use of the server beside the mount's own
// settings. Its zero value will do.
type surroundings struct {
	instanceID string
	metrics    *wrap.Metrics
	vending    *vend.Metrics
	logger     *slog.Logger
	// stores shares the files of registries with the mounts of other tables; nil
	// opens them.
	stores *stores
	// ring seals what clients bring back, for every mount under a key of its own.
	ring *pagination.Keyring
	// memory is the budget for answers under way; nil is none.
	memory *mounts.Memory
	// governed is where this server's own tables lie; nil is nowhere.
	governed *governed
}

// registry opens the store of a native registry.
func (s surroundings) registry(ctx context.Context, r config.Registry) (store.Portable, error) {
	if s.stores == nil {
		return openRegistry(ctx, r)
	}
	return s.stores.take(ctx, r)
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
	store, err := around.registry(ctx, m.Native.Registry)
	if err != nil {
		return nil, err
	}
	if err := usable(ctx, store, around.logger); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	backend, err := native.Open(ctx, native.Config{
		Store: store, Warehouse: m.Native.Warehouse, Storage: m.Native.Storage, MetadataCache: m.Native.MetadataCache,
		KeyLifetime: m.Native.KeyLifetime, Shared: m.Native.Shared, ReadOnly: m.ReadOnly, Logger: around.logger,
	})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return granting(ctx, m, backend, around)
}

func openRest(ctx context.Context, m config.Mount, around surroundings) (mounts.Backend, error) {
	c, err := restConfig(m, around)
	if err != nil {
		return nil, err
	}
	backend, err := rest.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return backend, nil
}

// restConfig is a mount of a remote catalog in the words of package rest.
func restConfig(m config.Mount, around surroundings) (rest.Config, error) {
	r := m.Rest
	auth, err := login(r.Auth)
	if err != nil {
		return rest.Config{}, err
	}
	roots, err := r.Certificates()
	if err != nil {
		return rest.Config{}, err
	}
	c := rest.Config{
		URL: r.URL, Warehouse: r.Warehouse, Mount: m.Name, Ring: around.ring, Profile: profile(r), Auth: auth,
		Writable: !m.ReadOnly, Withhold: r.Withhold, AllowedLocations: r.AllowedLocations, Headers: r.Headers, RootCAs: roots,
		RefreshSettings: r.SettingsRefresh, Connect: r.Connect, Request: m.Request, MaxResponse: r.MaxResponse, InFlight: m.InFlight,
		Memory: around.memory, Remember: r.Cache.Size,
		InstanceID: around.instanceID, UserAgent: "icefield/" + thisBuild().Version,
		Observe: func(c rest.Call) {
			around.metrics.RemoteCall(m.Name, c.Op.String(), c.Kind, c.Status, c.Duration)
		},
		Logger: around.logger,
	}
	if around.governed != nil {
		c.Ours = around.governed.holds
	}
	return c, nil
}

// profile is the preset that a mount names, with what the mount says itself.
func profile(r *config.Rest) rest.Profile {
	p, _ := rest.ProfileNamed(r.Profile) // that there is one was checked with the configuration
	if r.Separator != "" {
		p.Separator = r.Separator
	}
	if r.Levels != 0 {
		p.Levels = r.Levels
	}
	for quirk, said := range map[*bool]*bool{
		&p.ThrottlesWith400: r.Quirks.ThrottlesWith400, &p.MissingLists: r.Quirks.MissingLists, &p.NoHEAD: r.Quirks.NoHEAD,
	} {
		if said != nil {
			*quirk = *said
		}
	}
	return p
}

// login makes of the names of secrets what reads them.
func login(a config.Auth) (rest.Auth, error) {
	switch a.Kind {
	case config.AuthBearer:
		return rest.Bearer(a.Token()), nil
	case config.AuthOAuth2:
		return rest.OAuth2(rest.OAuth2Config{
			TokenURL: a.TokenURL, ClientID: a.ClientID, ClientSecret: a.ClientSecret(), Scope: a.Scope, Audience: a.Audience, Resource: a.Resource,
			Basic: a.Basic, Refresh: a.Refresh,
		}), nil
	case config.AuthSigV4:
		return signature(a)
	case config.AuthPassthrough:
		return rest.Passthrough(), nil
	case config.AuthExchange:
		return rest.Exchange(rest.ExchangeConfig{
			TokenURL: a.TokenURL, ClientID: a.ClientID, ClientSecret: a.ClientSecret(), Scope: a.Scope, Audience: a.Audience, Resource: a.Resource,
			Basic: a.Basic,
		}), nil
	}
	return rest.NoAuth(), nil
}

// signature reads the keys that requests are signed with, if they are named: what
// stands in variables does not change while a process runs.
func signature(a config.Auth) (rest.Auth, error) {
	c := rest.SigV4Config{Service: a.Service, Region: a.Region, RoleARN: a.RoleARN, STSEndpoint: a.STSEndpoint}
	for _, secret := range []struct {
		variable string
		into     *string
	}{
		{a.ExternalIDEnv, &c.ExternalID}, {a.AccessKeyIDEnv, &c.AccessKeyID}, {a.SecretAccessKeyEnv, &c.SecretAccessKey}, {a.SessionTokenEnv, &c.SessionToken},
	} {
		var err error
		if *secret.into, err = config.Variable(secret.variable); err != nil {
			return rest.Auth{}, err
		}
	}
	return rest.SigV4(c), nil
}
