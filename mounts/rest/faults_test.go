package rest_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

// missing is the kind of each operation's own 404.
var missing = map[string]mounts.Kind{
	"listNamespaces": mounts.NoSuchNamespace, "loadNamespace": mounts.NoSuchNamespace, "listTables": mounts.NoSuchNamespace,
	"listViews": mounts.NoSuchNamespace, "loadTable": mounts.NoSuchTable, "tableExists": mounts.NoSuchTable, "loadView": mounts.NoSuchView,
}

func TestEveryReadTurnsEveryStatusIntoItsKind(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) {
		q.NoEndpoints, q.Defaults = true, map[string]string{"view-endpoints-supported": "true"}
	}) // no HEAD: bodies everywhere
	b := open(t, srv)
	for name, c := range map[string]struct {
		fault remote.Fault
		kind  mounts.Kind
		retry time.Duration
	}{
		"400":                   {remote.Fault{Status: 400, Message: "no"}, mounts.BadRequest, 0},
		"400 throttling":        {remote.Fault{Status: 400, Type: "ThrottlingException"}, mounts.RateLimited, 0},
		"400 HTML":              {remote.Fault{Status: 400, HTML: true}, mounts.BadRequest, 0},
		"401":                   {remote.Fault{Status: 401}, mounts.BadGateway, 0},
		"419":                   {remote.Fault{Status: 419}, mounts.BadGateway, 0},
		"403":                   {remote.Fault{Status: 403}, mounts.Forbidden, 0},
		"403 HTML":              {remote.Fault{Status: 403, HTML: true}, mounts.Forbidden, 0},
		"404 HTML":              {remote.Fault{Status: 404, HTML: true}, mounts.BadGateway, 0},
		"404 empty":             {remote.Fault{Status: 404, Empty: true}, mounts.BadGateway, 0},
		"404 other JSON":        {remote.Fault{Status: 404, Body: []byte(`{"message":"Not Found"}`)}, mounts.BadGateway, 0},
		"404 null error":        {remote.Fault{Status: 404, Body: []byte(`{"error":null}`)}, mounts.BadGateway, 0},
		"404 empty error":       {remote.Fault{Status: 404, Body: []byte(`{"error":{}}`)}, mounts.BadGateway, 0},
		"404 text error":        {remote.Fault{Status: 404, Body: []byte(`{"error":"NoSuchTableException"}`)}, mounts.BadGateway, 0},
		"404 with another code": {remote.Fault{Status: 404, Body: []byte(`{"error":{"message":"x","type":"NoSuchTableException","code":500}}`)}, mounts.BadGateway, 0},
		"404 cut off":           {remote.Fault{Status: 404, Body: []byte(`{"error":{"message":"x","type":"NoSuchTableException"`)}, mounts.BadGateway, 0},
		"404 warehouse":         {remote.Fault{Status: 404, Type: "NoSuchWarehouseException", Message: "gone"}, mounts.BadGateway, 0},
		"404 warehouse text":    {remote.Fault{Status: 404, Type: "NotFoundException", Message: "Unable to find warehouse sales"}, mounts.BadGateway, 0},
		"404 prefix":            {remote.Fault{Status: 404, Type: "NotFoundException", Message: "Prefix 'x' does not exist"}, mounts.BadGateway, 0},
		"404 catalog":           {remote.Fault{Status: 404, Type: "CatalogNotFound", Message: "nope"}, mounts.BadGateway, 0},
		"404 route":             {remote.Fault{Status: 404, Type: "NoSuchRouteException", Message: "x"}, mounts.BadGateway, 0},
		"405":                   {remote.Fault{Status: 405, Type: "x"}, mounts.UnsupportedOperation, 0},
		"406":                   {remote.Fault{Status: 406}, mounts.UnsupportedOperation, 0},
		"501":                   {remote.Fault{Status: 501}, mounts.UnsupportedOperation, 0},
		"501 HTML":              {remote.Fault{Status: 501, HTML: true}, mounts.BadGateway, 0},
		"409":                   {remote.Fault{Status: 409, Type: "x"}, mounts.BadRequest, 0},
		"429":                   {remote.Fault{Status: 429, RetryAfter: "7"}, mounts.RateLimited, 7 * time.Second},
		"429 empty":             {remote.Fault{Status: 429, Empty: true, RetryAfter: "86400"}, mounts.RateLimited, time.Minute},
		"500":                   {remote.Fault{Status: 500}, mounts.BadGateway, 0},
		"500 HTML":              {remote.Fault{Status: 500, HTML: true}, mounts.BadGateway, 0},
		"500 absence":           {remote.Fault{Status: 500, Type: "NoSuchTableException"}, mounts.BadGateway, 0},
		"502":                   {remote.Fault{Status: 502, HTML: true}, mounts.BadGateway, 0},
		"503":                   {remote.Fault{Status: 503, RetryAfter: "2"}, mounts.Unavailable, 2 * time.Second},
		"503 HTML":              {remote.Fault{Status: 503, HTML: true, RetryAfter: "-5"}, mounts.Unavailable, 0},
		"503 nonsense":          {remote.Fault{Status: 503, RetryAfter: "soon"}, mounts.Unavailable, 0},
		"503 long ago":          {remote.Fault{Status: 503, RetryAfter: "Mon, 02 Jan 2006 15:04:05 GMT"}, mounts.Unavailable, 0},
		"503 far away":          {remote.Fault{Status: 503, RetryAfter: "Fri, 31 Dec 2199 23:59:59 GMT"}, mounts.Unavailable, time.Minute},
		"504":                   {remote.Fault{Status: 504}, mounts.Timeout, 0},
		"508":                   {remote.Fault{Status: 508}, mounts.Loop, 0},
		"302 login":             {remote.Fault{Status: 302, Location: "/login", HTML: true}, mounts.BadGateway, 0},
		"303 login elsewhere":   {remote.Fault{Status: 303, Location: "http://127.0.0.1:1/login", HTML: true}, mounts.BadGateway, 0},
		"307 to itself":         {remote.Fault{Status: 307, Location: "/v1/config"}, mounts.BadGateway, 0},
		"304 unasked":           {remote.Fault{Status: 304}, mounts.BadGateway, 0},
		"202":                   {remote.Fault{Status: 202}, mounts.BadGateway, 0},
		"204":                   {remote.Fault{Status: 204, Empty: true}, mounts.BadGateway, 0},
		"599":                   {remote.Fault{Status: 599, HTML: true}, mounts.BadGateway, 0},
	} {
		for op, req := range reads() {
			srv.Heal()
			srv.Forget()
			srv.Fail(remote.AnyOp, c.fault)
			err := invoke(b, req)
			e := wantKind(t, err, c.kind)
			if e.RetryAfter < c.retry-time.Second || e.RetryAfter > c.retry {
				t.Errorf("%s: retry after %v", name, e.RetryAfter)
			}
			if e.Op.String() != op || !e.Ident.Equal(req.Object()) || e.Message() == "" || e.OutcomeUnknown {
				t.Errorf("%s, %s: the error is %+v", name, op, e)
			}
			if n := srv.Count(remote.AnyOp) - srv.Count(remote.Config); n != 1 { // a 404 may have the settings asked for again
				t.Errorf("%s, %s: %d calls", name, op, n)
			}
			if refused := c.fault.Status >= 400 && c.fault.Status < 500; e.Answered != refused {
				t.Errorf("%s, %s: answered = %v", name, op, e.Answered)
			}
			if t.Failed() {
				t.Fatalf("in the case %s, %s: %v", name, op, err)
			}
		}
	}
}

