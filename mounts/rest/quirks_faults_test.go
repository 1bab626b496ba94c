package rest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/pagination"
)

// prepared is a whole catalog with what mounttest.Requests speaks of.
func prepared(t testing.TB) mounts.Backend {
	t.Helper()
	ctx := context.Background()
	const location = "memory://warehouse/fixture/orders"
	catalog := memory.New(memory.Options{Files: map[string]json.RawMessage{
		location + "/metadata/00000-0.metadata.json": remote.Metadata(location, 0),
	}})
	fixture := mounts.Namespace{"fixture"}
	for _, name := range []string{"inner-of-the-walk", "second"} {
		if _, err := catalog.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{name}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, req := range []mounts.Request{
		&mounts.CreateNamespaceRequest{Namespace: fixture},
		&mounts.CreateNamespaceRequest{Namespace: fixture.Child("x")},
		&mounts.CreateNamespaceRequest{Namespace: fixture.Child("y")},
		&mounts.CreateNamespaceRequest{Namespace: fixture.Child("z")},
		&mounts.CreateTableRequest{Namespace: fixture, Name: "orders", Schema: mounttest.Schema()},
		&mounts.CreateTableRequest{Namespace: fixture, Name: "p", Schema: mounttest.Schema()},
		&mounts.CreateTableRequest{Namespace: fixture, Name: "q", Schema: mounttest.Schema()},
		&mounts.CreateViewRequest{Namespace: fixture, Name: "recent", Schema: mounttest.Schema(), ViewVersion: mounttest.ViewVersion()},
		&mounts.CreateViewRequest{Namespace: fixture, Name: "v", Schema: mounttest.Schema(), ViewVersion: mounttest.ViewVersion()},
		&mounts.CreateViewRequest{Namespace: fixture, Name: "w", Schema: mounttest.Schema(), ViewVersion: mounttest.ViewVersion()},
	} {
		if _, err := mounts.Invoke(ctx, catalog, req); err != nil {
			t.Fatal(err)
		}
	}
	return catalog
}

// requests are those that the prepared catalog can answer.
func requests() []mounts.Request {
	var list []mounts.Request
	for _, req := range mounttest.Requests() {
		switch r := req.(type) {
		case *mounts.DropNamespaceRequest:
			r.Namespace = mounts.Namespace{"second"}
		case *mounts.RegisterViewRequest, *mounts.FetchPlanRequest, *mounts.CancelPlanRequest, *mounts.FetchScanTasksRequest,
			*mounts.PlanScanRequest, *mounts.LoadCredentialsRequest, *mounts.SignStorageRequest:
			continue // the tests of storage access and scans have their own
		case *mounts.ListNamespacesRequest:
			r.Page.Size = 2
		}
		list = append(list, req)
	}
	return list
}

// TestEveryFaultBecomesWhatIsSpecified is every fault x every operation: the kind
// is the specified one, a change is sent once, and what is said of it is true.
func TestEveryFaultBecomesWhatIsSpecified(t *testing.T) {
	for _, sw := range remote.Faults() {
		t.Run(sw.Name, func(t *testing.T) {
			hangs := sw.Fault.Break == remote.Hang || sw.Fault.Break == remote.SlowBody
			fresh := sw.Fault.Break != 0 || sw.Fault.After || sw.Set != nil
			var shared odd
			if !fresh {
				shared = behind(t, sw, prepared(t))
			}
			able := prepared(t).Capabilities()
			for _, req := range requests() {
				op := req.Op()
				if !able.Has(op) {
					continue // the remote would refuse it without a fault
				}
				if sw.Ops != 0 && !sw.Ops.Has(op) || op == capabilities.ReportMetrics {
					continue
				}
				t.Run(op.String(), func(t *testing.T) {
					r := shared
					if hangs {
						t.Parallel()
					}
					if fresh {
						r = behind(t, sw, prepared(t), func(c *rest.Config) {
							if hangs {
								c.Request = 400 * time.Millisecond
							}
						})
					}
					r.srv.Forget()
					if sw.Set == nil {
						r.srv.Fail(remote.AnyOp, sw.Fault)
					}
					judge(t, sw, req, r, ask(r, req))
				})
			}
		})
	}
}

// ask makes a call, and listings to their end.
func ask(r odd, req mounts.Request) error {
	ctx := context.Background()
	switch q := req.(type) {
	case *mounts.ListTablesRequest:
		return follow(q.Page, func(p pagination.Request) (string, error) {
			page, err := r.ListTables(ctx, &mounts.ListTablesRequest{Namespace: q.Namespace, Page: p})
			if err != nil {
				return "", err
			}
			return page.Next, nil
		})
	case *mounts.ListViewsRequest:
		return follow(q.Page, func(p pagination.Request) (string, error) {
			page, err := r.ListViews(ctx, &mounts.ListViewsRequest{Namespace: q.Namespace, Page: p})
			if err != nil {
				return "", err
			}
			return page.Next, nil
		})
	case *mounts.ListNamespacesRequest:
		return follow(q.Page, func(p pagination.Request) (string, error) {
			page, err := r.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Parent: q.Parent, Page: p})
			if err != nil {
				return "", err
			}
			return page.Next, nil
		})
	}
	return invoke(r.Backend, req)
}

// follow walks a listing, for no more than twenty pages.
func follow(p pagination.Request, page func(pagination.Request) (string, error)) error {
	for range 20 {
		next, err := page(p)
		if err != nil || next == "" {
			return err
		}
		p.Token = next
	}
	return nil
}

func judge(t *testing.T, sw remote.Switch, req mounts.Request, r odd, err error) {
	t.Helper()
	op := req.Op()
	want, changes := sw.Want.Read, false
	switch op.Row().Class {
	case capabilities.Write:
		want, changes = sw.Want.Write, true
	case capabilities.Commit:
		want, changes = sw.Want.Commit, true
	}
	if sw.Want.Same {
		if err != nil {
			t.Errorf("%v", err)
		}
		return
	}
	if err == nil {
		t.Fatalf("succeeded, want %v", want)
	}
	e := mounts.AsError(err)
	if e.Kind != want {
		t.Errorf("kind %v, want %v: %v", e.Kind, want, err)
	}
	if e.Op != op || !e.Ident.Equal(req.Object()) || strings.TrimSpace(e.Message()) == "" || strings.Contains(e.Message(), "<html") ||
		strings.Contains(e.Message(), r.srv.Addr()) {
		t.Errorf("the error is %+v: %s", e, e.Message())
	}
	if sw.Want.Retry && e.RetryAfter != 7*time.Second {
		t.Errorf("retry after %v", e.RetryAfter)
	}
	if !changes {
		if e.OutcomeUnknown {
			t.Error("a read has no outcome to be unknown")
		}
		return
	}
	if e.OutcomeUnknown != sw.Want.Unknown {
		t.Errorf("outcome unknown: %v, want %v: %v", e.OutcomeUnknown, sw.Want.Unknown, err)
	}
	if e.OutcomeUnknown && e.Kind == mounts.Unavailable {
		t.Errorf("sent, and said to be safe to send again: %v", err)
	}
	if r.srv.Applied(op.String()) > 0 && !e.OutcomeUnknown {
		t.Errorf("carried out, and the error means that it was not: %v", err)
	}
	if n := r.srv.Count(op.String()); n != 1 {
		t.Errorf("sent %d times", n)
	}
}
