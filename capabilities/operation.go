package capabilities

import "slices"

// Op names one operation of the catalog protocol. The zero value is not an
// operation, so that a forgotten field is noticed.
type Op uint8

// The operations, by role. NamespaceExists and ViewExists have a route but no
// backend method of their own: a load answers them (see Operation.Method).
const (
	ListNamespaces Op = iota + 1
	LoadNamespace
	NamespaceExists
	CreateNamespace
	UpdateNamespaceProperties
	DropNamespace

	ListTables
	LoadTable
	TableExists
	CreateTable
	RegisterTable
	UnregisterTable
	CommitTable
	CommitTransaction
	RenameTable
	DropTable
	ReportMetrics

	ListViews
	LoadView
	ViewExists
	CreateView
	RegisterView
	ReplaceView
	RenameView
	DropView

	PlanScan
	FetchPlan
	CancelPlan
	FetchScanTasks

	LoadCredentials
	SignRequest

	ListFunctions
	LoadFunction

	end
)

// Class says what a failure of an operation can have done.
type Class uint8

const (
	// Read changes nothing and may be sent again.
	Read Class = iota + 1
	// Write changes the catalog. It is sent once.
	Write
	// Commit is a write whose lost answer makes engines ask the catalog what
	// happened: an uncertain outcome must be reported as unknown, never as a
	// refusal (REST spec, CommitStateUnknownException).
	Commit
)

// String is the metrics label of the class.
func (c Class) String() string {
	switch c {
	case Read:
		return "read"
	case Write:
		return "write"
	case Commit:
		return "commit"
	}
	return "unknown"
}

// Role groups operations by the kind of object they work on.
type Role uint8

// The roles of a backend.
const (
	Namespaces Role = iota + 1
	Tables
	Views
	Scans
	Access
	Functions
)

// Group is the coarse policy action that an operation belongs to.
type Group string

// The policy action groups, from the least to the most power.
const (
	GroupList   Group = "list"
	GroupRead   Group = "read"
	GroupWrite  Group = "write"
	GroupManage Group = "manage"
)

// Operation is one row of the table.
type Operation struct {
	Op Op
	// Name is the operation's name in metrics, logs and policies, in lower
	// camel case as the REST spec's operationId style has it.
	Name string
	// Method is the name of the mounts.Backend method that answers it.
	Method string
	// Verb and Path are the HTTP route with the spec's literal placeholders:
	// "/v1/{prefix}/namespaces/{namespace}".
	Verb, Path string
	Class      Class
	Role       Role
	Group      Group
	// Default marks the operations that a catalog without an endpoint list is
	// taken to have (REST spec, getConfig).
	Default bool
}

// Endpoint is the row as /v1/config spells it: verb, one blank, path template.
func (o Operation) Endpoint() string { return o.Verb + " " + o.Path }

const (
	pathNamespaces = "/v1/{prefix}/namespaces"
	pathNamespace  = pathNamespaces + "/{namespace}"
	pathTables     = pathNamespace + "/tables"
	pathTable      = pathTables + "/{table}"
	pathViews      = pathNamespace + "/views"
	pathView       = pathViews + "/{view}"
	pathFunctions  = pathNamespace + "/functions"
)

