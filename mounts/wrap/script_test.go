package wrap

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// script is a backend that does what a test says and counts.
type script struct {
	mounts.Backend
	calls  atomic.Int64
	closed atomic.Int64

	mu     sync.Mutex
	handle mounts.Handler
	health func(context.Context) error
}

func scripted(handle mounts.Handler) *script {
	s := &script{handle: handle}
	s.Backend = mounts.Dispatch(func(ctx context.Context, req mounts.Request) (mounts.Response, error) {
		s.calls.Add(1)
		s.mu.Lock()
		handle := s.handle
		s.mu.Unlock()
		return handle(ctx, req)
	}, scriptLife{s})
	return s
}

// answering is a script that gives every request a right answer.
func answering() *script { return scripted(right) }

// failing is a script that gives every request the same error.
func failing(err error) *script {
	return scripted(func(context.Context, mounts.Request) (mounts.Response, error) { return nil, err })
}

func (s *script) does(handle mounts.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handle = handle
}

func (s *script) fails(err error) {
	s.does(func(context.Context, mounts.Request) (mounts.Response, error) { return nil, err })
}

func (s *script) isHealthy(health func(context.Context) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.health = health
}

type scriptLife struct{ s *script }

func (scriptLife) Capabilities() capabilities.Set { return capabilities.All() }
func (scriptLife) KeyLifetime() time.Duration     { return scriptKeys }

// scriptKeys is how long a script honours Idempotency-Keys.
const scriptKeys = 7 * time.Minute

func (l scriptLife) Health(ctx context.Context) error {
	l.s.mu.Lock()
	health := l.s.health
	l.s.mu.Unlock()
	if health == nil {
		return nil
	}
	return health(ctx)
}

func (l scriptLife) Close() error {
	l.s.closed.Add(1)
	return nil
}

var (
	metadata = json.RawMessage(`{"format-version":2}`)
	aTable   = mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"}
	load     = &mounts.LoadTableRequest{Table: aTable}
	commit   = &mounts.CommitTableRequest{Table: aTable}
	drop     = &mounts.DropTableRequest{Table: aTable}
)

// right answers a request as the contract wants it.
func right(_ context.Context, req mounts.Request) (mounts.Response, error) {
	switch r := req.(type) {
	case *mounts.ListNamespacesRequest:
		return &pagination.Page[mounts.Namespace]{Items: []mounts.Namespace{r.Parent.Child("x")}}, nil
	case *mounts.ListTablesRequest, *mounts.ListViewsRequest, *mounts.ListFunctionsRequest:
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{{Namespace: req.Object().Namespace, Name: "t"}}}, nil
	case *mounts.LoadNamespaceRequest, *mounts.CreateNamespaceRequest:
		return &mounts.NamespaceInfo{Namespace: req.Object().Namespace, Properties: map[string]string{}}, nil
	case *mounts.UpdateNamespacePropertiesRequest:
		return &mounts.UpdatedProperties{Updated: []string{}, Removed: []string{}, Missing: []string{}}, nil
	case *mounts.LoadTableRequest, *mounts.CreateTableRequest, *mounts.RegisterTableRequest, *mounts.UnregisterTableRequest, *mounts.CommitTableRequest:
		return &mounts.Table{MetadataLocation: "file:///m.json", Metadata: metadata}, nil
	case *mounts.LoadViewRequest, *mounts.CreateViewRequest, *mounts.RegisterViewRequest, *mounts.ReplaceViewRequest:
		return &mounts.View{MetadataLocation: "file:///v.json", Metadata: metadata}, nil
	case *mounts.PlanScanRequest, *mounts.FetchPlanRequest, *mounts.FetchScanTasksRequest, *mounts.SignStorageRequest, *mounts.LoadFunctionRequest:
		return &mounts.Document{Body: json.RawMessage(`{}`)}, nil
	case *mounts.LoadCredentialsRequest:
		return &mounts.Credentials{StorageCredentials: []mounts.StorageCredential{}}, nil
	}
	return nil, nil
}

// everyRequest has one request of each operation, about the table or view "t"
// in the namespace, or about the namespace itself.
func everyRequest(n mounts.Namespace) []mounts.Request {
	id := mounts.Identifier{Namespace: n, Name: "t"}
	other := mounts.Identifier{Namespace: n, Name: "u"}
	return []mounts.Request{
		&mounts.ListNamespacesRequest{Parent: n}, &mounts.LoadNamespaceRequest{Namespace: n},
		&mounts.CreateNamespaceRequest{Namespace: n}, &mounts.UpdateNamespacePropertiesRequest{Namespace: n},
		&mounts.DropNamespaceRequest{Namespace: n},
		&mounts.ListTablesRequest{Namespace: n}, &mounts.LoadTableRequest{Table: id}, &mounts.TableExistsRequest{Table: id},
		&mounts.CreateTableRequest{Namespace: n, Name: "t"}, &mounts.RegisterTableRequest{Namespace: n, Name: "t"},
		&mounts.UnregisterTableRequest{Table: id}, &mounts.CommitTableRequest{Table: id},
		&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: id}}},
		&mounts.RenameTableRequest{Source: id, Destination: other}, &mounts.DropTableRequest{Table: id},
		&mounts.ReportMetricsRequest{Table: id},
		&mounts.ListViewsRequest{Namespace: n}, &mounts.LoadViewRequest{View: id},
		&mounts.CreateViewRequest{Namespace: n, Name: "t"}, &mounts.RegisterViewRequest{Namespace: n, Name: "t"},
		&mounts.ReplaceViewRequest{View: id}, &mounts.RenameViewRequest{Source: id, Destination: other},
		&mounts.DropViewRequest{View: id},
		&mounts.PlanScanRequest{Table: id}, &mounts.FetchPlanRequest{Table: id}, &mounts.CancelPlanRequest{Table: id},
		&mounts.FetchScanTasksRequest{Table: id}, &mounts.LoadCredentialsRequest{Table: id}, &mounts.SignStorageRequest{Table: id},
		&mounts.ListFunctionsRequest{Namespace: n}, &mounts.LoadFunctionRequest{Function: id},
	}
}

func TestEveryRequestOfTheContractIsInTheTestsList(t *testing.T) {
	seen := capabilities.Set(0)
	for _, req := range everyRequest(mounts.Namespace{"a"}) {
		seen |= capabilities.Of(req.Op())
	}
	want := capabilities.All().Without(capabilities.Of(capabilities.NamespaceExists, capabilities.ViewExists))
	if seen != want {
		t.Errorf("missing: %v", want.Without(seen).Endpoints())
	}
}

// wrapped puts one interceptor around a backend.
func wrapped(b mounts.Backend, f mounts.Interceptor) mounts.Backend { return mounts.Around(b, f) }

func is(t testing.TB, err error, kind mounts.Kind) *mounts.Error {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got %v, want %v", err, kind)
	}
	return mounts.AsError(err)
}

func ask(b mounts.Backend, req mounts.Request) error {
	_, err := mounts.Invoke(context.Background(), b, req)
	return err
}
