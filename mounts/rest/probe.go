package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Found is what a probe found out about a catalog. Texts that came from it are
// as it sent them: they are not fit for a terminal or a file as they are.
type Found struct {
	// URL is the catalog_url that works, and Warehouse what was asked for.
	URL       string `json:"catalog_url"`
	Warehouse string `json:"warehouse,omitempty"`
	// Profile is the vendor's preset, empty if nothing speaks for one; Reasons
	// are what speaks for it.
	Profile string   `json:"profile,omitempty"`
	Reasons []string `json:"reasons"`
	// Open says that the settings could be read: what follows is from them.
	// Otherwise Login says what the remote wants first.
	Open  bool `json:"open"`
	Login bool `json:"login_needed"`
	// WarehouseNeeded says that the remote wants a warehouse, or another one.
	WarehouseNeeded bool `json:"warehouse_needed"`

	Prefix string `json:"prefix,omitempty"`
	// MovedTo is the address that the remote sends its clients to, followed or
	// not.
	MovedTo   string `json:"moved_to,omitempty"`
	Separator string `json:"namespace_separator,omitempty"`
	PageSize  int    `json:"page_size,omitempty"`
	// Listed says that it sends an endpoint list; Endpoints is what that holds,
	// or what it is taken to have.
	Listed    bool     `json:"endpoints_listed"`
	Endpoints []string `json:"endpoints"`
	// KeyLifetime is how long it honours an Idempotency-Key; 0: it does not.
	KeyLifetime time.Duration `json:"idempotency_key_lifetime_ns"`
	// Levels is how deep its namespaces go, as far as is known; 0: any depth, or
	// not known.
	Levels int `json:"namespace_levels"`
	// Namespaces is how many top-level namespaces its first page holds, -1 if
	// they could not be listed.
	Namespaces int `json:"namespaces"`
	// Notes is what else an operator should know.
	Notes []string `json:"notes"`

	has capabilities.Set
}

// Has reports whether the catalog offers an operation.
func (f *Found) Has(op capabilities.Op) bool { return f.has.Has(op) }

// Probe reads what a catalog says of itself, logged in or not, and guesses whose
// it is. A Config without a profile lets it try where known catalogs lie, if the
// URL has no path. It makes at most about a dozen reads. An error means that
// there is no catalog to be found there: its kinds are those of Open.
func Probe(ctx context.Context, c Config) (*Found, error) {
	c.URL = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(c.URL, "/"), "/config"), "/v1")
	given, err := c.withDefaults()
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.BadRequest, Msg: err.Error()}
	}
	k := newClient(given)
	defer k.close()
	var first error
	for _, base := range candidates(c.URL, given) {
		at := given
		at.URL = base
		f, a, err := ask(ctx, k, at)
		if err != nil {
			if first == nil {
				first = err
			}
			if !errors.Is(err, mounts.BadGateway) {
				break // it is not there at all, or too slow to be asked on
			}
			continue
		}
		f.guess(ctx, k, at, a)
		if f.Open {
			f.look(ctx, at)
		}
		return f, nil
	}
	return nil, first
}

// candidates are the base URLs to try: the given one, and without a path those
// below which catalogs lie.
func candidates(raw string, c Config) []string {
	all := []string{c.URL}
	u, err := url.Parse(raw)
	if err != nil || strings.Trim(u.Path, "/") != "" || c.Profile.Name != "" {
		return all
	}
	byHost := vendorOfHost(u.Hostname())
	for _, p := range Profiles() {
		if p.Path == "" || slices.Contains(all, c.URL+p.Path) {
			continue
		}
		if p.Name == byHost {
			all = slices.Insert(all, 0, c.URL+p.Path)
		} else if byHost == "" {
			all = append(all, c.URL+p.Path)
		}
	}
	return all
}

// ask reads the settings at one base URL. An error of kind BadGateway says that
// there is no catalog.
func ask(ctx context.Context, k *client, c Config) (*Found, *answer, error) {
	at := settingsCall(c)
	a, err := k.do(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	f := &Found{URL: c.URL, Warehouse: c.Warehouse, Reasons: []string{}, Notes: []string{}, Endpoints: []string{}, Namespaces: -1}
	said, shaped := readRefusal(a)
	switch {
	case a.status == http.StatusOK:
		said, err := readSettings(a.body)
		if err != nil {
			return nil, nil, broken(at, fmt.Errorf("its configuration: %w", err))
		}
		s, err := said.merge(c)
		if err != nil {
			return nil, nil, &mounts.Error{Kind: mounts.BadGateway, Msg: "the remote catalog's configuration cannot be used: " + err.Error()}
		}
		f.fill(said, s)
	case a.status == http.StatusUnauthorized, a.status == statusAuthTimeout, a.status == http.StatusForbidden:
		f.Login = true
	case (a.status == http.StatusBadRequest || a.status == http.StatusNotFound) && shaped:
		f.WarehouseNeeded = true
		if said.message != "" {
			f.Notes = append(f.Notes, "it says: "+said.message)
		}
	default:
		return nil, nil, settingsRefusal(at, a, c)
	}
	return f, a, nil
}

// fill takes over what the settings say.
func (f *Found) fill(said *configAnswer, s *settings) {
	get := func(name string) string {
		if value, ok := said.overrides[name]; ok {
			return value
		}
		return said.defaults[name]
	}
	f.Open = true
	f.Prefix, f.MovedTo, f.Separator, f.PageSize = get("prefix"), said.overrides["uri"], get("namespace-separator"), s.pageSize
	f.Listed = len(said.endpoints) > 0
	f.has, f.KeyLifetime, f.Levels = s.has, s.keyLifetime, s.levels()
	f.Endpoints = s.has.Endpoints()
	for _, n := range s.notes {
		f.Notes = append(f.Notes, fmt.Sprintf("%s (%s: %s)", n.text, n.name, n.value))
	}
	f.signs(said)
}

// look asks for namespaces, to learn how deep they go.
func (f *Found) look(ctx context.Context, c Config) {
	c.Profile, _ = ProfileNamed(f.Profile)
	c.Profile.Path = ""
	b, err := Open(ctx, c)
	if err != nil {
		f.Notes = append(f.Notes, "it cannot be opened with this profile: "+err.Error())
		return
	}
	defer b.Close()
	top, err := b.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 20}})
	if err != nil {
		f.Notes = append(f.Notes, "its namespaces cannot be listed: "+err.Error())
		return
	}
	f.Namespaces = len(top.Items)
	if len(top.Items) > 0 && b.current().levels() == 0 {
		_, err = b.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Parent: top.Items[0], Page: pagination.Request{Size: 1}})
		if err != nil {
			f.Notes = append(f.Notes, "the children of a namespace cannot be listed: "+err.Error())
		}
	}
	f.Levels = b.current().levels()
}
