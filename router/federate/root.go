package federate

import (
	"context"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// atMountRoot answers what is asked of the namespace that a mount claims. It
// holds namespaces and no tables, and it exists as long as it is mounted,
// whether or not the mount can be reached.
func (t *tree) atMountRoot(ctx context.Context, mount *mounts.Mount, req mounts.Request) (mounts.Response, error) {
	row := req.Op().Row()
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		return t.forward(ctx, mount, r)
	case *mounts.LoadNamespaceRequest:
		return &mounts.NamespaceInfo{Namespace: r.Namespace, Properties: map[string]string{}}, nil
	case *mounts.ListTablesRequest, *mounts.ListViewsRequest:
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{}}, nil
	case *mounts.CreateNamespaceRequest:
		return nil, failure(req, mounts.AlreadyExists, "")
	case *mounts.DropNamespaceRequest, *mounts.UpdateNamespacePropertiesRequest:
		e := failure(req, mounts.UnsupportedOperation,
			row.Name+" is not possible on {object}: it is a mount, which only the mount table changes")
		e.Mount = mount.Name
		return nil, e
	case *mounts.CreateTableRequest, *mounts.RegisterTableRequest,
		*mounts.CreateViewRequest, *mounts.RegisterViewRequest:
		return nil, notBelowMountRoot(req, req.Object())
	case *mounts.CommitTableRequest:
		return nil, commitAtMountRoot(req, *r)
	}
	// Engines probe such names for metadata tables: an ordinary absence.
	return nil, absent(req, req.Object())
}

// unclaimed answers for a namespace that no mount claims where there is no
// catalog underneath.
func (t *tree) unclaimed(req mounts.Request) error {
	object := req.Object()
	switch req.Op() {
	case capabilities.CreateNamespace:
		if len(object.Namespace) == 1 {
			return failure(req, mounts.UnsupportedOperation,
				"{object} cannot be created: there is no catalog underneath the mounts; create namespaces inside a mount")
		}
		e := failure(req, mounts.NoSuchNamespace, "")
		e.Ident = mounts.Identifier{Namespace: object.Namespace.Parent()}
		return e
	case capabilities.CreateTable, capabilities.RegisterTable, capabilities.CreateView, capabilities.RegisterView:
		e := failure(req, mounts.NoSuchNamespace, "")
		e.Ident = mounts.Identifier{Namespace: object.Namespace}
		return e
	}
	return absent(req, object)
}

// absent is the ordinary "not there" of the kind of object that req is about.
func absent(req mounts.Request, object mounts.Identifier) *mounts.Error {
	kind := mounts.NoSuchTable
	switch {
	case object.Name == "":
		kind = mounts.NoSuchNamespace
	case req.Op().Row().Role == capabilities.Views:
		kind = mounts.NoSuchView
	}
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: object}
}

func failure(req mounts.Request, kind mounts.Kind, msg string) *mounts.Error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: req.Object(), Msg: msg}
}

func notBelowMountRoot(req mounts.Request, object mounts.Identifier) *mounts.Error {
	return &mounts.Error{Kind: mounts.BadRequest, Op: req.Op(), Ident: object,
		Msg: "{object} cannot stand directly under the mount " + object.Namespace.String() +
			", which holds namespaces only: put it into a namespace of the mount"}
}

// commitAtMountRoot tells a commit that would create a table from one to a table
// that is not there.
func commitAtMountRoot(req mounts.Request, change mounts.CommitTableRequest) error {
	if change.Creates() {
		return notBelowMountRoot(req, change.Table)
	}
	return absent(req, change.Table)
}

// noNamespaceGiven answers a request about the root itself, which is no
// namespace. Loads are absences, since clients probe with empty names.
func noNamespaceGiven(req mounts.Request) error {
	if object := req.Object(); req.Op().Row().Class == capabilities.Read {
		return absent(req, object)
	}
	return failure(req, mounts.BadRequest, "the request names no namespace")
}
