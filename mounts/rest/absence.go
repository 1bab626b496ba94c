package rest

import (
	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// absence turns a 404 into the absence of what was asked for, whatever type the
// remote gave it, unless it is about something else: the route, the prefix, the
// warehouse, or a table's own metadata file. The remote's words are not
// repeated: the kind's sentence holds our names, and clients match on it.
func absence(e *mounts.Error, c call, said said, shaped bool) error {
	kind, object := said.absent(c)
	switch {
	case !shaped || kind == mounts.BadGateway || object.IsZero():
		e.Msg = "the remote catalog answered 404 without saying that {object} does not exist; check catalog_url and warehouse"
		if c.object.IsZero() {
			e.Msg = "the remote catalog answered 404 for its root; check catalog_url and warehouse"
		}
	case said.aboutCatalog():
		e.Msg = "the remote catalog does not know the warehouse, prefix or route that it was asked for; check catalog_url and warehouse"
	case said.aboutFile() && opensFile(c.op):
		e.Kind, e.Msg = mounts.MetadataMissing, ""
	case c.op == capabilities.CommitTransaction:
		e.Kind, e.Err = kind, nil
		e.Msg = "a table that the transaction changes does not exist in the remote catalog; the first that it names is {object}"
	default:
		e.Kind, e.Msg, e.Err = kind, "", nil
		if e.Ident = object; e.To.Equal(object) {
			e.To = mounts.Identifier{}
		}
	}
	return e
}

// opensFile reports the operations for which a remote reads a metadata file that
// can be gone.
func opensFile(op capabilities.Op) bool {
	switch op {
	case capabilities.LoadTable, capabilities.LoadView, capabilities.RegisterTable, capabilities.RegisterView:
		return true
	}
	return false
}

// absent is the kind of an operation's own 404 and what it says is absent, as
// Java's error handlers read them. What is about to be made cannot be absent:
// then it is the namespace that it goes into. BadGateway: a 404 that the
// operation cannot have.
func (s said) absent(c call) (mounts.Kind, mounts.Identifier) {
	within := mounts.Identifier{Namespace: c.object.Namespace}
	switch c.op {
	case capabilities.ListNamespaces, capabilities.LoadNamespace, capabilities.NamespaceExists,
		capabilities.UpdateNamespaceProperties, capabilities.DropNamespace, capabilities.ListTables, capabilities.ListViews,
		capabilities.ListFunctions:
		return mounts.NoSuchNamespace, c.object
	case capabilities.CreateNamespace:
		return mounts.NoSuchNamespace, mounts.Identifier{Namespace: c.object.Namespace.Parent()}
	case capabilities.CreateTable, capabilities.RegisterTable, capabilities.CreateView, capabilities.RegisterView:
		return mounts.NoSuchNamespace, within
	case capabilities.CommitTable:
		if c.creates {
			return mounts.NoSuchNamespace, within
		}
		return mounts.NoSuchTable, c.object
	case capabilities.RenameTable, capabilities.RenameView:
		if s.aboutDestination(c) {
			return mounts.NoSuchNamespace, mounts.Identifier{Namespace: c.to.Namespace}
		}
	case capabilities.FetchPlan, capabilities.CancelPlan:
		if !s.aboutTable() {
			return mounts.NoSuchPlan, c.object
		}
	case capabilities.FetchScanTasks:
		if !s.aboutTable() {
			return mounts.NoSuchPlanTask, c.object
		}
	}
	switch c.op.Row().Role {
	case capabilities.Views:
		return mounts.NoSuchView, c.object
	case capabilities.Functions:
		return mounts.NoSuchFunction, c.object
	case capabilities.Tables, capabilities.Scans, capabilities.Access:
		return mounts.NoSuchTable, c.object
	}
	return mounts.BadGateway, c.object
}

// aboutTable reports an absence of the table or its namespace, where the
// operation's own is another.
func (s said) aboutTable() bool {
	return s.kind == "NoSuchTableException" || s.kind == "NoSuchNamespaceException"
}

// aboutDestination reports a rename that failed for the namespace that it goes
// to. The same type is said of a source whose namespace is absent; then the
// message names that one, or both are the same.
func (s said) aboutDestination(c call) bool {
	if s.kind != "NoSuchNamespaceException" || c.to.Namespace.Equal(c.object.Namespace) {
		return false
	}
	return mentions(s.message, c.to.Namespace) || !mentions(s.message, c.object.Namespace)
}
