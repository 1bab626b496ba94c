package policy

import (
	"context"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// storage decides what access to the table's files goes with an answer, and
// refuses calls that are about nothing else and get none.
func (g *Guard) storage(ctx context.Context, c *call, r Resource) error {
	loads := true
	if c.op == capabilities.CreateTable || c.op == capabilities.RegisterTable {
		// Whoever makes a table may be bound in what it reads of it.
		d := g.ask(ctx, c, loadTable, r, false)
		loads, c.restrictions = d.Allowed, d.Restrictions
	}
	if c.when&delegated == 0 && !c.rule.opens {
		return nil
	}
	bound := !c.restrictions.Empty()
	if bound {
		d := g.ask(ctx, c, VendRestricted, r, false)
		c.trusted = d.Allowed
		g.note(c, d)
	}
	switch {
	case bound && !c.trusted && c.rule.opens:
		return forbidden(c, "what you may read of {object} is restricted, so that its files are not opened to you: use an engine that applies the restriction and is trusted to ("+string(VendRestricted)+")")
	case bound && !c.trusted || !loads:
		return nil
	case c.op == capabilities.SignRequest:
		// The width of a signature is its method's, which was asked for.
		c.width, c.relays = mounts.ReadStorage, true
		if c.when&write != 0 {
			c.width = mounts.WriteStorage
		}
		return nil
	case c.when&delegated == 0:
		return nil
	}
	c.width = g.width(ctx, c, r)
	c.relays = c.object.Mount != nil && c.width >= c.object.Mount.Relays
	if c.op != capabilities.LoadCredentials {
		return nil
	}
	switch {
	case c.width == mounts.NoStorage && !g.seen(ctx, c, r):
		return absent(c, c.facts.object)
	case c.width == mounts.NoStorage:
		return forbidden(c, "")
	case !c.relays:
		return forbidden(c, "the catalog behind its mount gives out credentials of {object} that are wider than you may have; ask it to sign requests instead, if it does")
	}
	return nil
}

// width asks how wide access to storage may be: for writing if credentials that
// write are permitted and so are commits, else for reading.
func (g *Guard) width(ctx context.Context, c *call, r Resource) mounts.StorageAccess {
	for _, w := range [...]mounts.StorageAccess{mounts.WriteStorage, mounts.ReadStorage} {
		if g.grants(ctx, c, r, w) {
			return w
		}
	}
	return mounts.NoStorage
}

func (g *Guard) grants(ctx context.Context, c *call, r Resource, w mounts.StorageAccess) bool {
	for _, n := range widths {
		if n.Grants != w {
			continue
		}
		d := g.ask(ctx, c, n.Action, r, n.asksWrite(false))
		if !d.Allowed || !d.Restrictions.Empty() && !c.trusted && n.Action != ActionOf(capabilities.CommitTable) {
			return false
		}
		g.note(c, d)
	}
	return true
}

// sent is the request as it goes on: it asks for no access to storage that was
// not given, and not for "not modified" where the answer depends on the caller.
func (c *call) sent() mounts.Request {
	switch r := c.req.(type) {
	case *mounts.LoadTableRequest:
		delegation, bound := c.delegation(r.Delegation), !c.restrictions.Empty()
		if delegation != r.Delegation || bound && r.IfNoneMatch != "" {
			out := *r
			if out.Delegation = delegation; bound {
				out.IfNoneMatch = ""
			}
			return &out
		}
	case *mounts.CreateTableRequest:
		if d := c.delegation(r.Delegation); d != r.Delegation {
			out := *r
			out.Delegation = d
			return &out
		}
	case *mounts.RegisterTableRequest:
		if d := c.delegation(r.Delegation); d != r.Delegation {
			out := *r
			out.Delegation = d
			return &out
		}
	case *mounts.PlanScanRequest:
		if d := c.delegation(r.Delegation); d != r.Delegation {
			out := *r
			out.Delegation = d
			return &out
		}
	case *mounts.FetchPlanRequest:
		if d := c.delegation(r.Delegation); d != r.Delegation {
			out := *r
			out.Delegation = d
			return &out
		}
	}
	return c.req
}

const remoteSigning = "remote-signing"

// delegation is the part of a client's wish that it is granted. Signing is
// decided request by request, so that it needs no credentials of the right width.
func (c *call) delegation(wish string) string {
	switch {
	case wish == "" || c.width == mounts.NoStorage:
		return ""
	case c.relays:
		return wish
	}
	for part := range strings.SplitSeq(wish, ",") {
		if strings.EqualFold(strings.TrimSpace(part), remoteSigning) {
			return remoteSigning
		}
	}
	return ""
}

// as is the context of the call below: with the width of access that was given.
func (c *call) as(ctx context.Context) context.Context {
	caller := mounts.CallerFrom(ctx)
	if caller.Storage == c.width {
		return ctx
	}
	caller.Storage = c.width
	return mounts.WithCaller(ctx, caller)
}
