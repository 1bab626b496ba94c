package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/audit"
	"github.com/icefield/icefield/policy/authn"
	"github.com/icefield/icefield/policy/cedar"
	"github.com/icefield/icefield/policy/quota"
	"github.com/icefield/icefield/router"
)

// access is who may do what under one configuration, and where it is written
// down. What means the same under the next one is the same there.
type access struct {
	// logins is nil where everybody is the operator.
	logins *logins
	trail  *trail
	// rules are to be put into effect with the generation; nil if those that are in
	// effect go on.
	rules *cedar.Set
	// certificates are to be shown from then on; nil for the same.
	certificates *shown
}

// part is something that generations share. The lock of catalogs guards tables,
// the number of generations that hold it.
type part struct {
	close  func() error
	tables int
}

// logins are the ways to log in, opened.
type logins struct {
	part
	auth    *config.Authentication
	lockout config.Lockout
	*authn.Authn
}

// trail is an open audit trail.
type trail struct {
	part
	of config.Audit
	*audit.Log
}

// openAccess opens what the generation before has not open already. On an error
// nothing that it opened is left, but for what the generation holds.
func (c *catalogs) openAccess(ctx context.Context, g, before *generation) error {
	var old access
	if before != nil {
		old = before.access
	}
	server := g.cfg.Server
	if server.TLS != nil && c.certificates != nil && (before == nil || !reflect.DeepEqual(server.TLS, before.cfg.Server.TLS)) {
		files, err := show(*server.TLS)
		if err != nil {
			return safe{"the files of the tls block cannot be used; the server's log says why", err}
		}
		g.access.certificates = files
	}
	if err := c.openRules(g, before); err != nil {
		return err
	}
	if g.access.trail = old.trail; old.trail == nil || old.trail.of != g.cfg.Audit {
		log, err := audit.Open(audit.Options{Sink: g.cfg.Audit.Sink, Path: g.cfg.Audit.Path, FailClosed: g.cfg.Audit.FailClosed,
			MaxSize: g.cfg.Audit.MaxSize, Keep: g.cfg.Audit.Keep, Queue: g.cfg.Audit.Queue, Metrics: c.auditMetrics, Logger: c.logger})
		if err != nil {
			return safe{"the audit trail cannot be opened; the server's log says why", err}
		}
		g.access.trail = &trail{part: part{close: log.Close}, of: g.cfg.Audit, Log: log}
		g.fresh = append(g.fresh, &g.access.trail.part)
	}
	if g.cfg.Auth == nil {
		return nil
	}
	if l := old.logins; l != nil && reflect.DeepEqual(l.auth, g.cfg.Auth) && l.lockout == server.LoginLockout {
		g.access.logins = l
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, server.RequestTimeout)
	defer cancel()
	ways := loginConfig(g.cfg)
	ways.Metrics, ways.Logger = c.registry, c.logger
	if l := server.LoginLockout; l.Failures > 0 {
		ways.Lockout = quota.NewLockout(quota.LockoutOptions{Failures: l.Failures, Window: l.Window, Metrics: c.quotaMetrics, Logger: c.logger})
	}
	opened, err := authn.Open(ctx, ways)
	if err != nil {
		return safe{"the auth block cannot be put into effect: an issuer does not answer, or is not what it says; the server's log says more; read again with SIGHUP once it is", err}
	}
	g.access.logins = &logins{part: part{close: opened.Close}, auth: g.cfg.Auth, lockout: server.LoginLockout, Authn: opened}
	g.fresh = append(g.fresh, &g.access.logins.part)
	return nil
}

// openRules loads the policies of a configuration, unless those of the one before
// are meant: those are watched, and may have come from files that cannot be read
// right now.
func (c *catalogs) openRules(g, before *generation) error {
	if g.cfg.Auth == nil {
		return nil
	}
	source := ruleSource(g.cfg)
	if c.rules != nil && before != nil && before.cfg.Auth != nil && reflect.DeepEqual(source, ruleSource(before.cfg)) {
		return nil
	}
	// A tenant whose own files are at fault must not hold up a change of others.
	var inEffect *cedar.Set
	if c.rules != nil {
		inEffect = c.rules.Set()
	}
	set, err := cedar.Reload(source, inEffect)
	if err != nil {
		return safe{`the policies cannot be put into effect; "icefield policy check" and the server's log say what is wrong with them`, err}
	}
	if c.rules == nil {
		if c.rules, err = cedar.WatchSet(set, cedar.WatchOptions{Logger: c.logger, Metrics: c.registry}); err != nil {
			return err
		}
	}
	g.access.rules = set
	return nil
}

// ruleSource is where the policies of a configuration come from.
func ruleSource(cfg *config.Config) cedar.Source {
	source := cedar.Source{Files: cfg.Policy.Files, Builtin: cfg.Policy.Builtin, Tenants: map[string][]string{}}
	for _, t := range cfg.Tenants {
		source.Tenants[t.Name] = t.Policies
	}
	return source
}

