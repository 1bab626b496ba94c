package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

var (
	inner  = mounts.Namespace{"a", "b"}
	table  = mounts.Identifier{Namespace: inner, Name: "t"}
	moved  = mounts.Identifier{Namespace: mounts.Namespace{"x", "y"}, Name: "t2"}
	spaces = mounts.Identifier{Namespace: inner}
)

// callOf is the call of an operation, as its request makes it.
func callOf(op capabilities.Op) call {
	c := call{op: op, kind: kindCatalog, object: table}
	switch op {
	case capabilities.RenameTable, capabilities.RenameView:
		c.to = moved
	case capabilities.ListTables, capabilities.ListViews:
		c.object = spaces
	}
	if op.Row().Role == capabilities.Namespaces {
		c.object = spaces
	}
	return c
}

func says(status int, kind, message string) *answer {
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": kind, "code": status}})
	if err != nil {
		panic(err)
	}
	return &answer{status: status, header: http.Header{}, body: body}
}

func page(status int) *answer {
	return &answer{status: status, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<html>no</html>")}
}

func refused(t *testing.T, c call, a *answer) *mounts.Error {
	t.Helper()
	var e *mounts.Error
	if !errors.As(refusal(c, a), &e) {
		t.Fatalf("%v after %d is no *mounts.Error", c.op, a.status)
	}
	return e
}

func TestEveryOperationHasItsOwnAbsence(t *testing.T) {
	within := mounts.Identifier{Namespace: inner}
	want := map[capabilities.Op]struct {
		kind  mounts.Kind
		about mounts.Identifier
	}{
		capabilities.ListNamespaces:            {mounts.NoSuchNamespace, spaces},
		capabilities.LoadNamespace:             {mounts.NoSuchNamespace, spaces},
		capabilities.NamespaceExists:           {mounts.NoSuchNamespace, spaces},
		capabilities.CreateNamespace:           {mounts.NoSuchNamespace, mounts.Identifier{Namespace: mounts.Namespace{"a"}}},
		capabilities.UpdateNamespaceProperties: {mounts.NoSuchNamespace, spaces},
		capabilities.DropNamespace:             {mounts.NoSuchNamespace, spaces},
		capabilities.ListTables:                {mounts.NoSuchNamespace, spaces},
		capabilities.LoadTable:                 {mounts.NoSuchTable, table},
		capabilities.TableExists:               {mounts.NoSuchTable, table},
		capabilities.CreateTable:               {mounts.NoSuchNamespace, within},
		capabilities.RegisterTable:             {mounts.NoSuchNamespace, within},
		capabilities.UnregisterTable:           {mounts.NoSuchTable, table},
		capabilities.CommitTable:               {mounts.NoSuchTable, table},
		capabilities.CommitTransaction:         {mounts.NoSuchTable, table},
		capabilities.RenameTable:               {mounts.NoSuchTable, table},
		capabilities.DropTable:                 {mounts.NoSuchTable, table},
		capabilities.ReportMetrics:             {mounts.NoSuchTable, table},
		capabilities.ListViews:                 {mounts.NoSuchNamespace, spaces},
		capabilities.LoadView:                  {mounts.NoSuchView, table},
		capabilities.ViewExists:                {mounts.NoSuchView, table},
		capabilities.CreateView:                {mounts.NoSuchNamespace, within},
		capabilities.RegisterView:              {mounts.NoSuchNamespace, within},
		capabilities.ReplaceView:               {mounts.NoSuchView, table},
		capabilities.RenameView:                {mounts.NoSuchView, table},
		capabilities.DropView:                  {mounts.NoSuchView, table},
		capabilities.PlanScan:                  {mounts.NoSuchTable, table},
		capabilities.FetchPlan:                 {mounts.NoSuchPlan, table},
		capabilities.CancelPlan:                {mounts.NoSuchPlan, table},
		capabilities.FetchScanTasks:            {mounts.NoSuchPlanTask, table},
		capabilities.LoadCredentials:           {mounts.NoSuchTable, table},
		capabilities.SignRequest:               {mounts.NoSuchTable, table},
	}
	for _, row := range capabilities.Operations() {
		w, known := want[row.Op]
		if !known {
			continue // operations of later specs have their own tests
		}
		e := refused(t, callOf(row.Op), says(404, "SomeVendorException", "gone"))
		if e.Kind != w.kind || !e.Ident.Equal(w.about) || e.OutcomeUnknown || !e.Answered {
			t.Errorf("%s: %+v", row.Name, e)
		}
		if strings.Contains(e.Message(), "gone") {
			t.Errorf("%s repeats the remote: %s", row.Name, e.Message())
		}
		for _, a := range []*answer{page(404), says(404, "NoSuchWarehouseException", "x")} {
			if e := refused(t, callOf(row.Op), a); e.Kind != mounts.BadGateway || e.OutcomeUnknown {
				t.Errorf("%s: a 404 that is about no object gave %+v", row.Name, e)
			}
		}
	}
	creates := callOf(capabilities.CommitTable)
	creates.creates = true
	if e := refused(t, creates, says(404, "NoSuchTableException", "x")); e.Kind != mounts.NoSuchNamespace || !e.Ident.Equal(within) {
		t.Errorf("a commit that creates: %+v", e)
	}
	top := callOf(capabilities.CreateNamespace)
	top.object.Namespace = mounts.Namespace{"a"}
	if e := refused(t, top, says(404, "NoSuchNamespaceException", "x")); e.Kind != mounts.BadGateway {
		t.Errorf("the root counts as absent: %+v", e)
	}
}

func TestAMissingDestinationIsToldFromAMissingSource(t *testing.T) {
	for text, kind := range map[string]mounts.Kind{
		"Namespace does not exist: x.y": mounts.NoSuchNamespace,
		"Namespace does not exist: a.b": mounts.NoSuchTable,
		"no":                            mounts.NoSuchNamespace,
	} {
		e := refused(t, callOf(capabilities.RenameTable), says(404, "NoSuchNamespaceException", text))
		about := table
		if kind == mounts.NoSuchNamespace {
			about = mounts.Identifier{Namespace: moved.Namespace}
		}
		if e.Kind != kind || !e.Ident.Equal(about) {
			t.Errorf("%q: %v about %v", text, e.Kind, e.Ident)
		}
	}
	within := callOf(capabilities.RenameTable)
	within.to.Namespace = inner
	if e := refused(t, within, says(404, "NoSuchNamespaceException", "x")); e.Kind != mounts.NoSuchTable {
		t.Errorf("a rename within one namespace: %v", e.Kind)
	}
}

func TestConflictsAreWhatTheOperationMakesOfThem(t *testing.T) {
	creates := callOf(capabilities.CommitTable)
	creates.creates = true
	for _, c := range []struct {
		name string
		call call
		kind string
		want mounts.Kind
	}{
		{"create namespace", callOf(capabilities.CreateNamespace), "x", mounts.AlreadyExists},
		{"create table", callOf(capabilities.CreateTable), "x", mounts.AlreadyExists},
		{"create table that lost a race", callOf(capabilities.CreateTable), "CommitFailedException", mounts.CommitConflict},
		{"register table", callOf(capabilities.RegisterTable), "x", mounts.AlreadyExists},
		{"rename table", callOf(capabilities.RenameTable), "NoSuchTableException", mounts.AlreadyExists},
		{"create view", callOf(capabilities.CreateView), "x", mounts.AlreadyExists},
		{"rename view", callOf(capabilities.RenameView), "x", mounts.AlreadyExists},
		{"drop namespace", callOf(capabilities.DropNamespace), "x", mounts.NamespaceNotEmpty},
		{"namespace properties", callOf(capabilities.UpdateNamespaceProperties), "x", mounts.CommitConflict},
		{"commit", callOf(capabilities.CommitTable), "x", mounts.CommitConflict},
		{"commit that says exists", callOf(capabilities.CommitTable), "AlreadyExistsException", mounts.CommitConflict},
		{"creating commit", creates, "AlreadyExistsException", mounts.AlreadyExists},
		{"creating commit of a vendor", creates, "Conflict", mounts.AlreadyExists},
		{"creating commit that lost a race", creates, "CommitFailedException", mounts.CommitConflict},
		{"transaction", callOf(capabilities.CommitTransaction), "x", mounts.CommitConflict},
		{"replace view", callOf(capabilities.ReplaceView), "x", mounts.CommitConflict},
		{"drop table", callOf(capabilities.DropTable), "Protected", mounts.CommitConflict},
		{"load table", callOf(capabilities.LoadTable), "x", mounts.BadRequest},
	} {
		if e := refused(t, c.call, says(409, c.kind, "Requirement failed: x")); e.Kind != c.want || e.OutcomeUnknown || !e.Answered {
			t.Errorf("%s: %+v", c.name, e)
		}
		if c.call.changes() {
			if e := refused(t, c.call, page(409)); e.OutcomeUnknown || e.Kind == mounts.BadGateway {
				t.Errorf("%s, with a page: %+v", c.name, e)
			}
		}
	}
	commit := callOf(capabilities.CommitTable)
	for _, c := range []struct {
		status     int
		kind, text string
		want       mounts.Kind
	}{
		{412, "x", "etag", mounts.CommitConflict},
		{422, "UnprocessableEntityException", "twice", mounts.Unprocessable},
		{422, "CommitFailedException", "x", mounts.CommitConflict},
		{422, "x", "Requirement failed: branch main has changed", mounts.CommitConflict},
		{422, "x", "no", mounts.Unprocessable},
		{400, "CommitFailedException", "x", mounts.CommitConflict},
		{400, "ValidationException", "x", mounts.ValidationFailed},
		{400, "IllegalArgumentException", "x", mounts.InvalidArgument},
		{400, "Whatever", "x", mounts.BadRequest},
		{413, "x", "big", mounts.TooLarge},
		{429, "x", "slow", mounts.RateLimited},
		{401, "x", "who", mounts.BadGateway},
		{403, "x", "no", mounts.Forbidden},
		{405, "x", "no", mounts.UnsupportedOperation},
		{501, "UnsupportedOperationException", "no", mounts.UnsupportedOperation},
		{508, "x", "round", mounts.Loop},
	} {
		if e := refused(t, commit, says(c.status, c.kind, c.text)); e.Kind != c.want || e.OutcomeUnknown {
			t.Errorf("%d %s: %+v", c.status, c.kind, e)
		}
	}
	if e := refused(t, callOf(capabilities.DropNamespace), says(400, "NamespaceNotEmptyException", "x")); e.Kind != mounts.NamespaceNotEmpty {
		t.Errorf("an old catalog's full namespace: %v", e.Kind)
	}
	if e := refused(t, callOf(capabilities.RenameTable), says(409, "x", "y")); !strings.HasPrefix(e.Message(), "Cannot rename a.b.t to x.y.t2.") {
		t.Errorf("a rename onto a taken name: %s", e.Message())
	}
}

// TestAVagueAnswerToAChangeIsNeverARefusal is every change x every answer that
// does not say for certain that nothing was done.
func TestAVagueAnswerToAChangeIsNeverARefusal(t *testing.T) {
	answers := map[string]*answer{"unknown at 409": says(409, "CommitStateUnknownException", "x"), "unknown at 400": says(400, "CommitStateUnknownException", "x"),
		"501 page": page(501), "508 page": page(508), "304": {status: 304, header: http.Header{}}, "202": {status: 202, header: http.Header{}}}
	for _, status := range []int{200, 204, 302, 408, 500, 502, 503, 504, 505, 520, 599} {
		answers[fmt.Sprint(status, " page")] = page(status)
		answers[fmt.Sprint(status)] = says(status, "NoSuchTableException", "x")
	}
	for _, row := range capabilities.Operations() {
		changes := capabilities.Changes().Has(row.Op)
		for name, a := range answers {
			e := refused(t, callOf(row.Op), a)
			if e.OutcomeUnknown != changes {
				t.Errorf("%s, %s: outcome unknown = %v", row.Name, name, e.OutcomeUnknown)
			}
			if changes && (e.Kind != mounts.BadGateway && e.Kind != mounts.Timeout || e.Answered) {
				t.Errorf("%s, %s: %+v", row.Name, name, e)
			}
		}
		if changes != mounts.AsError(broken(callOf(row.Op), errTooLarge)).OutcomeUnknown {
			t.Errorf("%s: an answer that cannot be read", row.Name)
		}
	}
}

func TestRateLimitsThatComeAs400AreToldByTypeOrByProfile(t *testing.T) {
	plainCall, known := callOf(capabilities.LoadTable), callOf(capabilities.LoadTable)
	known.at = &settings{quirks: Profile{ThrottlesWith400: true}}
	aws := &answer{status: 400, header: http.Header{"X-Amzn-Errortype": {"ThrottlingException:http://internal.amazon.com/"}}, body: []byte(`{"message":"Rate exceeded"}`)}
	for name, c := range map[string]struct {
		a            *answer
		plain, known mounts.Kind
	}{
		"a type":            {says(400, "ThrottlingException", "x"), mounts.RateLimited, mounts.RateLimited},
		"a message":         {says(400, "BadRequestException", "Rate exceeded"), mounts.BadRequest, mounts.RateLimited},
		"a foreign shape":   {aws, mounts.RateLimited, mounts.RateLimited},
		"something else":    {says(400, "BadRequestException", "exceeded the number of columns"), mounts.BadRequest, mounts.BadRequest},
		"a column of rates": {says(400, "BadRequestException", "column exchange_rate exceeds its precision"), mounts.BadRequest, mounts.BadRequest},
	} {
		if e := refused(t, plainCall, c.a); e.Kind != c.plain {
			t.Errorf("%s, without a profile: %v", name, e.Kind)
		}
		if e := refused(t, known, c.a); e.Kind != c.known {
			t.Errorf("%s, with the profile: %v", name, e.Kind)
		}
	}
}

func TestARemotesMessageSpeaksOfObjectsInOurNames(t *testing.T) {
	commit := callOf(capabilities.CommitTable)
	commit.at = &settings{called: []string{"sales", "catalogs/main"}}
	rename := callOf(capabilities.RenameTable)
	plainNS := call{op: capabilities.UpdateNamespaceProperties, object: mounts.Identifier{Namespace: mounts.Namespace{"shared"}}}
	for _, c := range []struct {
		call       call
		said, want string
	}{
		{commit, "Requirement failed: a.b.t has changed", "Requirement failed: {object} has changed"},
		{commit, "Table sales.a.b.t is busy", "Table {object} is busy"},
		{commit, "Table `sales`.`a`.`b`.`t` is busy", "Table `{object}` is busy"},
		{commit, "cannot commit to 'A.B.T'", "cannot commit to '{object}'"},
		{commit, "catalogs/main/a/b/t", "{object}"},
		{commit, "a%1Fb%1Ft", "{object}"},
		{commit, "a\x1fb.t is gone", "{object} is gone"},
		{commit, "a.b.t.", "{object}."},
		{commit, "a.b.t.branch_x and xa.b.t and a.b.t2", "a.b.t.branch_x and xa.b.t and a.b.t2"},
		{commit, "namespace a.b is locked", "namespace the namespace of {object} is locked"},
		{commit, "{object} of a.b.t", "(object) of {object}"},
		{rename, "cannot move a.b.t to x.y.t2", "cannot move {object} to {to}"},
		{plainNS, "shared properties are not allowed", "shared properties are not allowed"},
		{plainNS, "namespace shared is reserved", "namespace {object} is reserved"},
		{plainNS, "Reserved: 'shared'", "Reserved: '{object}'"},
		{commit, "org.apache.iceberg.exceptions.BadRequestException: no\n\tat org.apache.iceberg.X.y(X.java:7)\n\tat z", "no"},
		{commit, "POST /api/catalog/v1/sales/namespaces/a%1Fb/tables/t failed", "POST <route> failed"},
		{commit, "outside of s3://lake/v1/a/b", "outside of s3://lake/v1/a/b"},
	} {
		e := refused(t, c.call, says(400, "x", c.said))
		if got := strings.TrimPrefix(e.Msg, "the remote catalog refused the request: "); got != c.want {
			t.Errorf("%q became %q, want %q", c.said, got, c.want)
		}
	}
}
