package policy

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// GuardSource is the source that a Guard seals page tokens under: the keyring
// must have a key for it.
const GuardSource = "guard"

// GuardOptions are what a Guard decides with.
type GuardOptions struct {
	// Catalog is the name of the catalog that is guarded: page tokens are bound to
	// it and the audit trail names it.
	Catalog string
	// Places maps the catalog's names; needed.
	Places Places
	// Authorizer decides; nil denies everything to everybody but operators.
	Authorizer Authorizer
	// Trail takes what happened; nil for none.
	Trail Trail
	// Ring seals page tokens; needed.
	Ring *pagination.Keyring
	// Now replaces the clock.
	Now func() time.Time
	// Logger takes decisions that could not be made; nil is silent.
	Logger *slog.Logger
}

// Guard is a Backend that lets pass what policies permit, on to the next one. It
// is fail-closed: what has no rule, no principal or no decision is refused, and
// the next Backend does not hear of it. Its lifecycle is the next one's own. It
// is safe for concurrent use.
type Guard struct {
	mounts.Backend // every operation goes to handle, those added later too

	next    mounts.Backend
	catalog string
	places  Places
	rules   Authorizer
	trail   Trail
	ring    *pagination.Keyring
	now     func() time.Time
	log     *slog.Logger
}

// NewGuard puts a guard before next.
func NewGuard(next mounts.Backend, opt GuardOptions) *Guard {
	g := &Guard{next: next, catalog: opt.Catalog, places: opt.Places, rules: opt.Authorizer, trail: opt.Trail,
		ring: opt.Ring, now: opt.Now, log: opt.Logger}
	if g.rules == nil {
		g.rules = denyAll{}
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	g.Backend = mounts.Dispatch(g.handle, next)
	return g
}

// call is one request being decided.
type call struct {
	// by decides all of it: the policies of the moment when it came.
	by        Authorizer
	req       mounts.Request
	op        capabilities.Op // of the rule: a load that is a probe asks as the check that it stands for
	rule      *rule
	facts     facts
	when      when
	principal *Principal
	client    Client
	context   Context
	// object is where the request's object lies, to the destination of a rename.
	object, to spot
	// changes are the tables of a transaction.
	changes []spot
	// policies decided so far, for the audit trail.
	policies []string
	// restrictions bind the read; trusted tells that the caller is let apply them
	// itself.
	restrictions *Restrictions
	trusted      bool
	// width is the access to storage that was given with the answer; relays
	// whether credentials of the catalog behind may be part of it.
	width  mounts.StorageAccess
	relays bool
}

// current is what decides a call that comes now.
func (g *Guard) current() Authorizer {
	if rules, ok := g.rules.(Changing); ok {
		return rules.Now()
	}
	return g.rules
}

func (g *Guard) handle(ctx context.Context, req mounts.Request) (mounts.Response, error) {
	c := &call{by: g.current(), req: req, op: req.Op()}
	c.principal, c.client = PrincipalFrom(ctx)
	var known bool
	if c.facts, known = factsOf(req); known && probed(ctx) {
		c.op = c.facts.probe(c.op)
	}
	c.rule = rules[c.op]
	switch {
	case c.principal == nil:
		return nil, &mounts.Error{Kind: mounts.Unauthenticated, Op: req.Op(), Msg: "the request says not who makes it"}
	case !known || c.rule == nil:
		g.log.ErrorContext(ctx, "a call that has no rule was refused", "operation", req.Op().String(), "request", fmt.Sprintf("%T", req))
		return nil, &mounts.Error{Kind: mounts.Forbidden, Op: req.Op(), Ident: req.Object(),
			Msg: "no rule says who may do this, so nobody may; it is a fault of the server"}
	case !c.principal.Operator && c.principal.Tenant == "":
		return nil, &mounts.Error{Kind: mounts.Forbidden, Op: req.Op(), Msg: "the caller belongs to no tenant; whoever runs the login has to say which"}
	}
	c.when = c.facts.ask(c.op).when()
	if c.facts.problem != "" {
		return nil, &mounts.Error{Kind: mounts.BadRequest, Op: req.Op(), Ident: req.Object(), Msg: c.facts.problem}
	}
	if c.principal.Operator {
		return g.operator(ctx, c)
	}
	c.context.Client, c.context.Time = c.client.Addr, g.now()
	return g.tenant(ctx, c)
}

// operator lets everything pass: before the policies, so that no forbid of a
// tenant locks the operator out.
func (g *Guard) operator(ctx context.Context, c *call) (mounts.Response, error) {
	c.policies = operatorPolicy
	c.object.Place = g.places.Place(c.facts.object.Namespace)
	if c.facts.rename {
		c.to.Place = g.places.Place(c.facts.to.Namespace)
	}
	if c.object.Mount != nil {
		c.object.tenant = c.object.Mount.Owner
	}
	if c.when&delegated != 0 || c.op == capabilities.SignRequest {
		c.width, c.relays = mounts.WriteStorage, true
	}
	return g.pass(ctx, c)
}

// operatorPolicy stands in the audit trail for the policies of an operator; read
// only.
var operatorPolicy = []string{"operator"}

// tenant decides what anybody else asks for.
func (g *Guard) tenant(ctx context.Context, c *call) (mounts.Response, error) {
	if err := g.find(ctx, c); err != nil {
		return nil, g.failed(ctx, c, err)
	}
	if c.rule.rows != "" {
		return g.list(ctx, c)
	}
	if c.object.isTree() || c.facts.rename && c.to.isTree() {
		return nil, g.failed(ctx, c, nowhere(c))
	}
	if err := g.decide(ctx, c); err != nil {
		return nil, g.denied(ctx, c, err)
	}
	return g.pass(ctx, c)
}

// find finds out where everything lies that the request names.
func (g *Guard) find(ctx context.Context, c *call) error {
	if len(c.facts.changes) == 0 && !c.facts.rename && len(c.facts.views) == 0 {
		var one [1]spot
		err := g.locate(ctx, c, one[:], c.facts.object.Namespace)
		c.object = one[0]
		g.create(c)
		return err
	}
	names := []mounts.Namespace{c.facts.object.Namespace, c.facts.to.Namespace}
	for i := range c.facts.changes {
		names = append(names, c.facts.changes[i].Table.Namespace)
	}
	for _, v := range c.facts.views {
		names = append(names, v.Namespace)
	}
	spots := make([]spot, len(names))
	if err := g.locate(ctx, c, spots, names...); err != nil {
		return err
	}
	c.object, c.to = spots[0], spots[1]
	tables := 2 + len(c.facts.changes)
	c.changes = spots[2:tables]
	g.reference(ctx, c, spots[tables:])
	return nil
}

// create makes a top-level namespace that is not there yet the caller's own, as
// it will be if it is created.
func (g *Guard) create(c *call) {
	if c.op == capabilities.CreateNamespace && c.object.absent && len(c.object.Path) == 1 {
		c.object.tenant, c.object.absent = c.principal.Tenant, false
	}
}

// reference puts the views into the context that the caller says it comes
// through. A view that it may not load counts for nothing.
func (g *Guard) reference(ctx context.Context, c *call, spots []spot) {
	for i := range spots {
		view := spots[i].object(KindView, c.facts.views[i].Name)
		if spots[i].absent || view.Name == "" {
			continue
		}
		if g.ask(ctx, c, ActionOf(capabilities.LoadView), view, false).Allowed {
			c.context.ReferencedBy = append(c.context.ReferencedBy, view)
		}
	}
}

// ask asks the policies one question. A decision that could not be made denies.
func (g *Guard) ask(ctx context.Context, c *call, a Action, r Resource, write bool) Decision {
	q := Question{Principal: c.principal, Action: a, Resource: r, Context: c.context}
	q.Context.Write = write
	d := c.by.Decide(ctx, q)
	if d.Err != nil {
		d.Allowed, d.Restrictions = false, nil
		g.log.ErrorContext(ctx, "a policy decision could not be made and denies", "action", string(a), "resource", r.ID(),
			"kind", string(r.Kind), "principal", c.principal.ID, "err", d.Err)
	}
	return d
}

// seen reports whether the caller may know that r is there.
func (g *Guard) seen(ctx context.Context, c *call, r Resource) bool {
	return g.ask(ctx, c, Exists(r.Kind), r, false).Allowed
}

// note keeps the policies of a decision for the audit trail.
func (g *Guard) note(c *call, d Decision) {
	if g.trail == nil || len(d.Policies) == 0 {
		return
	}
	if c.policies == nil {
		c.policies = d.Policies
		return
	}
	c.policies = joined(c.policies, d.Policies)
}

// Visible reports whether the caller may know that the catalog is there: always
// for the tree, and for a mount if it may see its root.
func (g *Guard) Visible(ctx context.Context) bool {
	root := g.places.Root()
	if root == nil {
		return true
	}
	c := &call{by: g.current()}
	if c.principal, c.client = PrincipalFrom(ctx); c.principal == nil {
		return false
	}
	if c.principal.Operator {
		return true
	}
	c.context.Client, c.context.Time = c.client.Addr, g.now()
	var one [1]spot
	if c.principal.Tenant == "" || g.locate(ctx, c, one[:], nil) != nil {
		return false
	}
	return g.seen(ctx, c, one[0].resource())
}

// MayInspect reports whether the caller may do a with the server (m is nil) or
// with a mount as a whole, as Inspect and ReadMetrics, and which policies say so.
func (g *Guard) MayInspect(ctx context.Context, m *mounts.Mount, a Action) (ok bool, policies []string) {
	c := &call{by: g.current()}
	c.principal, c.client = PrincipalFrom(ctx)
	switch {
	case c.principal == nil:
		return false, nil
	case c.principal.Operator:
		return true, operatorPolicy
	case c.principal.Tenant == "":
		return false, nil
	}
	c.context.Client, c.context.Time = c.client.Addr, g.now()
	r := Resource{Kind: KindServer}
	if m != nil {
		r = Resource{Kind: KindMount, Mount: m.Name, Tenant: m.Owner}
		if m.Name != mounts.UnderName {
			r.Path = mounts.Namespace{m.Name}
		}
	}
	d := g.ask(ctx, c, a, r, false)
	return d.Allowed, d.Policies
}

type probeKey struct{}

// Probe marks a load that is made only to find out whether something exists, as
// for a HEAD: the guard then asks for the right to know that, not to load it, and
// answers nothing of it.
func Probe(ctx context.Context) context.Context { return context.WithValue(ctx, probeKey{}, true) }

func probed(ctx context.Context) bool {
	is, _ := ctx.Value(probeKey{}).(bool)
	return is
}

// AllowAll is an Authorizer that lets everybody do everything.
func AllowAll() Authorizer { return allowAll{} }

type allowAll struct{}

func (allowAll) Decide(context.Context, Question) Decision { return Decision{Allowed: true} }

func (allowAll) Filter(_ context.Context, _ Question, list []Resource) ([]bool, error) {
	all := make([]bool, len(list))
	for i := range all {
		all[i] = true
	}
	return all, nil
}

func (allowAll) Uniform(context.Context, Question, Resource, Kind) (allowed, known bool) {
	return true, true
}

type denyAll struct{}

func (denyAll) Decide(context.Context, Question) Decision { return Decision{} }

func (denyAll) Filter(_ context.Context, _ Question, list []Resource) ([]bool, error) {
	return make([]bool, len(list)), nil
}

func (denyAll) Uniform(context.Context, Question, Resource, Kind) (allowed, known bool) {
	return false, true
}
