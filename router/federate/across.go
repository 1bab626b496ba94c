package federate

import (
	"context"
	"fmt"

	"github.com/icefield/icefield/mounts"
)

// rename forwards a rename whose sides lie in one mount and refuses every other
// before anything is sent: no two catalogs can move a name in one step.
func (t *tree) rename(ctx context.Context, req mounts.Request, source, destination mounts.Identifier) (mounts.Response, error) {
	from, to := t.table.Resolve(source.Namespace), t.table.Resolve(destination.Namespace)
	switch {
	case source.Namespace.IsRoot() || destination.Namespace.IsRoot():
		return nil, failure(req, mounts.BadRequest, "a rename needs a namespace on both sides")
	case from == nil:
		return nil, absent(req, source)
	case to == nil:
		e := failure(req, mounts.NoSuchNamespace, "")
		e.Ident = mounts.Identifier{Namespace: destination.Namespace}
		return nil, e
	case from != to:
		e := failure(req, mounts.UnsupportedOperation, fmt.Sprintf(
			"a rename cannot cross mounts: {object} is in %s and {to} would be in %s; neither was touched",
			describe(from), describe(to)))
		e.To = destination
		return nil, e
	}
	return mounts.Invoke(ctx, from.Tree, req)
}

// transaction forwards a transaction whose tables lie in one mount and refuses
// every other before anything is sent.
func (t *tree) transaction(ctx context.Context, req *mounts.CommitTransactionRequest) (mounts.Response, error) {
	if len(req.Changes) == 0 {
		return nil, failure(req, mounts.BadRequest, "the transaction changes no table")
	}
	var first *mounts.Mount
	for i, change := range req.Changes {
		table := change.Table
		if table.Namespace.IsRoot() || table.Name == "" {
			return nil, failure(req, mounts.BadRequest,
				fmt.Sprintf("change %d of the transaction does not say which table it is for", i+1))
		}
		mount := t.table.Resolve(table.Namespace)
		switch {
		case mount == nil:
			return nil, absent(req, table)
		case first == nil:
			first = mount
		case mount != first:
			e := failure(req, mounts.UnsupportedOperation, fmt.Sprintf(
				"a transaction cannot cross mounts: {object} is in %s and {to} is in %s; no table was touched",
				describe(first), describe(mount)))
			e.To = table
			return nil, e
		}
	}
	return nil, first.Tree.CommitTransaction(ctx, req)
}

func describe(m *mounts.Mount) string {
	if m.Name == mounts.UnderName {
		return fmt.Sprintf("the catalog underneath (mount %q)", m.ViewName)
	}
	return fmt.Sprintf("mount %q", m.Name)
}

// ownReferences drops the views of other mounts from the chain that a table was
// reached through: no mount can verify what lies in another.
func (t *tree) ownReferences(mount *mounts.Mount, req mounts.Request) mounts.Request {
	keep := func(chain []mounts.Identifier) []mounts.Identifier {
		var own []mounts.Identifier
		for _, id := range chain {
			if t.table.Resolve(id.Namespace) == mount && !t.isMountRoot(id.Namespace) {
				own = append(own, id)
			}
		}
		return own
	}
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		if len(r.ReferencedBy) > 0 {
			out := *r
			out.ReferencedBy = keep(r.ReferencedBy)
			return &out
		}
	case *mounts.LoadViewRequest:
		if len(r.ReferencedBy) > 0 {
			out := *r
			out.ReferencedBy = keep(r.ReferencedBy)
			return &out
		}
	case *mounts.LoadCredentialsRequest:
		if len(r.ReferencedBy) > 0 {
			out := *r
			out.ReferencedBy = keep(r.ReferencedBy)
			return &out
		}
	}
	return req
}
