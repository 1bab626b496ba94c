package mounttest

import (
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Requests returns one valid request for every method of mounts.Backend, in
// the order of the operation table. They speak of the namespace "fixture", of
// its table "orders" and its view "recent", and of names that are not taken.
// Each call makes fresh ones.
func Requests() []mounts.Request {
	fixture := mounts.Namespace{"fixture"}
	orders := mounts.Identifier{Namespace: fixture, Name: "orders"}
	recent := mounts.Identifier{Namespace: fixture, Name: "recent"}
	renamed := mounts.Identifier{Namespace: fixture, Name: "renamed"}
	page := pagination.Request{Size: 10}
	commit := mounts.CommitTableRequest{
		Table:        orders,
		Requirements: raws(`{"type":"assert-last-assigned-field-id","last-assigned-field-id":3}`),
		Updates:      raws(`{"action":"set-properties","updates":{"touched":"yes"}}`),
	}
	return []mounts.Request{
		&mounts.ListNamespacesRequest{Parent: fixture, Page: page},
		&mounts.LoadNamespaceRequest{Namespace: fixture},
		&mounts.CreateNamespaceRequest{Namespace: fixture.Child("inner"), Properties: map[string]string{"owner": "suite"}},
		&mounts.UpdateNamespacePropertiesRequest{Namespace: fixture, Removals: []string{"old"}, Updates: map[string]string{"owner": "suite"}},
		&mounts.DropNamespaceRequest{Namespace: fixture},

		&mounts.ListTablesRequest{Namespace: fixture, Page: page},
		&mounts.LoadTableRequest{Table: orders},
		&mounts.TableExistsRequest{Table: orders},
		&mounts.CreateTableRequest{Namespace: fixture, Name: "created", Schema: Schema()},
		&mounts.RegisterTableRequest{Namespace: fixture, Name: "registered", MetadataLocation: "memory://warehouse/fixture/orders/metadata/00000-0.metadata.json"},
		&mounts.UnregisterTableRequest{Table: orders},
		&commit,
		&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{commit}},
		&mounts.RenameTableRequest{Source: orders, Destination: renamed},
		&mounts.DropTableRequest{Table: orders},
		&mounts.ReportMetricsRequest{Table: orders, Body: raw(`{"report-type":"scan-report","table-name":"orders","snapshot-id":1,` +
			`"filter":true,"schema-id":0,"projected-field-ids":[1],"projected-field-names":["id"],"metrics":{}}`)},

		&mounts.ListViewsRequest{Namespace: fixture, Page: page},
		&mounts.LoadViewRequest{View: recent},
		&mounts.CreateViewRequest{Namespace: fixture, Name: "created", Schema: Schema(), ViewVersion: ViewVersion(), Properties: map[string]string{}},
		&mounts.RegisterViewRequest{Namespace: fixture, Name: "registered", MetadataLocation: "memory://warehouse/fixture/recent/metadata/00000-0.metadata.json"},
		&mounts.ReplaceViewRequest{View: recent, Requirements: raws(), Updates: raws(`{"action":"set-properties","updates":{"touched":"yes"}}`)},
		&mounts.RenameViewRequest{Source: recent, Destination: renamed},
		&mounts.DropViewRequest{View: recent},

		&mounts.PlanScanRequest{Table: orders, Body: raw(`{"select":["id"],"case-sensitive":true}`)},
		&mounts.FetchPlanRequest{Table: orders, PlanID: "plan-1"},
		&mounts.CancelPlanRequest{Table: orders, PlanID: "plan-1"},
		&mounts.FetchScanTasksRequest{Table: orders, Body: raw(`{"plan-task":"task-1"}`)},

		&mounts.LoadCredentialsRequest{Table: orders, Delegation: "vended-credentials"},
		&mounts.SignStorageRequest{Table: orders, Body: raw(`{"region":"us-east-1","method":"GET","uri":"https://sample-bucket.s3.amazonaws.com/x","headers":{}}`)},

		&mounts.ListFunctionsRequest{Namespace: fixture, Page: page},
		&mounts.LoadFunctionRequest{Function: mounts.Identifier{Namespace: fixture, Name: "masked"}},
	}
}