func TestASpecShaped404IsTheAbsenceOfWhatWasAskedFor(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	for _, said := range []remote.Fault{
		{Status: 404, Type: "NoSuchTableException"}, {Status: 404, Type: "NoSuchNamespaceException"}, {Status: 404, Type: "NoSuchViewException"},
		{Status: 404, Type: "BaseException"}, {Status: 404, Type: "EntityNotFoundException", Message: "at 10.0.0.7"}, {Status: 404, Type: "NotFoundException", Message: "x"},
		{Status: 404, Body: []byte(`{"error":{"message":"gone"}}`)}, {Status: 404, Body: []byte(`{"error":{"type":"Gone","code":404,"stack":["a"]},"more":1}`)},
		{Status: 404, Type: "NoSuchTableException", Message: "Warehouse does not exist"},
	} {
		for op, req := range reads() {
			srv.Fail(remote.AnyOp, said)
			e := wantKind(t, invoke(b, req), missing[op])
			if e.Msg != "" || !e.Ident.Equal(req.Object()) || !strings.HasSuffix(e.Message(), "does not exist: "+req.Object().String()) {
				t.Errorf("%s after %+v: %q", op, said, e.Message())
			}
		}
	}
	srv.Fail(remote.AnyOp, remote.Fault{Status: 404, Type: "NoSuchNamespaceException"})
	wantKind(t, invoke(b, &mounts.ListNamespacesRequest{}), mounts.BadGateway) // the root cannot be absent
}

func TestALostMetadataFileIsNoAbsenceOfTheTable(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	srv.Fail(remote.AnyOp, remote.Fault{Status: 404, Type: "NotFoundException", Message: "Failed to open input stream for file: s3://b/00001.metadata.json"})
	wantKind(t, invoke(b, reads()["loadTable"]), mounts.MetadataMissing)
	wantKind(t, invoke(b, reads()["loadView"]), mounts.MetadataMissing)
	wantKind(t, invoke(b, reads()["listTables"]), mounts.NoSuchNamespace)
}

