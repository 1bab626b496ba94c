package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/router"
)

// without is a configuration that offers everything but these.
func without(ops ...capabilities.Op) string {
	config := everything("")
	for _, op := range ops {
		config = strings.Replace(config, `,"`+op.Row().Endpoint()+`"`, "", 1)
	}
	return config
}

func setOne(id mounts.Identifier) mounts.CommitTableRequest {
	return mounts.CommitTableRequest{Table: id, Updates: []json.RawMessage{json.RawMessage(`{"action":"set-properties","updates":{"a":"b"}}`)}}
}

// TestARemoteWithoutTransactionsCommitsOneTable: one change is that table's
// commit; several are refused before anything is sent.
func TestARemoteWithoutTransactionsCommitsOneTable(t *testing.T) {
	s := newBareServer(t, without(capabilities.CommitTransaction))
	b := s.open(t)
	if b.Capabilities().Has(capabilities.CommitTransaction) {
		t.Error("transactions are offered")
	}
	other := mounts.Identifier{Namespace: shared, Name: "other"}
	s.will(says(httpReply(200, `{"metadata-location":"s3://b/m.json","metadata":{}}`)))
	ctx := context.Background()
	if err := b.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{setOne(orders)}}); err != nil {
		t.Error(err)
	}
	sent := s.requests()
	if len(sent) != 1 || sent[0].target != "/v1/namespaces/shared/tables/orders" || !bytes.Contains(sent[0].body, []byte(`"name":"orders"`)) {
		t.Errorf("sent %+v", sent)
	}
	s.will(says(httpReply(200, `{}`)))
	err := b.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{setOne(orders), setOne(other)}})
	if e := wantKind(t, err, mounts.UnsupportedOperation); e.OutcomeUnknown || !strings.Contains(e.Message(), "one table at a time") || len(s.requests()) != 0 {
		t.Errorf("%+v, sent %d", e, len(s.requests()))
	}
	// Its refusals are the transaction's.
	s.will(says(httpReply(409, `{"error":{"message":"Requirement failed: x","type":"CommitFailedException","code":409}}`)))
	err = b.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{setOne(orders)}})
	if e := wantKind(t, err, mounts.CommitConflict); e.Op != capabilities.CommitTransaction || !e.Ident.Equal(orders) {
		t.Errorf("%+v", e)
	}
	s.will(says(httpReply(500, "")))
	err = b.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{setOne(orders)}})
	if e := wantKind(t, err, mounts.BadGateway); !e.OutcomeUnknown {
		t.Errorf("%+v", e)
	}
	// Neither is there for a mount that may not write.
	readOnly := s.open(t, func(c *rest.Config) { c.Writable = false })
	wantKind(t, readOnly.CommitTransaction(ctx, &mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{setOne(orders)}}), mounts.UnsupportedOperation)
}

// TestWhatARemoteDoesNotOfferIsNotOffered, operation by operation.
func TestWhatARemoteDoesNotOfferIsNotOffered(t *testing.T) {
	for _, req := range changes() {
		s := newBareServer(t, without(req.Op()))
		s.will(says(httpReply(204, "")))
		b := s.open(t)
		if b.Capabilities().Has(req.Op()) {
			t.Errorf("%s is offered", req.Op())
		}
		if req.Op() == capabilities.CommitTransaction {
			continue // emulated
		}
		if wantKind(t, invoke(b, req), mounts.UnsupportedOperation); len(s.requests()) != 0 {
			t.Errorf("%s was sent", req.Op())
		}
	}
}

func report() *mounts.ReportMetricsRequest {
	return &mounts.ReportMetricsRequest{Table: orders, Body: json.RawMessage(`{"report-type":"scan-report","table-name":"lake.prod.orders"}`)}
}

