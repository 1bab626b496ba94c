package wrap

import (
	"errors"
	"fmt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

var (
	errNoResponse = errors.New("no response and no error")
	errNoMetadata = errors.New("an answer without metadata or metadata location")
)

// checkedResponse returns resp as it may be passed on, or the error of a
// backend that answered what it must not.
func checkedResponse(req mounts.Request, resp mounts.Response) (mounts.Response, error) {
	switch r := resp.(type) {
	case nil:
		if answersNothing(req) {
			return nil, nil
		}
		return nil, broken(req, mounts.Internal, errNoResponse)
	case *pagination.Page[mounts.Namespace]:
		if r != nil {
			return checkedNamespaces(req, r)
		}
	case *pagination.Page[mounts.Identifier]:
		if r != nil {
			return checkedIdentifiers(req, r)
		}
	case *mounts.Table:
		if r != nil {
			if err := checkTable(req, r); err != nil {
				return nil, err
			}
			return r, nil
		}
	case *mounts.View:
		if r != nil {
			if r.MetadataLocation == "" || len(r.Metadata) == 0 {
				return nil, broken(req, mounts.BadGateway, errNoMetadata)
			}
			return r, nil
		}
	case *mounts.NamespaceInfo:
		if r != nil && r.Properties != nil {
			return r, nil
		}
		if r != nil {
			return &mounts.NamespaceInfo{Namespace: r.Namespace, Properties: map[string]string{}}, nil
		}
	case *mounts.UpdatedProperties:
		if r != nil {
			return &mounts.UpdatedProperties{Updated: some(r.Updated), Removed: some(r.Removed), Missing: some(r.Missing)}, nil
		}
	case *mounts.Credentials:
		if r != nil {
			return &mounts.Credentials{StorageCredentials: some(r.StorageCredentials)}, nil
		}
	case *mounts.Document:
		if r != nil && len(r.Body) > 0 {
			return r, nil
		}
	}
	return nil, broken(req, mounts.Internal, errNoResponse)
}

// answersNothing lists the requests whose Backend method returns only an error.
func answersNothing(req mounts.Request) bool {
	switch req.(type) {
	case *mounts.DropNamespaceRequest, *mounts.TableExistsRequest, *mounts.CommitTransactionRequest,
		*mounts.RenameTableRequest, *mounts.DropTableRequest, *mounts.ReportMetricsRequest,
		*mounts.RenameViewRequest, *mounts.DropViewRequest, *mounts.CancelPlanRequest:
		return true
	}
	return false
}

func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func checkTable(req mounts.Request, t *mounts.Table) error {
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		if t.NotModified && r.IfNoneMatch == "" {
			return broken(req, mounts.Internal, errors.New("not modified, but the request named no tag"))
		}
		if t.NotModified {
			return nil
		}
	case *mounts.CreateTableRequest:
		if r.StageCreate && len(t.Metadata) > 0 {
			return nil
		}
	case *mounts.UnregisterTableRequest:
		if t.MetadataLocation != "" {
			return nil
		}
	}
	if t.NotModified {
		return broken(req, mounts.Internal, errors.New("not modified is no answer to this"))
	}
	if t.MetadataLocation == "" || len(t.Metadata) == 0 {
		return broken(req, mounts.BadGateway, errNoMetadata)
	}
	return nil
}

func checkedNamespaces(req mounts.Request, page *pagination.Page[mounts.Namespace]) (mounts.Response, error) {
	list, ok := req.(*mounts.ListNamespacesRequest)
	if !ok {
		return nil, broken(req, mounts.Internal, fmt.Errorf("%s answered with namespaces", req.Op()))
	}
	for _, child := range page.Items {
		if len(child) == 0 || child[len(child)-1] == "" || !child.Parent().Equal(list.Parent) {
			return nil, broken(req, mounts.BadGateway, fmt.Errorf("%q listed as a child of %q", child, list.Parent))
		}
	}
	return checkedPage(req, list.Page, page)
}

func checkedIdentifiers(req mounts.Request, page *pagination.Page[mounts.Identifier]) (mounts.Response, error) {
	var asked pagination.Request
	switch r := req.(type) {
	case *mounts.ListTablesRequest:
		asked = r.Page
	case *mounts.ListViewsRequest:
		asked = r.Page
	case *mounts.ListFunctionsRequest:
		asked = r.Page
	default:
		return nil, broken(req, mounts.Internal, fmt.Errorf("%s answered with identifiers", req.Op()))
	}
	parent := req.Object().Namespace
	for _, row := range page.Items {
		if row.Name == "" || !row.Namespace.Equal(parent) {
			return nil, broken(req, mounts.BadGateway, fmt.Errorf("%q listed in %q", row, parent))
		}
	}
	return checkedPage(req, asked, page)
}

func checkedPage[T any](req mounts.Request, asked pagination.Request, page *pagination.Page[T]) (mounts.Response, error) {
	switch {
	case asked.Size > 0 && !asked.Whole && len(page.Items) > asked.Size:
		return nil, broken(req, mounts.BadGateway, fmt.Errorf("%d rows on a page of at most %d", len(page.Items), asked.Size))
	case page.Next != "" && page.Next == asked.Token:
		return nil, broken(req, mounts.BadGateway, errors.New("the next page is the same page"))
	case page.Items == nil:
		return &pagination.Page[T]{Items: []T{}, Next: page.Next}, nil
	}
	return page, nil
}
