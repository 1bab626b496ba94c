package mounttest

import (
	"context"
	"encoding/json"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Ledger is a backend that can do every operation: it keeps nothing and gives
// to each request of Requests a canned answer that is valid in itself. Behind
// Faults it shows what a stack did to a call and what it made of the answer.
func Ledger() mounts.Backend {
	return mounts.Dispatch(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		if err := ctx.Err(); err != nil {
			return nil, &mounts.Error{Kind: mounts.Timeout, Op: req.Op(), Ident: req.Object(), Err: err}
		}
		return canned(req), nil
	}, able{})
}

type able struct{ mounts.Unsupported }

func (able) Capabilities() capabilities.Set { return capabilities.All() }

// canned is the one place that lists responses: a request without a case
// answers nil, which the ledger's own test finds.
func canned(req mounts.Request) mounts.Response {
	namespace := req.Object().Namespace
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		return &pagination.Page[mounts.Namespace]{Items: []mounts.Namespace{namespace.Child("a"), namespace.Child("b")}}
	case *mounts.LoadNamespaceRequest:
		return &mounts.NamespaceInfo{Namespace: namespace, Properties: map[string]string{"owner": "suite"}}
	case *mounts.CreateNamespaceRequest:
		return &mounts.NamespaceInfo{Namespace: namespace, Properties: r.Properties}
	case *mounts.UpdateNamespacePropertiesRequest:
		return &mounts.UpdatedProperties{Updated: []string{"owner"}, Removed: []string{}, Missing: []string{"old"}}
	case *mounts.LoadFunctionRequest:
		return &mounts.Document{Body: raw(`{"metadata":{"function-uuid":"f"}}`)}
	case *mounts.ListTablesRequest, *mounts.ListViewsRequest, *mounts.ListFunctionsRequest:
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{
			{Namespace: namespace, Name: "orders"}, {Namespace: namespace, Name: "returns"}}}
	case *mounts.LoadTableRequest, *mounts.CreateTableRequest, *mounts.RegisterTableRequest,
		*mounts.UnregisterTableRequest, *mounts.CommitTableRequest:
		return &mounts.Table{MetadataLocation: "s3://sample-bucket/warehouse/shop/orders/metadata/00002-a.metadata.json",
			Metadata: Metadata(0), Config: map[string]string{}, ETag: `"ledger"`}
	case *mounts.LoadViewRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest, *mounts.ReplaceViewRequest:
		return &mounts.View{MetadataLocation: "s3://sample-bucket/warehouse/shop/recent/metadata/00000-a.metadata.json",
			Metadata: ViewMetadata(), Config: map[string]string{}}
	case *mounts.PlanScanRequest:
		return &mounts.Document{Body: raw(`{"status":"completed","plan-id":"plan-1","file-scan-tasks":[],"delete-files":[]}`)}
	case *mounts.FetchPlanRequest:
		return &mounts.Document{Body: raw(`{"status":"completed","file-scan-tasks":[],"delete-files":[]}`)}
	case *mounts.FetchScanTasksRequest:
		return &mounts.Document{Body: raw(`{"file-scan-tasks":[],"delete-files":[]}`)}
	case *mounts.LoadCredentialsRequest:
		return &mounts.Credentials{StorageCredentials: []mounts.StorageCredential{{Prefix: "s3://sample-bucket/",
			Config: map[string]string{"s3.access-key-id": "sample"}}}}
	case *mounts.SignStorageRequest:
		return &mounts.Document{Body: raw(`{"uri":"https://sample-bucket.s3.amazonaws.com/x","headers":{}}`), CacheControl: "no-cache"}
	}
	return nil
}

// ViewMetadata is a small valid view metadata document.
func ViewMetadata() json.RawMessage {
	return raw(`{"view-uuid":"fa6506c3-7681-40c8-86dc-e36561f83385","format-version":1,
		"location":"s3://sample-bucket/warehouse/shop/recent","current-version-id":1,"properties":{},
		"versions":[` + string(ViewVersion()) + `],"version-log":[{"version-id":1,"timestamp-ms":1700000000000}],
		"schemas":[` + string(Schema()) + `]}`)
}