// TestTheFaultMatrix is every read x every point in time at which a call can
// fail.
func TestTheFaultMatrix(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) {
		q.NoEndpoints, q.Defaults = true, map[string]string{"view-endpoints-supported": "true"}
	})
	b := open(t, srv)
	impatient := open(t, srv, func(c *rest.Config) { c.Request = 500 * time.Millisecond })
	check := func(what string, b *scene, kind mounts.Kind) {
		t.Helper()
		b.calls.take()
		var wg sync.WaitGroup
		for op, req := range reads() {
			wg.Go(func() {
				e := wantKind(t, invoke(b, req), kind)
				if e.Op.String() != op || strings.Contains(e.Message(), "127.0.0.1") {
					t.Errorf("%s, %s: the error is %+v", what, op, e)
				}
			})
		}
		wg.Wait()
		if calls := b.calls.take(); len(calls) != len(reads()) {
			t.Errorf("%s: observed %+v", what, calls)
		}
	}
	srv.Stop()
	check("before sending", b, mounts.Unavailable)
	srv.Start(t)
	for what, c := range map[string]struct {
		how  remote.Break
		kind mounts.Kind
	}{
		"reset after sending": {remote.Reset, mounts.BadGateway}, "cut in the body": {remote.Cut, mounts.BadGateway},
		"a short body": {remote.ShortBody, mounts.BadGateway}, "a long body": {remote.LongBody, mounts.BadGateway},
		"truncated": {remote.Truncate, mounts.BadGateway}, "broken gzip": {remote.BadGzip, mounts.BadGateway},
		"unknown encoding": {remote.UnknownEncoding, mounts.BadGateway}, "more after the end": {remote.Trailing, mounts.BadGateway},
		"created": {remote.Created, mounts.BadGateway},
	} {
		srv.Fail(remote.AnyOp, remote.Fault{Break: c.how})
		check(what, b, c.kind)
	}
	for what, how := range map[string]remote.Break{"hang": remote.Hang, "slow body": remote.SlowBody} {
		srv.Fail(remote.AnyOp, remote.Fault{Break: how})
		check(what, impatient, mounts.Timeout)
	}
	srv.Heal()
	for op, req := range reads() {
		if err := invoke(b, req); err != nil {
			t.Errorf("healed, %s: %v", op, err)
		}
	}
}

func TestACallerWhoLeavesIsNotTheRemotesFailure(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	for what, how := range map[string]remote.Break{"before the answer": remote.Hang, "in the body": remote.SlowBody} {
		srv.Fail("loadTable", remote.Fault{Break: how})
		srv.Forget()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
			done <- err
		}()
		srv.Await("loadTable", 1)
		cancel()
		err := <-done
		var e *mounts.Error
		if !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Kind != mounts.Timeout || !strings.Contains(e.Message(), "caller") {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A failure of the remote never looks like a caller who left.
	srv.Fail("loadTable", remote.Fault{Break: remote.Reset})
	if err := invoke(b, orderLoad()); errors.Is(err, context.Canceled) {
		t.Errorf("a reset is %v", err)
	}
}

func TestTheCallersOwnDeadlineIsATimeout(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv)
	srv.Fail("loadTable", remote.Fault{Break: remote.Hang})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
	wantKind(t, err, mounts.Timeout)
}

func TestAHostThatCannotBeTalkedToIsUnavailable(t *testing.T) {
	// A listener that is never accepted from answers no TLS handshake.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, url := range map[string]string{
		"no such host":        "http://no-such-host.invalid",
		"untrusted":           remote.New(t, remote.Options{TLS: true}).URL,
		"http on https":       strings.Replace(remote.New(t, remote.Options{}).URL, "http:", "https:", 1),
		"no handshake":        "https://" + silent.Addr().String(),
		"connection refused":  "http://127.0.0.1:1",
		"nothing but silence": "http://" + silent.Addr().String(),
	} {
		_, err := rest.Open(context.Background(), rest.Config{URL: url, Connect: 100 * time.Millisecond, Request: time.Second})
		kind := mounts.Unavailable
		if name == "nothing but silence" {
			kind = mounts.Timeout
		}
		if e := wantKind(t, err, kind); e.Kind != kind {
			t.Logf("in the case %s", name)
		}
	}
}

func TestARemoteThatLeadsBackHereIsALoop(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Fail(remote.Config, remote.Fault{Status: 508})
	c, _, _ := config(srv)
	_, err := rest.Open(context.Background(), c)
	wantKind(t, err, mounts.Loop)
	if got := srv.Last().Header.Get("X-Icefield-Via"); got != "front-1" {
		t.Errorf("the configuration was asked for via %q", got)
	}
}
