package rest

import (
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Config is one remote and how to talk to it. Zero values mean the defaults.
type Config struct {
	// URL is the remote's base URL, the part before "/v1". It holds no user
	// info, query or fragment.
	URL string
	// Warehouse, if set, is sent to the remote's /v1/config.
	Warehouse string
	// Mount is the mount's name. Ring seals what clients bring back (plan ids,
	// plan tasks, the state of a signing route) under the key of that name; nil
	// means a ring of this process alone.
	Mount string
	Ring  *pagination.Keyring
	// Profile holds the habits of the vendor; the zero Profile is the spec.
	Profile Profile
	// Writable forwards what changes the catalog too.
	Writable bool
	// Withhold lets no storage credential of the remote pass, and asks for none.
	Withhold bool
	// AllowedLocations, if any, are the only storage locations that credentials
	// may be relayed for, that the mount's tables may be said to lie in, and that
	// a change may name.
	AllowedLocations []string
	allowed          []place // AllowedLocations, as withDefaults read them
	// Ours, if set, reports a location inside a warehouse that another mount of
	// this server governs: nothing is relayed for those.
	Ours func(location string) bool
	// Headers are sent with every catalog call ("Polaris-Realm"). None of them is
	// a secret or one of the protocol's own.
	Headers map[string]string
	// RootCAs are trusted instead of the system's, if set.
	RootCAs *x509.CertPool
	// RefreshSettings is how old the remote's /v1/config may get (5 min).
	RefreshSettings time.Duration
	// Auth is the mount's own login; the zero Auth sends none.
	Auth Auth
	// Connect bounds the making of a connection (2 s), Request one HTTP call
	// from its first byte sent to the last one received (10 s).
	Connect, Request time.Duration
	// MaxResponse bounds an answer in bytes, as sent and as inflated (256 MiB).
	MaxResponse int64
	// Memory is what answers may hold until the clients that they are for have
	// theirs; nil is no bound. It may be shared by all mounts.
	Memory *mounts.Memory
	// Remember bounds the metadata, in bytes, that is remembered to know it again
	// when a remote without tags sends it unchanged; 0 remembers none.
	Remember int64
	// InFlight is how many idle connections are kept for reuse (64).
	InFlight int
	// InstanceID names this server in X-Icefield-Via, where the caller has no
	// name for it. Empty: the header holds only what the call came through already.
	InstanceID string
	// UserAgent is the header of that name ("icefield").
	UserAgent string
	// Observe, if set, is told of every HTTP call when it is over, from the
	// goroutine that made it.
	Observe func(Call)
	// Logger takes what an operator should know about the remote's habits. Nil
	// discards it.
	Logger *slog.Logger
}

// Call is one HTTP call to the remote or its token endpoint.
type Call struct {
	// Op is the operation that it was made for; 0 for config and token calls.
	Op capabilities.Op
	// Kind is "catalog", "config" or "token".
	Kind string
	// Status is the HTTP status; 0 if no answer came.
	Status   int
	Duration time.Duration
}

// The values of Call.Kind.
const (
	kindCatalog = "catalog"
	kindConfig  = "config"
	kindToken   = "token"
)

// withDefaults fills the zero values in and checks the rest.
func (c Config) withDefaults() (Config, error) {
	base, err := checkURL("catalog_url", c.URL)
	if err != nil {
		return c, err
	}
	c.URL = c.Profile.under(base)
	c.Headers = c.Profile.headers(c.Headers)
	c.Auth = c.Profile.Login.fill(c.Auth, c.URL)
	if lack := c.Profile.Login.lacks(c.Auth); lack != "" {
		return c, errors.New(lack)
	}
	if err := c.Auth.check(c.URL); err != nil {
		return c, err
	}
	if c.allowed, err = readPlaces(c.AllowedLocations); err != nil {
		return c, err
	}
	if c.Ring == nil {
		secret := make([]byte, 32)
		rand.Read(secret)
		if c.Ring, err = pagination.NewKeyring(secret, map[string][]byte{c.Mount: nil}); err != nil {
			return c, err
		}
	}
	if c.Connect < 0 || c.Request < 0 || c.MaxResponse < 0 || c.InFlight < 0 {
		return c, errors.New("timeouts and limits cannot be negative")
	}
	if c.Connect == 0 {
		c.Connect = 2 * time.Second
	}
	if c.Request == 0 {
		c.Request = 10 * time.Second
	}
	if c.MaxResponse == 0 {
		c.MaxResponse = 256 << 20
	}
	if c.InFlight == 0 {
		c.InFlight = 64
	}
	if c.RefreshSettings < 0 {
		return c, errors.New("settings_refresh cannot be negative")
	}
	if c.RefreshSettings == 0 {
		c.RefreshSettings = defaultRefresh
	}
	if c.UserAgent == "" {
		c.UserAgent = "icefield"
	}
	if c.Observe == nil {
		c.Observe = func(Call) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// checkURL returns the URL without its trailing slashes. Its errors never quote
// a URL that may hold a password.
func checkURL(name, raw string) (string, error) {
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return "", fmt.Errorf("%s is missing", name)
	case err != nil:
		return "", fmt.Errorf("%s is not a URL", name)
	case u.User != nil:
		return "", fmt.Errorf("%s holds a user name or password: put the login into an auth block", name)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "":
		return "", fmt.Errorf("%s %q is not an http or https URL", name, raw)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return "", fmt.Errorf("%s may hold no query and no fragment", name)
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(step string) bool { return step == "." || step == ".." }):
		return "", fmt.Errorf(`%s has a "." or ".." in its path`, name)
	}
	return strings.TrimRight(raw, "/"), nil
}
