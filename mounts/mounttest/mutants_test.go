package mounttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/pagination"
)

// recorder is a testing.TB that notes failures instead of failing.
type recorder struct {
	testing.TB
	mu       sync.Mutex
	problems []string
}

func (r *recorder) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, text)
}

func (r *recorder) Helper()                           {}
func (r *recorder) Error(args ...any)                 { r.note(fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...); runtime.Goexit() }

// problems runs one subtest over a backend and returns what it complained of.
func problems(t *testing.T, subtest string, backend mounts.Backend) []string {
	t.Helper()
	r := &recorder{TB: t}
	checks := allChecks()
	i := slices.IndexFunc(checks, func(c check) bool { return c.name == subtest })
	if i < 0 {
		t.Fatalf("no subtest %q", subtest)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		checks[i].run(open(r, Config{Open: func(testing.TB) mounts.Backend { return backend }}))
	}()
	<-done
	return r.problems
}

// mutant is a backend that is wrong in one way, and the subtests that must say
// so.
type mutant struct {
	name   string
	f      func(inner *memory.Backend) mounts.Interceptor
	caught []string
}

// on makes an interceptor that changes one type of request's outcome.
func on[R mounts.Request](change func(ctx context.Context, req R, next mounts.Handler) (mounts.Response, error)) func(*memory.Backend) mounts.Interceptor {
	return func(*memory.Backend) mounts.Interceptor {
		return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			if r, ok := req.(R); ok {
				return change(ctx, r, next)
			}
			return next(ctx, req)
		}
	}
}

// failing makes an interceptor that changes every error of a kind.
func failing(kind mounts.Kind, change func(e *mounts.Error)) func(*memory.Backend) mounts.Interceptor {
	return func(*memory.Backend) mounts.Interceptor {
		return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if errors.Is(err, kind) {
				e := *mounts.AsError(err)
				change(&e)
				return nil, &e
			}
			return resp, err
		}
	}
}

