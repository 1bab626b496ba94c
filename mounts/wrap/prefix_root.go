package wrap

import (
	"strconv"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// root answers what is asked of the mount root itself, or of a table or view
// directly in it; done is false for every other request.
func (p *prefix) root(req mounts.Request) (resp mounts.Response, err error, done bool) {
	switch r := req.(type) {
	case *mounts.RenameTableRequest:
		return p.rename(req, r.Source, r.Destination, mounts.NoSuchTable)
	case *mounts.RenameViewRequest:
		return p.rename(req, r.Source, r.Destination, mounts.NoSuchView)
	case *mounts.CommitTransactionRequest:
		for _, change := range r.Changes {
			if p.isRoot(change.Table.Namespace) {
				return nil, p.commitInRoot(req, change), true
			}
		}
		return nil, nil, false
	}
	if !p.isRoot(req.Object().Namespace) {
		return nil, nil, false
	}
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		return nil, nil, false
	case *mounts.ListTablesRequest, *mounts.ListViewsRequest, *mounts.ListFunctionsRequest:
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{}}, nil, true
	case *mounts.LoadNamespaceRequest:
		return &mounts.NamespaceInfo{Namespace: p.add(nil), Properties: map[string]string{}}, nil, true
	case *mounts.CreateNamespaceRequest:
		return nil, p.says(req, mounts.AlreadyExists, ""), true
	case *mounts.UpdateNamespacePropertiesRequest:
		return nil, p.says(req, mounts.UnsupportedOperation, "{object} is a mount and keeps no properties; set them on a namespace inside it"), true
	case *mounts.DropNamespaceRequest:
		return nil, p.says(req, mounts.UnsupportedOperation, "{object} is a mount, which no client can drop; remove it from the server's configuration"), true
	case *mounts.CreateTableRequest, *mounts.RegisterTableRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest:
		return nil, p.says(req, mounts.BadRequest, p.holdsNone("{object}")), true
	case *mounts.CommitTableRequest:
		return nil, p.commitInRoot(req, *r), true
	case *mounts.LoadViewRequest, *mounts.ReplaceViewRequest, *mounts.DropViewRequest:
		return nil, p.says(req, mounts.NoSuchView, ""), true
	case *mounts.LoadFunctionRequest:
		return nil, p.says(req, mounts.NoSuchFunction, ""), true
	}
	return nil, p.says(req, mounts.NoSuchTable, ""), true
}

// holdsNone says why what cannot be made directly in the mount root.
func (p *prefix) holdsNone(what string) string {
	return what + " cannot be made: the mount " + strconv.Quote(p.name) +
		" holds namespaces, not tables or views; put it into a namespace inside the mount"
}

func (p *prefix) isRoot(n mounts.Namespace) bool { return len(n) == 1 && n[0] == p.name }

func (p *prefix) says(req mounts.Request, kind mounts.Kind, msg string) error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: req.Object(), Msg: msg}
}

// commitInRoot tells a commit that would create a table from one to a table
// that is not there.
func (p *prefix) commitInRoot(req mounts.Request, change mounts.CommitTableRequest) error {
	e := &mounts.Error{Kind: mounts.NoSuchTable, Op: req.Op(), Ident: change.Table}
	if change.Creates() {
		e.Kind, e.Msg = mounts.BadRequest, p.holdsNone("{object}")
	}
	return e
}

func (p *prefix) rename(req mounts.Request, from, to mounts.Identifier, absent mounts.Kind) (mounts.Response, error, bool) {
	switch {
	case p.isRoot(from.Namespace):
		return nil, p.says(req, absent, ""), true
	case p.isRoot(to.Namespace) && p.inside(from.Namespace):
		return nil, &mounts.Error{Kind: mounts.BadRequest, Op: req.Op(), Ident: from, To: to,
			Msg: p.holdsNone("{to}")}, true
	}
	return nil, nil, false
}
