package router

import (
	"encoding/json"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// sample is an answer to an operation with every field in use.
func sample(op capabilities.Op) mounts.Response {
	switch op {
	case capabilities.ListNamespaces:
		return &pagination.Page[mounts.Namespace]{Items: []mounts.Namespace{{"a"}, {"b", "c d"}}, Next: ""}
	case capabilities.LoadNamespace, capabilities.CreateNamespace:
		return &mounts.NamespaceInfo{Namespace: mounts.Namespace{"a", "b"}, Properties: map[string]string{"owner": "x", "comment": "1 < 2 & é"}}
	case capabilities.UpdateNamespaceProperties:
		return &mounts.UpdatedProperties{Updated: []string{"owner"}}
	case capabilities.ListTables, capabilities.ListViews, capabilities.ListFunctions:
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{{Namespace: mounts.Namespace{"a", "b"}, Name: `t"1`}}}
	case capabilities.LoadView, capabilities.CreateView, capabilities.RegisterView, capabilities.ReplaceView:
		return &mounts.View{MetadataLocation: "s3://b/v.json", Metadata: json.RawMessage(`{"view-uuid":"u","x":[1, 2]}`),
			Config: map[string]string{"k": "v"}, Extra: map[string]json.RawMessage{"future": json.RawMessage(`{"a":1}`)}}
	case capabilities.PlanScan, capabilities.FetchPlan, capabilities.FetchScanTasks:
		return &mounts.Document{Body: json.RawMessage(`{"status":"completed","n":9007199254740993}`)}
	case capabilities.LoadFunction:
		return &mounts.Document{Body: json.RawMessage(`{"metadata-location":"s3://b/f.json","metadata":{"function-uuid":"f"}}`)}
	case capabilities.SignRequest:
		return &mounts.Document{Body: json.RawMessage(`{"uri":"https://x","headers":{}}`), CacheControl: "private"}
	case capabilities.LoadCredentials:
		return &mounts.Credentials{StorageCredentials: []mounts.StorageCredential{{Prefix: "s3://b/t", Config: map[string]string{"s3.access-key-id": "id"}}}}
	case capabilities.LoadTable, capabilities.CreateTable, capabilities.RegisterTable, capabilities.UnregisterTable, capabilities.CommitTable:
		return &mounts.Table{
			MetadataLocation: "s3://b/t/00001.json", ETag: `"e1"`,
			Metadata:           json.RawMessage(`{"format-version":2,  "last-sequence-number":9007199254740993,"sql":"a<b>&c","new-in-v9":{"x":null}}`),
			Config:             map[string]string{"s3.region": "eu", "client.region": "eu"},
			StorageCredentials: []mounts.StorageCredential{{Prefix: "s3://b", Config: nil}},
			Extra:              map[string]json.RawMessage{"remote-signing-config": json.RawMessage(`{"properties":{}}`), "config": json.RawMessage(`"never"`)},
		}
	}
	return nil
}

// call is a valid HTTP request for an operation.
type call struct{ path, body string }

// calls has one request for every row of the operation table, without prefix.
func calls() map[capabilities.Op]call {
	const ns, table, view = "/namespaces/a%1Fb", "/namespaces/a%1Fb/tables/t", "/namespaces/a%1Fb/views/v"
	const rename = `{"source":{"namespace":["a","b"],"name":"t"},"destination":{"namespace":["a","c"],"name":"u"}}`
	const change = `{"identifier":{"namespace":["a","b"],"name":"t"},"requirements":[{"type":"assert-table-uuid","uuid":"u"}],"updates":[{"action":"set-properties","updates":{"k":"v"}}]}`
	return map[capabilities.Op]call{
		capabilities.ListNamespaces:            {"/namespaces?parent=a%1Fb&pageToken=tok&pageSize=7", ""},
		capabilities.LoadNamespace:             {ns, ""},
		capabilities.NamespaceExists:           {ns, ""},
		capabilities.CreateNamespace:           {"/namespaces", `{"namespace":["a","b"],"properties":{"owner":"x"}}`},
		capabilities.UpdateNamespaceProperties: {ns + "/properties", `{"removals":["old"],"updates":{"owner":"x"}}`},
		capabilities.DropNamespace:             {ns, ""},

		capabilities.ListTables:        {ns + "/tables?pageToken=&pageSize=3", ""},
		capabilities.LoadTable:         {table + "?snapshots=refs", ""},
		capabilities.TableExists:       {table, ""},
		capabilities.CreateTable:       {ns + "/tables", `{"name":"t","location":null,"schema":{"type":"struct","fields":[]},"partition-spec":null,"stage-create":true,"properties":{"p":"q"}}`},
		capabilities.RegisterTable:     {ns + "/register", `{"name":"t","metadata-location":"s3://b/m.json","overwrite":true}`},
		capabilities.UnregisterTable:   {table + "/unregister", ""},
		capabilities.CommitTable:       {table, change},
		capabilities.CommitTransaction: {"/transactions/commit", `{"table-changes":[` + change + `]}`},
		capabilities.RenameTable:       {"/tables/rename", rename},
		capabilities.DropTable:         {table + "?purgeRequested=True", ""},
		capabilities.ReportMetrics:     {table + "/metrics", `{"report-type":"scan-report","snapshot-id":9007199254740993}`},

		capabilities.ListViews:    {ns + "/views", ""},
		capabilities.LoadView:     {view, ""},
		capabilities.ViewExists:   {view, ""},
		capabilities.CreateView:   {ns + "/views", `{"name":"v","schema":{"type":"struct","fields":[]},"view-version":{"version-id":1}}`},
		capabilities.RegisterView: {ns + "/register-view", `{"name":"v","metadata-location":"s3://b/v.json"}`},
		capabilities.ReplaceView:  {view, `{"updates":[{"action":"set-properties","updates":{}}]}`},
		capabilities.RenameView:   {"/views/rename", rename},
		capabilities.DropView:     {view, ""},

		capabilities.PlanScan:       {table + "/plan", `{"snapshot-id":9007199254740993}`},
		capabilities.FetchPlan:      {table + "/plan/p%2F1", ""},
		capabilities.CancelPlan:     {table + "/plan/p%2F1", ""},
		capabilities.FetchScanTasks: {table + "/tasks", `{"plan-task":"x"}`},

		capabilities.LoadCredentials: {table + "/credentials?planId=p1&referenced-by=a%1Fv", ""},
		capabilities.SignRequest:     {table + "/sign", `{"region":"eu","uri":"https://x","method":"GET","headers":{}}`},

		capabilities.ListFunctions: {ns + "/functions?pageToken=&pageSize=3", ""},
		capabilities.LoadFunction:  {ns + "/functions/f%2F1", ""},
	}
}