func mutants() []mutant {
	pageOf := func(resp mounts.Response) *pagination.Page[mounts.Identifier] {
		return resp.(*pagination.Page[mounts.Identifier])
	}
	return []mutant{
		{"swallows errors of listings", on(func(ctx context.Context, req *mounts.ListTablesRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				return &pagination.Page[mounts.Identifier]{}, nil
			}
			return resp, nil
		}), []string{"listing/tables/missing namespace"}},
		{"loses the last row of a page", on(func(ctx context.Context, req *mounts.ListTablesRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err == nil && pageOf(resp).Next != "" {
				p := pageOf(resp)
				return &pagination.Page[mounts.Identifier]{Items: p.Items[:len(p.Items)-1], Next: p.Next}, nil
			}
			return resp, err
		}), []string{"listing/tables/pages"}},
		{"repeats the first page", on(func(ctx context.Context, req *mounts.ListTablesRequest, next mounts.Handler) (mounts.Response, error) {
			again := *req
			again.Page.Token = ""
			return next(ctx, &again)
		}), []string{"listing/tables/pages"}},
		{"ignores the page size", on(func(ctx context.Context, req *mounts.ListTablesRequest, next mounts.Handler) (mounts.Response, error) {
			all := *req
			all.Page.Size = 0
			return next(ctx, &all)
		}), []string{"listing/tables/pages"}},
		{"counts rows for a cursor", on(func(ctx context.Context, req *mounts.ListTablesRequest, next mounts.Handler) (mounts.Response, error) {
			at := 0
			_, _ = fmt.Sscan(req.Page.Token, &at)
			resp, err := next(ctx, &mounts.ListTablesRequest{Namespace: req.Namespace})
			if err != nil || req.Page.Size == 0 {
				return resp, err
			}
			items := pageOf(resp).Items
			end := min(at+req.Page.Size, len(items))
			page := &pagination.Page[mounts.Identifier]{Items: items[min(at, end):end]}
			if end < len(items) {
				page.Next = fmt.Sprint(end)
			}
			return page, nil
		}), []string{"listing/tables/changes during a walk"}},
		{"lists backwards", on(func(ctx context.Context, req *mounts.ListNamespacesRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err == nil {
				slices.Reverse(resp.(*pagination.Page[mounts.Namespace]).Items)
			}
			return resp, err
		}), []string{"listing/namespaces/order"}},
		{"answers last levels instead of paths", on(func(ctx context.Context, req *mounts.ListNamespacesRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				return resp, err
			}
			return mounts.MapResponse(resp, func(n mounts.Namespace) mounts.Namespace { return n[len(n)-1:] }), nil
		}), []string{"namespaces/nested"}},
		{"trims blanks in names", func(*memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				trimmed, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) {
					out := slices.Clone(n)
					for i := range out {
						out[i] = strings.TrimSpace(out[i])
					}
					return out, nil
				})
				if err != nil {
					return nil, err
				}
				return next(ctx, trimmed)
			}
		}, []string{"names/namespace/blank", "names/namespace/blank-around"}},
		{"splits levels at dots", func(*memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				split, err := mounts.MapRequest(req, func(n mounts.Namespace) (mounts.Namespace, error) {
					if len(n) == 0 {
						return n, nil
					}
					return strings.Split(n.String(), "."), nil
				})
				if err != nil {
					return nil, err
				}
				return next(ctx, split)
			}
		}, []string{"names/dots and levels", "names/namespace/dot-inside"}},
		{"ignores case", on(func(ctx context.Context, req *mounts.LoadTableRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if errors.Is(err, mounts.NoSuchTable) {
				lower := *req
				lower.Table.Name = strings.ToLower(req.Table.Name)
				return next(ctx, &lower)
			}
			return resp, err
		}), []string{"names/case twins", "tables/load missing"}},
		{"says that the namespace is missing where a table is", failing(mounts.NoSuchTable, func(e *mounts.Error) {
			e.Kind, e.Ident = mounts.NoSuchNamespace, space(e.Ident.Namespace)
		}), []string{"tables/load missing", "tables/exists", "drop/missing"}},
		{"does not say what the error is about", failing(mounts.CommitConflict, func(e *mounts.Error) { e.Ident = mounts.Identifier{} }),
			[]string{"commits/requirements", "transactions/none on a failed requirement"}},
		{"calls a conflict a bad request", failing(mounts.CommitConflict, func(e *mounts.Error) { e.Kind = mounts.BadRequest }),
			[]string{"commits/requirements", "concurrent/appends"}},
		{"forgets the other side of a rename", failing(mounts.AlreadyExists, func(e *mounts.Error) { e.To = mounts.Identifier{} }),
			[]string{"rename/taken by a table", "rename/taken by a view", "views/rename refused"}},
		{"answers nil properties", on(func(ctx context.Context, req *mounts.LoadNamespaceRequest, next mounts.Handler) (mounts.Response, error) {
			if _, err := next(ctx, req); err != nil {
				return nil, err
			}
			return &mounts.NamespaceInfo{Namespace: req.Namespace}, nil
		}), []string{"namespaces/load"}},
		{"answers nil lists", on(func(ctx context.Context, req *mounts.UpdateNamespacePropertiesRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err == nil {
				resp.(*mounts.UpdatedProperties).Missing = nil
			}
			return resp, err
		}), []string{"namespaces/properties"}},
		{"changes its request", on(func(ctx context.Context, req *mounts.CreateNamespaceRequest, next mounts.Handler) (mounts.Response, error) {
			if req.Properties != nil {
				req.Properties["created-by"] = "me"
			}
			return next(ctx, req)
		}), []string{"namespaces/create"}},
		{"creates missing parents", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				if r, ok := req.(*mounts.CreateNamespaceRequest); ok && len(r.Namespace) > 1 {
					inner.PutNamespace(r.Namespace.Parent(), nil)
				}
				return next(ctx, req)
			}
		}, []string{"namespaces/create with missing parent"}},
		{"drops what is not empty", on(func(ctx context.Context, req *mounts.DropNamespaceRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if errors.Is(err, mounts.NamespaceNotEmpty) {
				return nil, nil
			}
			return resp, err
		}), []string{"namespaces/drop with a child", "namespaces/drop with a table", "namespaces/drop with a view"}},
		{"stores what is staged", on(func(ctx context.Context, req *mounts.CreateTableRequest, next mounts.Handler) (mounts.Response, error) {
			stored := *req
			stored.StageCreate = false
			return next(ctx, &stored)
		}), []string{"create/staged lists nothing", "create/staged then committed"}},
		{"never says not modified", on(func(ctx context.Context, req *mounts.LoadTableRequest, next mounts.Handler) (mounts.Response, error) {
			full := *req
			full.IfNoneMatch = ""
			return next(ctx, &full)
		}), []string{"tables/etag"}},
		{"has one tag for both modes", on(func(ctx context.Context, req *mounts.LoadTableRequest, next mounts.Handler) (mounts.Response, error) {
			all := *req
			all.Snapshots = mounts.SnapshotsAll
			return next(ctx, &all)
		}), []string{"tables/etag", "tables/snapshots=refs", "tables/snapshots unknown"}},
		{"does not check requirements", on(func(ctx context.Context, req *mounts.CommitTableRequest, next mounts.Handler) (mounts.Response, error) {
			if len(req.Requirements) > 0 && strings.Contains(string(req.Requirements[0]), "assert-create") {
				return next(ctx, req)
			}
			return next(ctx, &mounts.CommitTableRequest{Table: req.Table, Updates: req.Updates})
		}), []string{"commits/requirements", "commits/without updates"}},
		{"skips updates it does not know", on(func(ctx context.Context, req *mounts.CommitTableRequest, next mounts.Handler) (mounts.Response, error) {
			known := *req
			known.Updates = slices.DeleteFunc(slices.Clone(req.Updates), func(u json.RawMessage) bool { return strings.Contains(string(u), "no-such") })
			return next(ctx, &known)
		}), []string{"commits/unknown update"}},
		{"answers a commit from before it", on(func(ctx context.Context, req *mounts.CommitTableRequest, next mounts.Handler) (mounts.Response, error) {
			before, loadErr := next(ctx, &mounts.LoadTableRequest{Table: req.Table})
			resp, err := next(ctx, req)
			if err == nil && loadErr == nil {
				return before, nil
			}
			return resp, err
		}), []string{"commits/append", "commits/metadata log"}},
		{"commits twice", on(func(ctx context.Context, req *mounts.CommitTableRequest, next mounts.Handler) (mounts.Response, error) {
			if resp, err := next(ctx, req); err != nil {
				return resp, err
			}
			return next(ctx, req)
		}), []string{"commits/append", "concurrent/appends"}},
		{"passes numbers through floats", on(func(ctx context.Context, req *mounts.CommitTableRequest, next mounts.Handler) (mounts.Response, error) {
			lossy := *req
			lossy.Updates = slices.Clone(req.Updates)
			for i, update := range req.Updates {
				var v any
				if json.Unmarshal(update, &v) == nil {
					lossy.Updates[i] = encode(v)
				}
			}
			return next(ctx, &lossy)
		}), []string{"commits/large snapshot ids"}},
		{"commits a transaction one by one", on(func(ctx context.Context, req *mounts.CommitTransactionRequest, next mounts.Handler) (mounts.Response, error) {
			for _, change := range req.Changes {
				if _, err := next(ctx, &change); err != nil {
					return nil, err
				}
			}
			return nil, nil
		}), []string{"transactions/none on a failed requirement", "transactions/none on an unknown update", "transactions/missing table", "transactions/one table twice"}},
		{"lets a commit move a table anywhere", on(func(ctx context.Context, req *mounts.CommitTableRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if errors.Is(err, mounts.BadRequest) && strings.Contains(string(req.Updates[len(req.Updates)-1]), "set-location") {
				return next(ctx, &mounts.CommitTableRequest{Table: req.Table, Requirements: req.Requirements, Updates: req.Updates[:len(req.Updates)-1]})
			}
			return resp, err
		}), []string{"commits/location outside"}},
		{"keeps the old name of a renamed table", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if r, ok := req.(*mounts.RenameTableRequest); ok && err == nil {
					moved, _ := inner.LoadTable(ctx, &mounts.LoadTableRequest{Table: r.Destination})
					inner.PutTable(r.Source, moved.Metadata)
				}
				return resp, err
			}
		}, []string{"rename/in place", "rename/across namespaces"}},
		{"overwrites the destination of a rename", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				if r, ok := req.(*mounts.RenameTableRequest); ok {
					_ = inner.DropTable(ctx, &mounts.DropTableRequest{Table: r.Destination})
				}
				return next(ctx, req)
			}
		}, []string{"rename/taken by a table"}},
		{"lists views among tables", on(func(ctx context.Context, req *mounts.ListTablesRequest, next mounts.Handler) (mounts.Response, error) {
			tables, err := next(ctx, req)
			if err != nil {
				return nil, err
			}
			views, err := next(ctx, &mounts.ListViewsRequest{Namespace: req.Namespace})
			if err != nil {
				return nil, err
			}
			return &pagination.Page[mounts.Identifier]{Items: slices.Concat(pageOf(tables).Items, pageOf(views).Items)}, nil
		}), []string{"listing/tables and views apart"}},
		{"loads a view as a table", on(func(ctx context.Context, req *mounts.LoadTableRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				if view, viewErr := next(ctx, &mounts.LoadViewRequest{View: req.Table}); viewErr == nil {
					v := view.(*mounts.View)
					return &mounts.Table{MetadataLocation: v.MetadataLocation, Metadata: v.Metadata}, nil
				}
			}
			return resp, err
		}), []string{"tables/load a view's name"}},
		{"refuses what it says it can", on(func(_ context.Context, req *mounts.ReportMetricsRequest, _ mounts.Handler) (mounts.Response, error) {
			return nil, mounts.NotSupported(req)
		}), []string{"contract/capabilities are true", "tables/report metrics"}},
		{"does what it says it cannot", on(func(context.Context, *mounts.PlanScanRequest, mounts.Handler) (mounts.Response, error) {
			return &mounts.Document{Body: raw(`{}`)}, nil
		}), []string{"contract/capabilities are true"}},
		{"takes a caller who left for an absence", func(*memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				if ctx.Err() != nil {
					return nil, &mounts.Error{Kind: mounts.NoSuchTable, Ident: req.Object()}
				}
				return next(ctx, req)
			}
		}, []string{"contract/cancelled reads"}},
		{"writes for a caller who left and says it did not", on(func(ctx context.Context, req *mounts.CreateTableRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(context.WithoutCancel(ctx), req)
			if ctx.Err() != nil {
				return nil, &mounts.Error{Kind: mounts.Timeout, Ident: req.Object()}
			}
			return resp, err
		}), []string{"contract/cancelled writes"}},
		{"answers errors of another type", func(*memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if err != nil {
					return nil, errors.New(err.Error())
				}
				return resp, nil
			}
		}, []string{"namespaces/missing", "tables/load missing", "contract/errors speak of the object"}},
		{"answers nothing at all", on(func(ctx context.Context, req *mounts.LoadNamespaceRequest, next mounts.Handler) (mounts.Response, error) {
			return (*mounts.NamespaceInfo)(nil), nil
		}), []string{"namespaces/load"}},
		{"checks before it creates, without a lock", func(inner *memory.Backend) mounts.Interceptor {
			var taken sync.Map
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				r, ok := req.(*mounts.CreateTableRequest)
				if !ok {
					return next(ctx, req)
				}
				// Every second creation of a name finds it free once more.
				if _, again := taken.LoadOrStore(r.Name, true); again {
					_ = inner.DropTable(ctx, &mounts.DropTableRequest{Table: r.Object()})
				}
				return next(ctx, req)
			}
		}, []string{"concurrent/creations of one table", "create/duplicate"}},
	}
}

