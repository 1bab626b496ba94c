package router

import "github.com/icefield/icefield/capabilities"

// handlers says which function answers which row of the operation table.
func handlers() map[capabilities.Op]handler {
	return map[capabilities.Op]handler{
		capabilities.ListNamespaces:            listNamespaces,
		capabilities.LoadNamespace:             loadNamespace,
		capabilities.NamespaceExists:           namespaceExists,
		capabilities.CreateNamespace:           createNamespace,
		capabilities.UpdateNamespaceProperties: updateNamespaceProperties,
		capabilities.DropNamespace:             dropNamespace,

		capabilities.ListTables:        listTables,
		capabilities.LoadTable:         loadTable,
		capabilities.TableExists:       tableExists,
		capabilities.CreateTable:       createTable,
		capabilities.RegisterTable:     registerTable,
		capabilities.UnregisterTable:   unregisterTable,
		capabilities.CommitTable:       commitTable,
		capabilities.CommitTransaction: commitTransaction,
		capabilities.RenameTable:       renameTable,
		capabilities.DropTable:         dropTable,
		capabilities.ReportMetrics:     reportMetrics,

		capabilities.ListViews:    listViews,
		capabilities.LoadView:     loadView,
		capabilities.ViewExists:   viewExists,
		capabilities.CreateView:   createView,
		capabilities.RegisterView: registerView,
		capabilities.ReplaceView:  replaceView,
		capabilities.RenameView:   renameView,
		capabilities.DropView:     dropView,

		capabilities.PlanScan:       planScan,
		capabilities.FetchPlan:      fetchPlan,
		capabilities.CancelPlan:     cancelPlan,
		capabilities.FetchScanTasks: fetchScanTasks,

		capabilities.LoadCredentials: loadCredentials,
		capabilities.SignRequest:     signRequest,

		capabilities.ListFunctions: listFunctions,
		capabilities.LoadFunction:  loadFunction,
	}
}
