package router

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// kindOf is the inverse of the table: what a client may conclude.
func kindOf(status int, name string) (mounts.Kind, bool) {
	for _, kind := range mounts.Kinds() {
		if answers[kind] == (answer{status, name}) {
			return kind, true
		}
	}
	return 0, false
}

func TestEveryKindHasARowOfItsOwn(t *testing.T) {
	if len(answers) != len(mounts.Kinds()) {
		t.Errorf("%d rows for %d kinds", len(answers), len(mounts.Kinds()))
	}
	for _, kind := range mounts.Kinds() {
		a := onWire(&mounts.Error{Kind: kind})
		if a.status < 400 || a.status > 599 || a.name == "" || !strings.HasSuffix(a.name, "Exception") && kind != mounts.Internal {
			t.Errorf("%v is %d %q", kind, a.status, a.name)
		}
		if back, ok := kindOf(a.status, a.name); !ok || back != kind {
			t.Errorf("%v reads back as %v", kind, back)
		}
	}
}

// The statuses and types that clients branch on, over HTTP.
func TestKindsAreAnsweredAsClientsExpectThem(t *testing.T) {
	for kind, want := range map[mounts.Kind]answer{
		mounts.Internal: {500, "InternalServerError"}, mounts.BadRequest: {400, "BadRequestException"},
		mounts.InvalidArgument: {400, "IllegalArgumentException"}, mounts.ValidationFailed: {400, "ValidationException"},
		mounts.Unprocessable: {422, "UnprocessableEntityException"}, mounts.TooLarge: {413, "ContentTooLargeException"},
		mounts.Unauthenticated: {401, "NotAuthorizedException"}, mounts.Forbidden: {403, "ForbiddenException"},
		mounts.NoSuchNamespace: {404, "NoSuchNamespaceException"}, mounts.NoSuchTable: {404, "NoSuchTableException"},
		mounts.NoSuchView: {404, "NoSuchViewException"}, mounts.NoSuchWarehouse: {404, "NoSuchWarehouseException"},
		mounts.NoSuchPlan: {404, "NoSuchPlanIdException"}, mounts.NoSuchPlanTask: {404, "NoSuchPlanTaskException"},
		mounts.MetadataMissing: {404, "NotFoundException"}, mounts.AlreadyExists: {409, "AlreadyExistsException"},
		mounts.NamespaceNotEmpty: {409, "NamespaceNotEmptyException"}, mounts.CommitConflict: {409, "CommitFailedException"},
		mounts.UnsupportedOperation: {501, "UnsupportedOperationException"}, mounts.RateLimited: {429, "TooManyRequestsException"},
		mounts.Unavailable: {503, "ServiceUnavailableException"}, mounts.BadGateway: {502, "BadGatewayException"},
		mounts.NoSuchFunction: {404, "NoSuchFunctionException"}, mounts.Timeout: {504, "GatewayTimeoutException"}, mounts.Loop: {508, "LoopDetectedException"},
	} {
		w := over(t, failing(fmt.Errorf("wrapped: %w", &mounts.Error{Kind: kind, Mount: "partner", Err: errors.New("s3cret detail")})))
		for _, verb := range []string{"GET", "HEAD", "DELETE"} {
			g := w.do(verb, "/v1/namespaces/a", "")
			if strings.Contains(g.body, "s3cret") {
				t.Errorf("%v: internal text on the wire: %s", kind, g.body)
			}
			if verb == "HEAD" {
				g.want(t, want.status, "")
			} else {
				g.wantError(t, want.status, want.name)
			}
			retry := g.header.Get("Retry-After")
			if told := want.status == 503 || want.status == 429; told != (retry != "") {
				t.Errorf("%v %s: Retry-After %q", kind, verb, retry)
			}
		}
	}
}