// TestReportsPassAReadOnlyMountAndAreDroppedWhereTheRemoteTakesNone.
func TestReportsPassAReadOnlyMountAndAreDroppedWhereTheRemoteTakesNone(t *testing.T) {
	for _, writes := range []bool{false, true} {
		s := newBareServer(t, everything(`,"idempotency-key-lifetime":"PT30M"`))
		b := s.open(t, func(c *rest.Config) { c.Writable = writes })
		s.will(says("HTTP/1.1 204 No Content\r\n\r\n"))
		if _, err := mounts.Invoke(withKey(context.Background()), b, report()); err != nil {
			t.Error(err)
		}
		sent := s.requests()
		if len(sent) != 1 || !bytes.Equal(sent[0].body, report().Body) || sent[0].header.Get("Idempotency-Key") != "" {
			t.Errorf("sent %+v", sent)
		}
		none := newBareServer(t, without(capabilities.ReportMetrics))
		dropped := none.open(t, func(c *rest.Config) { c.Writable = writes })
		none.will(says(httpReply(404, "")))
		if err := invoke(dropped, report()); err != nil || len(none.requests()) != 0 || !dropped.Capabilities().Has(capabilities.ReportMetrics) {
			t.Errorf("%v, sent %d", err, len(none.requests()))
		}
		// What fails at reports does not count against the mount.
		s.will(says(httpReply(500, "")))
		if e := wantKind(t, invoke(b, report()), mounts.BadGateway); !e.Answered || e.OutcomeUnknown {
			t.Errorf("%+v", e)
		}
		s.will(says(httpReply(404, `{"error":{"message":"x","type":"NoSuchTableException","code":404}}`)))
		wantKind(t, invoke(b, report()), mounts.NoSuchTable)
	}
}

// TestKeysOfPrincipalsAreToldApartAtTheRemote, which sees one login.
func TestKeysOfPrincipalsAreToldApartAtTheRemote(t *testing.T) {
	s := newBareServer(t, everything(`,"idempotency-key-lifetime":"PT30M"`))
	b := s.open(t)
	if b.KeyLifetime() != 30*time.Minute {
		t.Errorf("keys live for %v", b.KeyLifetime())
	}
	sent := func(principal, key string) string {
		t.Helper()
		s.will(says("HTTP/1.1 204 No Content\r\n\r\n"))
		ctx := mounts.WithCaller(context.Background(), mounts.Caller{Principal: principal, Once: &mounts.Once{Key: key}})
		if err := b.DropTable(ctx, &mounts.DropTableRequest{Table: orders}); err != nil {
			t.Fatal(err)
		}
		return s.requests()[0].header.Get("Idempotency-Key")
	}
	const otherKey = "01890f2c-5b3e-7c1d-9a4b-2f6e8d0c1b3b"
	if got := sent("", someKey); got != someKey {
		t.Errorf("of nobody: %s", got)
	}
	if got := sent("anonymous", someKey); got != someKey {
		t.Errorf("of anybody: %s", got)
	}
	ann, hank := sent("ann", someKey), sent("hank", someKey)
	if ann == hank || ann == someKey || ann == sent("ann", otherKey) || ann != sent("ann", someKey) {
		t.Errorf("ann's %s, hank's %s", ann, hank)
	}
	if shape := regexp.MustCompile(`^01890f2c-5b3e-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`); !shape.MatchString(ann) {
		t.Errorf("%s is no UUIDv7 of the same time", ann)
	}
}

