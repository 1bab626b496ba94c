package mounttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// watch checks at every call what the contract says of all calls: the request
// is left alone, there is an answer or an error and never both, the error is
// the one type, UnsupportedOperation agrees with the capability set, and the
// answer is complete and within bounds.
func watch(t testing.TB, next mounts.Backend) mounts.Backend {
	return mounts.Around(next, func(ctx context.Context, req mounts.Request, call mounts.Handler) (mounts.Response, error) {
		able := methods(next.Capabilities()).Has(req.Op())
		before := fmt.Sprintf("%#v", reflect.ValueOf(req).Elem().Interface())
		resp, err := call(ctx, req)
		if after := fmt.Sprintf("%#v", reflect.ValueOf(req).Elem().Interface()); after != before {
			t.Errorf("%s changed its request\nfrom %s\nto   %s", req.Op(), before, after)
		}
		if err != nil {
			var e *mounts.Error
			if !errors.As(err, &e) {
				t.Errorf("%s: the error is a %T, not a *mounts.Error: %v", req.Op(), err, err)
			} else if able && e.Kind == mounts.UnsupportedOperation {
				t.Errorf("%s is among the capabilities and is refused as unsupported: %v", req.Op(), err)
			}
			if resp != nil && !reflect.ValueOf(resp).IsNil() {
				t.Errorf("%s answers together with an error", req.Op())
			}
			return nil, err
		}
		if !able {
			t.Errorf("%s is not among the capabilities and succeeds", req.Op())
		}
		method, _ := reflect.TypeFor[mounts.Backend]().MethodByName(req.Op().Row().Method)
		if method.Type.NumOut() == 2 {
			if resp == nil || reflect.ValueOf(resp).IsNil() {
				t.Errorf("%s answers nothing and no error", req.Op())
				return nil, &mounts.Error{Kind: mounts.Internal, Op: req.Op(), Ident: req.Object()}
			}
			for _, problem := range incomplete(req, resp) {
				t.Errorf("%s: %s", req.Op(), problem)
			}
		}
		return resp, nil
	})
}

// methods adds to a set the operations that share a backend method with one in
// it.
func methods(able capabilities.Set) capabilities.Set {
	all := able
	for _, has := range capabilities.Operations() {
		for _, other := range capabilities.Operations() {
			if able.Has(has.Op) && has.Method == other.Method {
				all = all.Union(of(other.Op))
			}
		}
	}
	return all
}

// incomplete says what an answer lacks.
func incomplete(req mounts.Request, resp mounts.Response) (problems []string) {
	problem := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	switch r := resp.(type) {
	case *pagination.Page[mounts.Namespace]:
		list := req.(*mounts.ListNamespacesRequest)
		pageWithin(len(r.Items), r.Next, list.Page, problem)
		for _, n := range r.Items {
			if len(n) != len(list.Parent)+1 || !n.Parent().Equal(list.Parent) {
				problem("%q is listed as a child of %q", n, list.Parent)
			}
		}
	case *pagination.Page[mounts.Identifier]:
		page := pagination.Request{}
		switch list := req.(type) {
		case *mounts.ListTablesRequest:
			page = list.Page
		case *mounts.ListViewsRequest:
			page = list.Page
		}
		pageWithin(len(r.Items), r.Next, page, problem)
		for _, id := range r.Items {
			if id.Name == "" || !id.Namespace.Equal(req.Object().Namespace) {
				problem("%q is listed in %q", id, req.Object().Namespace)
			}
		}
	case *mounts.NamespaceInfo:
		if r.Properties == nil {
			problem("the properties are nil")
		}
		if !r.Namespace.Equal(req.Object().Namespace) {
			problem("answers the namespace %q, asked for %q", r.Namespace, req.Object().Namespace)
		}
	case *mounts.UpdatedProperties:
		if r.Updated == nil || r.Removed == nil || r.Missing == nil {
			problem("a list is nil: %+v", r)
		}
	case *mounts.Table:
		incompleteTable(req, r, problem)
	case *mounts.View:
		if r.MetadataLocation == "" || !json.Valid(r.Metadata) {
			problem("location %q, metadata %.80s", r.MetadataLocation, r.Metadata)
		}
	case *mounts.Document:
		if !json.Valid(r.Body) {
			problem("the body is no JSON: %.80s", r.Body)
		}
	}
	return problems
}

func pageWithin(rows int, next string, page pagination.Request, problem func(string, ...any)) {
	if page.Size > 0 && !page.Whole && rows > page.Size {
		problem("%d rows in a page of %d", rows, page.Size)
	}
	if next != "" && next == page.Token {
		problem("the token leads to its own page: %q", next)
	}
}

func incompleteTable(req mounts.Request, r *mounts.Table, problem func(string, ...any)) {
	if r.ETag != "" && !strings.HasSuffix(r.ETag, `"`) {
		problem("the entity tag has no quotes: %s", r.ETag)
	}
	if r.NotModified {
		if load, ok := req.(*mounts.LoadTableRequest); !ok || load.IfNoneMatch == "" {
			problem("not modified, and nobody asked")
		}
		if len(r.Metadata) > 0 || r.MetadataLocation != "" {
			problem("not modified, and yet with content")
		}
		return
	}
	create, _ := req.(*mounts.CreateTableRequest)
	staged := create != nil && create.StageCreate
	if staged != (r.MetadataLocation == "") {
		problem("metadata location %q (staged: %v)", r.MetadataLocation, staged)
	}
	var known struct {
		UUID     string `json:"table-uuid"`
		Location string `json:"location"`
	}
	if err := json.Unmarshal(r.Metadata, &known); err != nil || known.Location == "" {
		problem("the metadata is no table's: %.80s", r.Metadata)
	}
	if slices.ContainsFunc(r.StorageCredentials, func(c mounts.StorageCredential) bool { return c.Prefix == "" }) {
		problem("a storage credential has no prefix")
	}
}