// loginConfig is an auth block in the words of package authn.
func loginConfig(cfg *config.Config) authn.Config {
	var out authn.Config
	for _, o := range cfg.Auth.OIDC {
		out.OIDC = append(out.OIDC, authn.OIDC{Name: o.Name, Issuer: o.Issuer, JWKSURL: o.JWKSURL, Audience: o.Audience,
			Tenant: o.Tenant, TenantClaim: o.TenantClaim, RolesClaim: o.RolesClaim, NameClaim: o.NameClaim, OperatorRoles: o.OperatorRoles,
			Leeway: o.Leeway, KeyRefresh: o.KeyRefresh, Algorithms: o.Algorithms, CAFile: o.CAFile, Relay: o.Relay, RelayScope: o.RelayScope})
	}
	for _, k := range cfg.Auth.Keys {
		out.Keys = append(out.Keys, authn.Key{Name: k.Name, Tenant: k.Tenant, Roles: k.Roles, Operator: k.Operator, Hash: k.Hash})
	}
	for _, k := range cfg.Auth.Certificates {
		out.Certificates = append(out.Certificates, authn.Certificate{Name: k.Name, Tenant: k.Tenant, Roles: k.Roles, Operator: k.Operator,
			Subject: k.Subject, DNSName: k.DNSName, URI: k.URI, Email: k.Email})
	}
	if a := cfg.Auth.Anonymous; a != nil {
		out.Anonymous = &policy.Principal{ID: "anonymous", Name: "anonymous", Tenant: a.Tenant, Roles: slices.Clone(a.Roles), Login: "anonymous"}
	}
	return out
}

// hold counts a generation's parts in; the caller holds the lock of catalogs.
func (g *generation) hold() {
	for _, p := range g.parts() {
		p.tables++
	}
}

// release counts them out, and returns those that nobody holds any more.
func (g *generation) release() (last []*part) {
	for _, p := range g.parts() {
		if p.tables--; p.tables == 0 {
			last = append(last, p)
		}
	}
	return last
}

// parts are what the generation shares, in the order in which they are closed: the
// trail last.
func (g *generation) parts() []*part {
	var all []*part
	if g.access.logins != nil {
		all = append(all, &g.access.logins.part)
	}
	if g.access.trail != nil {
		all = append(all, &g.access.trail.part)
	}
	return all
}

// closeParts closes what nobody holds.
func closeParts(list []*part) error {
	var failed []error
	for _, p := range list {
		failed = append(failed, p.close())
	}
	return errors.Join(failed...)
}

// apply puts into effect what a generation changes for the whole process. It
// cannot fail.
func (c *catalogs) apply(g *generation) {
	if g.access.rules != nil {
		c.rules.Put(g.access.rules)
	}
	if g.access.certificates != nil {
		c.certificates.set(g.access.certificates)
	}
	c.limits.Set(rate(g.cfg.Server.RateLimit), rate(g.cfg.Server.TenantRateLimit))
}

func rate(r *config.Rate) quota.Rate {
	if r == nil {
		return quota.Rate{}
	}
	return quota.Rate{PerSecond: r.PerSecond, Burst: r.Burst}
}

// authorizer decides under a configuration.
func (c *catalogs) authorizer(g *generation) policy.Authorizer {
	if g.access.logins == nil {
		return policy.AllowAll()
	}
	return c.rules
}

// guard puts policy around a catalog.
func (c *catalogs) guard(g *generation, name string, backend mounts.Backend, places policy.Places) (*policy.Guard, error) {
	ring, err := guardRing(g.cfg, places.Root())
	if err != nil {
		return nil, err
	}
	return policy.NewGuard(backend, policy.GuardOptions{Catalog: name, Places: places, Authorizer: c.authorizer(g),
		Trail: g.access.trail, Ring: ring, Logger: c.logger}), nil
}

// guardRing is what a guard seals its page tokens with. Without a secret of the
// server the key of a mount's own catalog comes from that mount, and that of the
// tree from the one mount that changes least: so nothing that is changed elsewhere
// disturbs a walk.
func guardRing(cfg *config.Config, root *mounts.Mount) (*pagination.Keyring, error) {
	material := cfg.Material()
	name := mounts.UnderName
	if root != nil {
		name = root.Name
	} else if material[name] == nil {
		name = cfg.Mounts[0].Name
		for _, m := range cfg.Mounts {
			name = min(name, m.Name)
		}
	}
	return pagination.NewKeyring(cfg.Server.Secret, map[string][]byte{policy.GuardSource: material[name]})
}

