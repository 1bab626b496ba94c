package wrap

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func observed(b mounts.Backend) (mounts.Backend, *[]outcome) {
	var seen []outcome
	return wrapped(b, observe("partner", func(_ mounts.Request, o outcome, _ time.Duration) { seen = append(seen, o) })), &seen
}

func TestAnErrorIsCompletedOnACopy(t *testing.T) {
	shared := &mounts.Error{Kind: mounts.Unavailable}
	b, _ := observed(failing(shared))
	e := is(t, ask(b, drop), mounts.Unavailable)
	if e.Op != capabilities.DropTable || e.Mount != "partner" || !e.Ident.Equal(aTable) {
		t.Errorf("got %+v", e)
	}
	if shared.Op != 0 || shared.Mount != "" || !shared.Ident.IsZero() {
		t.Errorf("the backend's error was changed: %+v", shared)
	}
}

func TestWhatTheBackendSaidIsKept(t *testing.T) {
	other := mounts.Identifier{Namespace: mounts.Namespace{"b"}, Name: "other"}
	b, _ := observed(failing(&mounts.Error{Kind: mounts.NoSuchTable, Op: capabilities.LoadTable, Mount: "inner", Ident: other}))
	if e := is(t, ask(b, drop), mounts.NoSuchTable); e.Op != capabilities.LoadTable || e.Mount != "inner" || !e.Ident.Equal(other) {
		t.Errorf("got %+v", e)
	}
	context := fmt.Errorf("while reading the cache: %w", &mounts.Error{Kind: mounts.Timeout})
	b, _ = observed(failing(context))
	if err := ask(b, load); !errors.Is(err, context) || !errors.Is(err, mounts.Timeout) {
		t.Errorf("what was wrapped around the error is lost: %v", err)
	}
}

func TestTheObjectOfAnAbsenceIsTheOneThatIsMissing(t *testing.T) {
	destination := mounts.Identifier{Namespace: mounts.Namespace{"z"}, Name: "u"}
	for want, c := range map[string]struct {
		req  mounts.Request
		kind mounts.Kind
	}{
		"Namespace does not exist: a":                          {&mounts.CreateTableRequest{Namespace: aTable.Namespace, Name: "t"}, mounts.NoSuchNamespace},
		"Namespace does not exist: a.b":                        {&mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a", "b", "c"}}, mounts.NoSuchNamespace},
		"Namespace does not exist: z":                          {&mounts.RenameTableRequest{Source: aTable, Destination: destination}, mounts.NoSuchNamespace},
		"Table does not exist: a.t":                            {&mounts.RenameTableRequest{Source: aTable, Destination: destination}, mounts.NoSuchTable},
		"Cannot rename a.t to z.u. Table already exists":       {&mounts.RenameTableRequest{Source: aTable, Destination: destination}, mounts.AlreadyExists},
		"Cannot rename a.t to z.u. View already exists":        {&mounts.RenameViewRequest{Source: aTable, Destination: destination}, mounts.AlreadyExists},
		"Table already exists: a.t":                            {&mounts.CreateTableRequest{Namespace: aTable.Namespace, Name: "t"}, mounts.AlreadyExists},
		`mount "partner": no answer in time`:                   {load, mounts.Timeout},
		"Namespace a is not empty":                             {&mounts.DropNamespaceRequest{Namespace: aTable.Namespace}, mounts.NamespaceNotEmpty},
		`mount "partner": the metadata file of a.t is missing`: {load, mounts.MetadataMissing},
	} {
		b, _ := observed(failing(&mounts.Error{Kind: c.kind}))
		if got := mounts.AsError(ask(b, c.req)).Message(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	b, _ := observed(failing(&mounts.Error{Kind: mounts.CommitConflict}))
	two := &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{{Table: aTable}, {Table: destination}}}
	if e := mounts.AsError(ask(b, two)); !e.Ident.IsZero() {
		t.Errorf("one of two tables is blamed: %v", e.Ident)
	}
}

func TestOutcomesOfErrors(t *testing.T) {
	for err, want := range map[error]outcome{
		nil:                                    ok,
		&mounts.Error{Kind: mounts.NoSuchView}: absent,
		&mounts.Error{Kind: mounts.CommitConflict}:                         conflict,
		&mounts.Error{Kind: mounts.BadRequest}:                             refused,
		&mounts.Error{Kind: mounts.Forbidden}:                              forbidden,
		&mounts.Error{Kind: mounts.UnsupportedOperation}:                   unsupported,
		&mounts.Error{Kind: mounts.RateLimited}:                            limited,
		&mounts.Error{Kind: mounts.Unavailable}:                            unreachable,
		&mounts.Error{Kind: mounts.BadGateway}:                             badAnswer,
		&mounts.Error{Kind: mounts.Timeout}:                                timedOut,
		&mounts.Error{Kind: mounts.BadGateway, OutcomeUnknown: true}:       unknown,
		fmt.Errorf("wrapped: %w", &mounts.Error{Kind: mounts.Internal}):    internal,
		errors.New("plain"):                                                unknown, // of a drop
		fmt.Errorf("x: %w", &mounts.Error{Kind: mounts.NamespaceNotEmpty}): conflict,
	} {
		b, seen := observed(scripted(func(ctx context.Context, req mounts.Request) (mounts.Response, error) { return nil, err }))
		if _ = ask(b, drop); len(*seen) != 1 || (*seen)[0] != want {
			t.Errorf("%v: %v, want %v", err, *seen, want)
		}
	}
	for o := range outcomes {
		if o.String() == "" {
			t.Errorf("outcome %d has no name", o)
		}
	}
}

func TestACallThatItsClientGaveUpIsRecognised(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	leave()
	b, seen := observed(failing(&mounts.Error{Kind: mounts.BadGateway}))
	_, err := mounts.Invoke(ctx, b, load)
	if !errors.Is(err, context.Canceled) || (*seen)[0] != canceled {
		t.Errorf("%v, %v", err, *seen)
	}
	b, seen = observed(failing(&mounts.Error{Kind: mounts.NoSuchTable}))
	if _, err := mounts.Invoke(ctx, b, load); errors.Is(err, context.Canceled) || (*seen)[0] != absent {
		t.Errorf("a certain answer became %v, %v", err, *seen)
	}
	b, _ = observed(failing(context.DeadlineExceeded))
	if e := mounts.AsError(ask(b, commit)); e.Kind != mounts.Timeout || !e.OutcomeUnknown {
		t.Errorf("a bare deadline became %+v", e)
	}
}