// Whatever the kind, an outcome that nobody knows is never a refusal.
func TestAnUnknownOutcomeIsNeverARefusal(t *testing.T) {
	for _, row := range capabilities.Operations() {
		if row.Class == capabilities.Read {
			continue
		}
		for _, kind := range mounts.Kinds() {
			a := onWire(&mounts.Error{Kind: kind, Op: row.Op, OutcomeUnknown: true})
			if a.status != 500 && a.status != 502 && a.status != 504 {
				t.Errorf("%s, %v: %d", row.Name, kind, a.status)
			}
			if commit := row.Class == capabilities.Commit; commit != (a.name == commitStateUnknown) {
				t.Errorf("%s, %v: %s", row.Name, kind, a.name)
			}
		}
	}
	w := over(t, failing(&mounts.Error{Kind: mounts.Unavailable, OutcomeUnknown: true, RetryAfter: time.Second}))
	for _, op := range []capabilities.Op{capabilities.CommitTable, capabilities.CommitTransaction, capabilities.ReplaceView} {
		g := w.do("POST", "/v1"+calls()[op].path, calls()[op].body)
		if message := g.wantError(t, 502, commitStateUnknown); !strings.Contains(message, "may have been applied") {
			t.Errorf("%v: %q does not say what is unknown", op, message)
		}
		if retry := g.header.Get("Retry-After"); retry != "" {
			t.Errorf("%v: told to retry after %s", op, retry)
		}
	}
	// and a commit that was certainly not sent stays one
	w = over(t, failing(&mounts.Error{Kind: mounts.Unavailable, RetryAfter: 1500 * time.Millisecond}))
	g := w.do("POST", "/v1"+calls()[capabilities.CommitTable].path, calls()[capabilities.CommitTable].body)
	g.wantError(t, 503, "ServiceUnavailableException")
	if retry := g.header.Get("Retry-After"); retry != "2" {
		t.Errorf("Retry-After %q, want 1.5 s rounded up", retry)
	}
}

func TestAMissingNamespaceIsAMissingTableToALoad(t *testing.T) {
	w := over(t, failing(&mounts.Error{Kind: mounts.NoSuchNamespace, Ident: mounts.Identifier{Namespace: mounts.Namespace{"a"}}}))
	for path, want := range map[string]string{
		"/v1/namespaces/a/tables/t": "Table does not exist: a.t", "/v1/namespaces/a/views/v": "View does not exist: a.v",
	} {
		name := "NoSuchTableException"
		if strings.Contains(path, "views") {
			name = "NoSuchViewException"
		}
		if message := w.do("GET", path, "").wantError(t, 404, name); message != want {
			t.Errorf("%s: %q", path, message)
		}
	}
	w.do("GET", "/v1/namespaces/a/tables", "").wantError(t, 404, "NoSuchNamespaceException")
	w.do("POST", "/v1/namespaces/a/tables", `{"name":"t","schema":{}}`).wantError(t, 404, "NoSuchNamespaceException")
}

func TestForeignErrorsAreInternalWithoutTheirText(t *testing.T) {
	w := over(t, failing(errors.New("dial tcp 10.0.0.7: s3cret")))
	g := w.do("GET", "/v1/namespaces/a", "", "X-Request-Id: req-7")
	if message := g.wantError(t, 500, "InternalServerError"); strings.Contains(message, "s3cret") || !strings.Contains(message, "req-7") {
		t.Errorf("message %q", message)
	}
	for _, err := range []error{context.DeadlineExceeded, fmt.Errorf("reading: %w", context.DeadlineExceeded)} {
		w := over(t, failing(err))
		w.do("GET", "/v1/namespaces/a", "").wantError(t, 504, "GatewayTimeoutException")
		c := calls()[capabilities.CommitTable]
		w.do("POST", "/v1"+c.path, c.body).wantError(t, 504, commitStateUnknown)
	}
}

func TestErrorsNameTheirOperationsObject(t *testing.T) {
	w := over(t, failing(&mounts.Error{Kind: mounts.AlreadyExists}))
	for path, want := range map[string]string{
		"/v1/namespaces":          "Namespace already exists: a.b",
		"/v1/namespaces/a/tables": "Table already exists: a.t",
		"/v1/namespaces/a/views":  "View already exists: a.t",
	} {
		body := `{"namespace":["a","b"],"name":"t","schema":{},"view-version":{}}`
		if message := w.do("POST", path, body).wantError(t, 409, "AlreadyExistsException"); message != want {
			t.Errorf("%s: %q, want %q", path, message, want)
		}
	}
}

// What a load cannot read, because its metadata file is gone, is there all the
// same: its name is taken, and it can be dropped.
func TestAnObjectWhoseMetadataIsLostExists(t *testing.T) {
	_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		if _, check := req.(*mounts.TableExistsRequest); check {
			return nil, mounts.NotSupported(req)
		}
		return nil, &mounts.Error{Kind: mounts.MetadataMissing, Ident: req.Object()}
	})
	w := over(t, b)
	for _, path := range []string{"/v1/namespaces/a/tables/t", "/v1/namespaces/a/views/v"} {
		w.do("HEAD", path, "").want(t, 204, "")
		w.do("GET", path, "").wantError(t, 404, "NotFoundException")
	}
}