// enter is what the router is to know of who may do what.
func (c *catalogs) enter(r *router.Config, g *generation, tree *policy.Guard) error {
	server := g.cfg.Server
	if l := g.access.logins; l != nil {
		r.Authenticator, r.Token = l, l.Token
		r.Policy = func() router.PolicyStatus { return ruleStatus(c.rules) }
	}
	if server.RateLimit != nil || server.TenantRateLimit != nil {
		r.Limits = c.limits
	}
	proxies, err := quota.ParseProxies(server.TrustedProxies)
	if err != nil {
		return fmt.Errorf("trusted_proxies: %w", err)
	}
	r.ClientAddr = func(req *http.Request) netip.Addr { return quota.ClientAddr(req, proxies) }
	r.Inspect, r.Trail = tree.MayInspect, g.access.trail
	r.Audit = g.access.trail.report
	r.Components = func() []router.Component { return c.components(g) }
	return nil
}

// report is what /admin/v1/audit says.
func (t *trail) report() router.AuditStatus {
	s := t.Status()
	return router.AuditStatus{Sink: t.of.Sink, FailClosed: t.of.FailClosed, State: s.State, Since: s.Since, Reason: s.Reason,
		Written: s.Written, Lost: s.Lost, Refused: s.Refused}
}

// ruleStatus is what /admin/v1/policy says.
func ruleStatus(rules *cedar.Live) router.PolicyStatus {
	var s router.PolicyStatus
	s.State, s.Since, s.Reason = rules.Status()
	files, tenants := map[string]bool{}, map[string]bool{}
	for _, p := range rules.Set().Policies() {
		s.Policies++
		switch {
		case p.File == "builtin": // those of others have absolute paths
			s.Builtin = true
		default:
			files[p.File] = true
		}
		if p.Tenant != "" {
			tenants[p.Tenant] = true
		}
	}
	s.Files, s.Tenants = len(files), len(tenants)
	return s
}

// components are the parts of the server that are no mounts.
func (c *catalogs) components(g *generation) []router.Component {
	all := c.settings.components()
	one := func(name, state string, since time.Time, reason string) {
		all = append(all, router.Component{Name: name, State: state, Since: since.UTC(), Reason: reason})
	}
	if l := g.access.logins; l != nil {
		state, since, reason := l.Status()
		one("authentication", state, since, reason)
		state, since, reason = c.rules.Status()
		one("policies", state, since, reason)
	}
	if t := g.access.trail; t.of.Sink != config.SinkNone {
		s := t.Status()
		one("audit", s.State, s.Since, s.Reason)
	}
	if c.certificates != nil {
		all = append(all, c.certificates.component())
	}
	return all
}

// callers is what the start-up line says of who may do what.
func (c *catalogs) callers() []any {
	g := c.current.Load()
	audit := g.cfg.Audit.Sink
	if g.cfg.Audit.FailClosed {
		audit += ", nothing is done that cannot be recorded"
	}
	if g.cfg.Auth == nil {
		return []any{"authentication", "none: everybody who can reach this address is the operator (anonymous principal)", "audit", audit}
	}
	return []any{"authentication", loginNames(g.cfg.Auth), "operators", operatorNames(g.cfg.Auth), "policies", ruleNames(c.rules), "audit", audit}
}

// operatorNames says whom no policy binds.
func operatorNames(a *config.Authentication) string {
	var names []string
	for _, k := range a.Keys {
		if k.Operator {
			names = append(names, "key/"+k.Name)
		}
	}
	for _, k := range a.Certificates {
		if k.Operator {
			names = append(names, "certificate/"+k.Name)
		}
	}
	for _, o := range a.OIDC {
		if len(o.OperatorRoles) > 0 {
			names = append(names, fmt.Sprintf("whoever oidc %s gives the role %s", o.Name, strings.Join(o.OperatorRoles, " or ")))
		}
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// ruleNames says which policies are in effect.
func ruleNames(rules *cedar.Live) string {
	s := ruleStatus(rules)
	var from []string
	if s.Builtin {
		from = append(from, "the built-in ones of admin, writer and reader")
	}
	if s.Files > 0 {
		from = append(from, fmt.Sprintf("files: %d", s.Files))
	}
	if len(from) == 0 {
		return "none: only operators may do anything"
	}
	return fmt.Sprintf("%d (%s)", s.Policies, strings.Join(from, ", "))
}

// loginNames says how callers can log in.
func loginNames(a *config.Authentication) string {
	var names []string
	for _, o := range a.OIDC {
		names = append(names, "oidc "+o.Name)
	}
	for n, what := range map[string]int{"api_key": len(a.Keys), "certificate": len(a.Certificates)} {
		if what > 0 {
			names = append(names, fmt.Sprintf("%d %s", what, n))
		}
	}
	slices.Sort(names)
	if a.Anonymous != nil {
		names = append(names, fmt.Sprintf("anonymous as tenant %q", a.Anonymous.Tenant))
	}
	return strings.Join(names, ", ")
}

// reopen opens the audit trail's file again, which may have been renamed.
func (c *catalogs) reopen(ctx context.Context) {
	if err := c.current.Load().access.trail.Reopen(ctx); err != nil {
		c.logger.Error("the audit trail could not be opened again, and is written on where it was", "error", err)
	}
}
