package router

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router/middleware"
)

// identified is a request's context with its caller, where there is one.
func identified(r *http.Request) context.Context {
	call := middleware.CallFrom(r.Context())
	if call.Principal == nil {
		return r.Context()
	}
	return policy.WithPrincipal(r.Context(), call.Principal, call.Client)
}

// visible reports whether the caller may know of a catalog; of nil nobody does.
func (s *server) visible(ctx context.Context, c *Catalog) bool {
	return c != nil && (c == &s.Tree || c.Visible == nil || c.Visible(ctx))
}

// isPrefix reports whether the caller knows a catalog by that prefix.
func (s *server) isPrefix(ctx context.Context, prefix string) bool {
	c := s.byPrefix[prefix]
	if c == nil || c.Visible == nil {
		return c != nil
	}
	call := middleware.CallFrom(ctx)
	return call.Principal != nil && s.visible(policy.WithPrincipal(ctx, call.Principal, call.Client), c)
}

// noWarehouse is the absence of a catalog, with the names of those there are. One
// that the caller may not see is absent like any other.
func (s *server) noWarehouse(ctx context.Context, name string) error {
	names := []string{s.Tree.Name}
	for i := range s.Views {
		if s.visible(ctx, &s.Views[i]) {
			names = append(names, s.Views[i].Name)
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" })
	return &mounts.Error{Kind: mounts.NoSuchWarehouse,
		Msg: plainText(fmt.Sprintf("there is no warehouse %q here; there is %s", clip(name), strings.Join(names, ", ")))}
}

// endpoints is what a catalog advertises. It is never empty, since some clients
// take an empty list for "nothing" and others for "the default".
func (s *server) endpoints(ctx context.Context, c *Catalog) []string {
	set := s.offer(ctx, c).Emulated()
	if set.Len() == 0 {
		set = capabilities.Floor()
	}
	return set.Endpoints()
}

// keyLifetime is how long a catalog honours an Idempotency-Key, for the caller: of
// the tree, the shortest time of the mounts that the caller may see and that can
// change something, and 0 if one of those does not.
func (s *server) keyLifetime(ctx context.Context, c *Catalog) time.Duration {
	if c != &s.Tree {
		return c.Backend.KeyLifetime()
	}
	seen, shortest := 0, time.Duration(0)
	for i := range s.Views {
		view := &s.Views[i]
		if !s.visible(ctx, view) {
			continue
		}
		seen++
		if view.Backend.Capabilities().Intersect(capabilities.Changes()) == 0 {
			continue
		}
		life := view.Backend.KeyLifetime()
		if life <= 0 {
			return 0
		}
		if shortest == 0 || life < shortest {
			shortest = life
		}
	}
	if seen == len(s.Views) || seen == 0 {
		return c.Backend.KeyLifetime()
	}
	return shortest
}

// offer is what a catalog can do for the caller: of the tree, what every mount
// can that the caller may see. So the list tells nothing of the others, and is
// not shorter for them.
func (s *server) offer(ctx context.Context, c *Catalog) capabilities.Set {
	if c != &s.Tree {
		return c.Backend.Capabilities()
	}
	seen, set := 0, capabilities.All()
	for i := range s.Views {
		if view := &s.Views[i]; s.visible(ctx, view) {
			seen++
			set = set.Intersect(view.Backend.Capabilities().Emulated())
		}
	}
	if seen == len(s.Views) || seen == 0 {
		return c.Backend.Capabilities()
	}
	return set.Union(capabilities.Floor())
}
