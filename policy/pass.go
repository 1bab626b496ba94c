package policy

import (
	"context"
	"errors"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

var changes = capabilities.Changes() // read only

// pass hands a permitted call on and answers with what of the answer the caller
// may have. A change is handed on only once it is on record that it was
// permitted; storage is opened only once it is on record that it was.
func (g *Guard) pass(ctx context.Context, c *call) (mounts.Response, error) {
	if !changes.Has(c.op) {
		resp, err := mounts.Invoke(c.as(ctx), g.next, c.sent())
		if err != nil {
			return nil, g.failed(ctx, c, err)
		}
		return g.read(ctx, c, resp)
	}
	if err := g.record(ctx, c, Permitted, "", true); err != nil {
		return nil, err
	}
	ended := false
	defer func() {
		if !ended { // a panic below
			_ = g.record(ctx, c, Unknown, "panic", false)
		}
	}()
	resp, err := mounts.Invoke(c.as(ctx), g.next, c.sent())
	ended = true
	if err != nil {
		return nil, g.failed(ctx, c, err)
	}
	_ = g.record(ctx, c, Done, "ok", false)
	return g.changed(ctx, c, resp), nil
}

// read answers a read.
func (g *Guard) read(ctx context.Context, c *call, resp mounts.Response) (mounts.Response, error) {
	if c.op != c.req.Op() {
		_ = g.record(ctx, c, Done, "ok", false)
		return nothingOf(resp, c.facts.object.Namespace), nil
	}
	issued := false
	switch r := resp.(type) {
	case *mounts.Table:
		t := c.stripTable(r)
		var err error
		if t, err = c.restrictTable(t, false); err != nil {
			return nil, g.denied(ctx, c, err)
		}
		resp, issued = t, len(t.StorageCredentials) > 0
	case *mounts.Credentials:
		if c.width == mounts.NoStorage || !c.relays {
			return nil, g.denied(ctx, c, forbidden(c, ""))
		}
		issued = len(r.StorageCredentials) > 0
	case *mounts.Document:
		d := c.stripDocument(r)
		resp, issued = d, c.op == capabilities.SignRequest || len(d.StorageCredentials) > 0
	case *mounts.View:
		resp = stripView(r)
	}
	if issued {
		if err := g.record(ctx, c, Issued, "ok", true); err != nil {
			return nil, err
		}
		return resp, nil
	}
	_ = g.record(ctx, c, Done, "ok", false)
	return resp, nil
}

// changed answers a change, which was made: nothing that is wrong now can make a
// failure of it, so that the answer is cut instead.
func (g *Guard) changed(ctx context.Context, c *call, resp mounts.Response) mounts.Response {
	switch r := resp.(type) {
	case *mounts.Table:
		t := c.stripTable(r)
		if c.op == capabilities.CreateTable || c.op == capabilities.RegisterTable {
			t, _ = c.restrictTable(t, true)
		}
		if len(t.StorageCredentials) > 0 && g.record(ctx, c, Issued, "ok", true) != nil {
			c.width = mounts.NoStorage
			t = c.stripTable(t)
		}
		return t
	case *mounts.View:
		return stripView(r)
	}
	return resp
}

// nothingOf is the answer of a load that only asked whether something is there.
func nothingOf(resp mounts.Response, n mounts.Namespace) mounts.Response {
	switch resp.(type) {
	case *mounts.NamespaceInfo:
		return &mounts.NamespaceInfo{Namespace: n, Properties: map[string]string{}}
	case *mounts.Table:
		return &mounts.Table{}
	case *mounts.View:
		return &mounts.View{}
	}
	return nil
}

// denied writes down a denial and returns what the caller hears of it.
func (g *Guard) denied(ctx context.Context, c *call, err error) error {
	_ = g.record(ctx, c, Denied, result(err), false)
	return err
}

// failed writes down what came of a call that was let pass.
func (g *Guard) failed(ctx context.Context, c *call, err error) error {
	outcome := Failed
	if errors.Is(err, mounts.ErrOutcomeUnknown) {
		outcome = Unknown
	}
	_ = g.record(ctx, c, outcome, result(err), false)
	return err
}

func result(err error) string { return mounts.AsError(err).Kind.Error() }

// record gives an event to the trail. Its error is the answer of a call that
// must be on record and cannot be.
func (g *Guard) record(ctx context.Context, c *call, outcome, result string, must bool) error {
	if g.trail == nil {
		return nil
	}
	caller := mounts.CallerFrom(ctx)
	e := Event{
		Principal: c.principal, Client: c.client, RequestID: caller.RequestID, Action: ActionOf(c.op), Catalog: g.catalog,
		Resource: c.object.object(c.rule.kind, c.facts.object.Name), More: g.more(c), Policies: c.policies,
		Outcome: outcome, Result: result, Restricted: !c.restrictions.Empty(), Remote: caller.Scope.Remote(),
	}
	if outcome == Issued {
		e.Storage = c.width
	}
	err := g.trail.Record(ctx, e, must)
	if err == nil || !must {
		return nil
	}
	what := "nothing was done"
	if outcome == Issued {
		what = "no access to storage was given out"
	}
	return &mounts.Error{Kind: mounts.Unavailable, Op: c.req.Op(), Ident: c.req.Object(), Answered: true, Err: err,
		RetryAfter: mounts.AsError(err).RetryAfter,
		Msg:        "the server's audit trail cannot be written right now and has to be; " + what + ", try again later"}
}

// more lists what a call is about beside its object.
func (g *Guard) more(c *call) []Resource {
	switch {
	case c.facts.rename:
		return []Resource{c.to.object(c.rule.kind, c.facts.to.Name)}
	case len(c.facts.changes) > 1:
		list := make([]Resource, 0, len(c.facts.changes)-1)
		for i, change := range c.facts.changes[1:] {
			s := spot{Place: g.places.Place(change.Table.Namespace)}
			if len(c.changes) > 0 {
				s = c.changes[i+1]
			}
			list = append(list, s.object(KindTable, change.Table.Name))
		}
		return list
	}
	return nil
}