// TestSuiteCatchesBackendsThatAreWrong: a conformance suite that passes
// everything is worth nothing.
func TestSuiteCatchesBackendsThatAreWrong(t *testing.T) {
	for _, m := range slices.Concat(mutants(), viewMutants()) {
		t.Run(m.name, func(t *testing.T) {
			for _, subtest := range m.caught {
				inner := memory.New(memory.Options{Files: map[string]json.RawMessage{}})
				if found := problems(t, subtest, mounts.Around(inner, m.f(inner))); len(found) == 0 {
					t.Errorf("a backend that %s passes %q", m.name, subtest)
				}
				if found := problems(t, subtest, memory.New(memory.Options{Files: map[string]json.RawMessage{}})); len(found) > 0 {
					t.Errorf("%q fails without the defect too: %q", subtest, found)
				}
			}
		})
	}
}

func TestGapsMustNameASubtestAndAReason(t *testing.T) {
	wrong := unknownGaps(allChecks(), map[string]string{"namespaces/nested": "", "no/such": "because", "tables/load": "slow remote"})
	if len(wrong) != 2 || !strings.Contains(wrong[0], "no reason") || !strings.Contains(wrong[1], "no subtest") {
		t.Errorf("got %q", wrong)
	}
}

func TestNamesThatAreGapsAreLeftOutOfListings(t *testing.T) {
	s := &suite{gaps: map[string]string{"names/table/slash": "x", "names/namespace/dot": "x"}}
	if got := s.matrix(); slices.Contains(got, "/") || slices.Contains(got, ".") || len(got) != len(Names())-2 {
		t.Errorf("%q", got)
	}
}

func TestCapabilitiesCoverTheLoadsBehindExistenceChecks(t *testing.T) {
	if !methods(of(capabilities.NamespaceExists)).Has(capabilities.LoadNamespace) || methods(of(capabilities.DropTable)).Has(capabilities.LoadTable) {
		t.Error("methods does not follow the operation table")
	}
}