var operations = [...]Operation{
	{ListNamespaces, "listNamespaces", "ListNamespaces", "GET", pathNamespaces, Read, Namespaces, GroupList, true},
	{LoadNamespace, "loadNamespace", "LoadNamespace", "GET", pathNamespace, Read, Namespaces, GroupRead, true},
	{NamespaceExists, "namespaceExists", "LoadNamespace", "HEAD", pathNamespace, Read, Namespaces, GroupRead, false},
	{CreateNamespace, "createNamespace", "CreateNamespace", "POST", pathNamespaces, Write, Namespaces, GroupWrite, true},
	{UpdateNamespaceProperties, "updateNamespaceProperties", "UpdateNamespaceProperties", "POST", pathNamespace + "/properties", Write, Namespaces, GroupWrite, true},
	{DropNamespace, "dropNamespace", "DropNamespace", "DELETE", pathNamespace, Write, Namespaces, GroupManage, true},

	{ListTables, "listTables", "ListTables", "GET", pathTables, Read, Tables, GroupList, true},
	{LoadTable, "loadTable", "LoadTable", "GET", pathTable, Read, Tables, GroupRead, true},
	{TableExists, "tableExists", "TableExists", "HEAD", pathTable, Read, Tables, GroupRead, false},
	{CreateTable, "createTable", "CreateTable", "POST", pathTables, Write, Tables, GroupWrite, true},
	{RegisterTable, "registerTable", "RegisterTable", "POST", pathNamespace + "/register", Write, Tables, GroupWrite, true},
	{UnregisterTable, "unregisterTable", "UnregisterTable", "POST", pathTable + "/unregister", Write, Tables, GroupManage, false},
	{CommitTable, "commitTable", "CommitTable", "POST", pathTable, Commit, Tables, GroupWrite, true},
	{CommitTransaction, "commitTransaction", "CommitTransaction", "POST", "/v1/{prefix}/transactions/commit", Commit, Tables, GroupWrite, true},
	{RenameTable, "renameTable", "RenameTable", "POST", "/v1/{prefix}/tables/rename", Write, Tables, GroupWrite, true},
	{DropTable, "dropTable", "DropTable", "DELETE", pathTable, Write, Tables, GroupManage, true},
	{ReportMetrics, "reportMetrics", "ReportMetrics", "POST", pathTable + "/metrics", Write, Tables, GroupRead, true},

	{ListViews, "listViews", "ListViews", "GET", pathViews, Read, Views, GroupList, false},
	{LoadView, "loadView", "LoadView", "GET", pathView, Read, Views, GroupRead, false},
	{ViewExists, "viewExists", "LoadView", "HEAD", pathView, Read, Views, GroupRead, false},
	{CreateView, "createView", "CreateView", "POST", pathViews, Write, Views, GroupWrite, false},
	{RegisterView, "registerView", "RegisterView", "POST", pathNamespace + "/register-view", Write, Views, GroupWrite, false},
	{ReplaceView, "replaceView", "ReplaceView", "POST", pathView, Commit, Views, GroupWrite, false},
	{RenameView, "renameView", "RenameView", "POST", "/v1/{prefix}/views/rename", Write, Views, GroupWrite, false},
	{DropView, "dropView", "DropView", "DELETE", pathView, Write, Views, GroupManage, false},

	{PlanScan, "planScan", "PlanScan", "POST", pathTable + "/plan", Read, Scans, GroupRead, false},
	{FetchPlan, "fetchPlan", "FetchPlan", "GET", pathTable + "/plan/{plan-id}", Read, Scans, GroupRead, false},
	{CancelPlan, "cancelPlan", "CancelPlan", "DELETE", pathTable + "/plan/{plan-id}", Write, Scans, GroupRead, false},
	{FetchScanTasks, "fetchScanTasks", "FetchScanTasks", "POST", pathTable + "/tasks", Read, Scans, GroupRead, false},

	{LoadCredentials, "loadCredentials", "LoadCredentials", "GET", pathTable + "/credentials", Read, Access, GroupRead, false},
	{SignRequest, "signRequest", "SignRequest", "POST", pathTable + "/sign", Read, Access, GroupRead, false},

	{ListFunctions, "listFunctions", "ListFunctions", "GET", pathFunctions, Read, Functions, GroupList, false},
	{LoadFunction, "loadFunction", "LoadFunction", "GET", pathFunctions + "/{function}", Read, Functions, GroupRead, false},
}

// Operations returns every row, in the order of the Op constants.
func Operations() []Operation { return slices.Clone(operations[:]) }

// Row returns the operation's row; the zero Operation for a value that is none.
func (o Op) Row() Operation {
	if o == 0 || o >= end {
		return Operation{}
	}
	return operations[o-1]
}

// String is the operation's name, "unknown" for a value that is none.
func (o Op) String() string {
	if name := o.Row().Name; name != "" {
		return name
	}
	return "unknown"
}