// TestAClientThatLeavesDoesNotEndACommit goes through everything there is: the
// client's HTTP call, this server's router and stack, and the remote's.
func TestAClientThatLeavesDoesNotEndACommit(t *testing.T) {
	catalog := memory.New(memory.Options{Before: nil})
	arrived, release := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	slow := mounts.Around(catalog, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		if req.Op() != capabilities.CommitTable {
			return next(ctx, req)
		}
		close(arrived)
		<-release
		resp, err := next(ctx, req)
		ended <- errors.Join(err, ctx.Err())
		return resp, err
	})
	inner := httptest.NewServer(router.New(router.Config{Tree: router.Catalog{Name: "inner", Backend: slow}}))
	defer inner.Close()
	remote, err := rest.Open(context.Background(), rest.Config{URL: inner.URL, Writable: true, Request: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	mount := stack(t, remote)
	outer := httptest.NewServer(router.New(router.Config{Tree: router.Catalog{Name: "outer", Backend: mount.Tree}}))
	defer outer.Close()

	ctx := context.Background()
	if _, err := catalog.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: shared}); err != nil {
		t.Fatal(err)
	}
	before, err := catalog.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: shared, Name: "orders", Schema: mounttest.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	leaving, leave := context.WithCancel(ctx)
	r, err := http.NewRequestWithContext(leaving, http.MethodPost, outer.URL+"/v1/namespaces/prod%1Fshared/tables/orders",
		strings.NewReader(`{"requirements":[],"updates":[{"action":"set-properties","updates":{"late":"yes"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			resp.Body.Close()
			err = fmt.Errorf("answered %s", resp.Status)
		}
		left <- err
	}()
	<-arrived
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Errorf("the commit was cut off: %v", err)
	}
	after, err := catalog.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
	if err != nil {
		t.Fatal(err)
	}
	if after.MetadataLocation == before.MetadataLocation || !bytes.Contains(after.Metadata, []byte(`"late"`)) {
		t.Error("the commit was not made")
	}
}

// TestRequestsThatCannotBeAreRefusedHere: nothing is sent for them.
func TestRequestsThatCannotBeAreRefusedHere(t *testing.T) {
	s := newBareServer(t, everything(""))
	s.will(says(httpReply(204, "")))
	b := s.open(t)
	nameless := mounts.Identifier{Namespace: shared}
	rootless := mounts.Identifier{Name: "t"}
	for name, c := range map[string]struct {
		req  mounts.Request
		kind mounts.Kind
	}{
		"create the root":       {&mounts.CreateNamespaceRequest{}, mounts.BadRequest},
		"properties of it":      {&mounts.UpdateNamespacePropertiesRequest{}, mounts.NoSuchNamespace},
		"drop it":               {&mounts.DropNamespaceRequest{}, mounts.NoSuchNamespace},
		"set and remove":        {&mounts.UpdateNamespacePropertiesRequest{Namespace: shared, Removals: []string{"a"}, Updates: map[string]string{"a": ""}}, mounts.Unprocessable},
		"an empty level":        {&mounts.CreateNamespaceRequest{Namespace: mounts.Namespace{"a", ""}}, mounts.BadRequest},
		"create in the root":    {&mounts.CreateTableRequest{Name: "t"}, mounts.BadRequest},
		"create without name":   {&mounts.CreateTableRequest{Namespace: shared}, mounts.BadRequest},
		"register in the root":  {&mounts.RegisterTableRequest{Name: "t"}, mounts.BadRequest},
		"unregister there":      {&mounts.UnregisterTableRequest{Table: rootless}, mounts.NoSuchTable},
		"commit there":          {&mounts.CommitTableRequest{Table: rootless}, mounts.NoSuchTable},
		"commit to nothing":     {&mounts.CommitTableRequest{Table: nameless}, mounts.NoSuchTable},
		"no change":             {&mounts.CommitTransactionRequest{}, mounts.BadRequest},
		"a change of nothing":   {&mounts.CommitTransactionRequest{Changes: []mounts.CommitTableRequest{setOne(orders), setOne(rootless)}}, mounts.NoSuchTable},
		"rename from the root":  {&mounts.RenameTableRequest{Source: rootless, Destination: orders}, mounts.NoSuchTable},
		"rename into the root":  {&mounts.RenameTableRequest{Source: orders, Destination: rootless}, mounts.BadRequest},
		"drop in the root":      {&mounts.DropTableRequest{Table: rootless}, mounts.NoSuchTable},
		"a view in the root":    {&mounts.CreateViewRequest{Name: "v"}, mounts.BadRequest},
		"register a view there": {&mounts.RegisterViewRequest{Name: "v"}, mounts.BadRequest},
		"replace one there":     {&mounts.ReplaceViewRequest{View: rootless}, mounts.NoSuchView},
		"rename one there":      {&mounts.RenameViewRequest{Source: recent, Destination: rootless}, mounts.BadRequest},
		"drop one there":        {&mounts.DropViewRequest{View: nameless}, mounts.NoSuchView},
		"a report of nothing":   {&mounts.ReportMetricsRequest{Table: rootless}, mounts.NoSuchTable},
	} {
		e := wantKind(t, invoke(b, c.req), c.kind)
		if e.OutcomeUnknown || e.Op != c.req.Op() {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestCreationsSayWhetherTheyAreStaged, in words: Nessie has failed with a 500
// where it is left out.
func TestCreationsSayWhetherTheyAreStaged(t *testing.T) {
	s := newBareServer(t, everything(""))
	b := s.open(t)
	for staged, want := range map[bool]string{false: `"stage-create":false`, true: `"stage-create":true`} {
		s.will(says(httpReply(200, `{"metadata-location":"s3://b/m.json","metadata":{}}`)))
		req := &mounts.CreateTableRequest{Namespace: shared, Name: "new", Schema: mounttest.Schema(), StageCreate: staged}
		if _, err := b.CreateTable(context.Background(), req); err != nil {
			t.Error(err)
		}
		if sent := s.requests(); len(sent) != 1 || !bytes.Contains(sent[0].body, []byte(want)) {
			t.Errorf("sent %+v", sent)
		}
	}
}
