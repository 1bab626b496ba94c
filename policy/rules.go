package policy

import (
	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// rule says what an operation asks of the policies, and what it answers where
// they deny.
type rule struct {
	// kind is what the operation is about; rows what a listing lists.
	kind, rows Kind
	// absent is the kind of error that says it is not there.
	absent mounts.Kind
	// makes: the object is about to be, so that what must be there and be seen is
	// the namespace that it goes into.
	makes bool
	// hides: denied is always answered like an absence, as nothing but a read is
	// asked for.
	hides bool
	// opens: it leads to the rows of a table, for which a load must be allowed and
	// not be restricted.
	opens bool
	needs []Need
}

// Need is one question that an operation asks.
type Need struct {
	Action Action
	// To tells that it is asked of the destination, not of the object.
	To bool
	// Grants tells that the answer decides not whether the operation is done, but
	// whether access of this width to the table's files comes with it; all needs of
	// one width together. NoStorage for the others.
	Grants mounts.StorageAccess

	write bool // ask with Context.Write
	when  when
}

// when is what a need depends on.
type when uint8

const (
	purge when = 1 << iota
	overwrite
	creates
	write
	delegated
)

func act(op capabilities.Op) Need { return Need{Action: ActionOf(op)} }

func (n Need) to() Need              { n.To = true; return n }
func (n Need) only(w when) Need      { n.when = w; return n }
func (n Need) writing() Need         { n.write = true; return n }
func needs(list ...Need) []Need      { return list }
func need(op capabilities.Op) []Need { return needs(act(op)) }

// widths are the questions of how wide access to storage may be.
var widths = needs( // read only
	Need{Action: ActionOf(capabilities.LoadCredentials), Grants: mounts.WriteStorage, write: true, when: delegated},
	Need{Action: ActionOf(capabilities.CommitTable), Grants: mounts.WriteStorage, when: delegated},
	Need{Action: ActionOf(capabilities.LoadCredentials), Grants: mounts.ReadStorage, when: delegated},
)

const (
	noNamespace = mounts.NoSuchNamespace
	noTable     = mounts.NoSuchTable
	noView      = mounts.NoSuchView
)

// rules is the one table of what passes the guard; read only. An operation that
// has no row is refused.
var rules = map[capabilities.Op]*rule{
	capabilities.ListNamespaces:            {kind: KindNamespace, rows: KindNamespace, absent: noNamespace, needs: need(capabilities.ListNamespaces)},
	capabilities.LoadNamespace:             {kind: KindNamespace, absent: noNamespace, hides: true, needs: need(capabilities.LoadNamespace)},
	capabilities.NamespaceExists:           {kind: KindNamespace, absent: noNamespace, hides: true, needs: need(capabilities.NamespaceExists)},
	capabilities.CreateNamespace:           {kind: KindNamespace, absent: noNamespace, makes: true, needs: need(capabilities.CreateNamespace)},
	capabilities.UpdateNamespaceProperties: {kind: KindNamespace, absent: noNamespace, needs: need(capabilities.UpdateNamespaceProperties)},
	capabilities.DropNamespace:             {kind: KindNamespace, absent: noNamespace, needs: need(capabilities.DropNamespace)},

	capabilities.ListTables:  {kind: KindNamespace, rows: KindTable, absent: noNamespace, needs: need(capabilities.ListTables)},
	capabilities.LoadTable:   {kind: KindTable, absent: noTable, hides: true, needs: append(need(capabilities.LoadTable), widths...)},
	capabilities.TableExists: {kind: KindTable, absent: noTable, hides: true, needs: need(capabilities.TableExists)},
	capabilities.CreateTable: {kind: KindTable, absent: noTable, makes: true, needs: append(need(capabilities.CreateTable), widths...)},
	// To overwrite a table is to forget what it was.
	capabilities.RegisterTable: {kind: KindTable, absent: noTable, makes: true, needs: append(needs(act(capabilities.RegisterTable),
		act(capabilities.UnregisterTable).only(overwrite)), widths...)},
	// It answers with the metadata, which can be registered where it may be read.
	capabilities.UnregisterTable: {kind: KindTable, absent: noTable, needs: needs(act(capabilities.UnregisterTable), act(capabilities.LoadTable))},
	// A commit can be the second half of a create.
	capabilities.CommitTable: {kind: KindTable, absent: noTable,
		needs: needs(act(capabilities.CommitTable), act(capabilities.CreateTable).only(creates))},
	capabilities.CommitTransaction: {kind: KindTable, absent: noTable, needs: needs(act(capabilities.CommitTransaction),
		act(capabilities.CommitTable), act(capabilities.CreateTable).only(creates))},
	capabilities.RenameTable: {kind: KindTable, absent: noTable,
		needs: needs(act(capabilities.RenameTable), act(capabilities.CreateTable).to())},
	capabilities.DropTable: {kind: KindTable, absent: noTable,
		needs: needs(act(capabilities.DropTable), Need{Action: PurgeTable, when: purge})},
	capabilities.ReportMetrics: {kind: KindTable, absent: noTable, needs: need(capabilities.ReportMetrics)},

	capabilities.ListViews:    {kind: KindNamespace, rows: KindView, absent: noNamespace, needs: need(capabilities.ListViews)},
	capabilities.LoadView:     {kind: KindView, absent: noView, hides: true, needs: need(capabilities.LoadView)},
	capabilities.ViewExists:   {kind: KindView, absent: noView, hides: true, needs: need(capabilities.ViewExists)},
	capabilities.CreateView:   {kind: KindView, absent: noView, makes: true, needs: need(capabilities.CreateView)},
	capabilities.RegisterView: {kind: KindView, absent: noView, makes: true, needs: need(capabilities.RegisterView)},
	capabilities.ReplaceView:  {kind: KindView, absent: noView, needs: need(capabilities.ReplaceView)},
	capabilities.RenameView:   {kind: KindView, absent: noView, needs: needs(act(capabilities.RenameView), act(capabilities.CreateView).to())},
	capabilities.DropView:     {kind: KindView, absent: noView, needs: need(capabilities.DropView)},

	capabilities.PlanScan:       {kind: KindTable, absent: noTable, opens: true, needs: append(needs(act(capabilities.PlanScan), act(capabilities.LoadTable)), widths...)},
	capabilities.FetchPlan:      {kind: KindTable, absent: noTable, opens: true, needs: append(needs(act(capabilities.FetchPlan), act(capabilities.LoadTable)), widths...)},
	capabilities.CancelPlan:     {kind: KindTable, absent: noTable, needs: need(capabilities.CancelPlan)},
	capabilities.FetchScanTasks: {kind: KindTable, absent: noTable, opens: true, needs: needs(act(capabilities.FetchScanTasks), act(capabilities.LoadTable))},

	// Of credentials the width is the whole question.
	capabilities.LoadCredentials: {kind: KindTable, absent: noTable, opens: true, needs: append(need(capabilities.LoadTable), widths...)},
	capabilities.SignRequest: {kind: KindTable, absent: noTable, opens: true, needs: needs(act(capabilities.SignRequest).writing(),
		act(capabilities.LoadTable), act(capabilities.CommitTable).only(write))},

	capabilities.ListFunctions: {kind: KindNamespace, rows: KindFunction, absent: noNamespace, needs: need(capabilities.ListFunctions)},
	capabilities.LoadFunction:  {kind: KindFunction, absent: mounts.NoSuchFunction, hides: true, needs: need(capabilities.LoadFunction)},
}

// Exists is the action that decides whether an object of a kind may be seen:
// whether a listing shows it, and what is denied of it is refused rather than
// answered like an absence.
func Exists(kind Kind) Action {
	switch kind {
	case KindMount, KindNamespace:
		return ActionOf(capabilities.NamespaceExists)
	case KindTable:
		return ActionOf(capabilities.TableExists)
	case KindView:
		return ActionOf(capabilities.ViewExists)
	case KindFunction:
		return ActionOf(capabilities.LoadFunction)
	}
	return Inspect
}

// Ask describes a call, as far as what it asks of the policies depends on it.
type Ask struct {
	Op capabilities.Op
	// Purge: a drop that deletes the files. Overwrite: a register that replaces a
	// table. Creates: a commit that makes the table. Write: a signature of a request
	// that writes. Delegation: access to storage is asked for with it.
	Purge, Overwrite, Creates, Write, Delegation bool
}

func (a Ask) when() when {
	var w when
	for i, set := range [...]bool{a.Purge, a.Overwrite, a.Creates, a.Write, a.Delegation || a.Op == capabilities.LoadCredentials} {
		if set {
			w |= 1 << i
		}
	}
	return w
}

// Needs lists what a call asks of the policies, in order; nil for an operation
// that is not let through at all. All of it must be allowed, but for needs that
// grant storage.
func (a Ask) Needs() []Need {
	r := rules[a.Op]
	if r == nil {
		return nil
	}
	w := a.when()
	list := []Need{}
	for _, n := range r.needs {
		if n.when&^w == 0 {
			list = append(list, n)
		}
	}
	return list
}

// Questions are the needs of a call as the guard asks them: of a transaction,
// those of one of its tables.
func Questions(p *Principal, a Ask, object, to Resource, c Context) []Question {
	var list []Question
	for _, n := range a.Needs() {
		q := Question{Principal: p, Action: n.Action, Resource: object, Context: c}
		if n.To {
			q.Resource = to
		}
		q.Context.Write = n.asksWrite(a.Write)
		list = append(list, q)
	}
	return list
}

// asksWrite is the need's Context.Write: that of a signature is its method's,
// that of credentials the width in question.
func (n Need) asksWrite(signing bool) bool {
	return n.write && (n.Grants == mounts.WriteStorage || signing)
}
