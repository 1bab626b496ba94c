package federate

import (
	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

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
	case req.Op().Row().Role == capabilities.Functions:
		kind = mounts.NoSuchFunction
	}
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: object}
}

func failure(req mounts.Request, kind mounts.Kind, msg string) *mounts.Error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: req.Object(), Msg: msg}
}

// noNamespaceGiven answers a request about the root itself, which is no
// namespace. Loads are absences, since clients probe with empty names.
func noNamespaceGiven(req mounts.Request) error {
	if object := req.Object(); req.Op().Row().Class == capabilities.Read {
		return absent(req, object)
	}
	return failure(req, mounts.BadRequest, "the request names no namespace")
}
