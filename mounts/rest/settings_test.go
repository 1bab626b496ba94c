package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

func TestPrefixesGoIntoThePathAsTheJavaClientHasThem(t *testing.T) {
	for prefix, want := range map[string]string{
		"":                 "/api/v1/namespaces/shared",
		"sales":            "/api/v1/sales/namespaces/shared",
		"catalogs/main":    "/api/v1/catalogs/main/namespaces/shared",
		"/slashes/":        "/api/v1/slashes/namespaces/shared",
		"main%7Cwarehouse": "/api/v1/main%7Cwarehouse/namespaces/shared",
		"main|warehouse":   "/api/v1/main%7Cwarehouse/namespaces/shared",
		"arn:aws:s3tables:eu-central-1:1:bucket%2Flake": "/api/v1/arn:aws:s3tables:eu-central-1:1:bucket%2Flake/namespaces/shared",
		"a b+c": "/api/v1/a%20b+c/namespaces/shared",
		"café":  "/api/v1/caf%C3%A9/namespaces/shared",
	} {
		srv := serve(t, remote.Options{Base: "/api"})
		srv.Tune(func(q *remote.Quirks) { q.Prefix = strings.Trim(prefix, "/") })
		b := open(t, srv)
		if err := invoke(b, &mounts.LoadNamespaceRequest{Namespace: shared}); err != nil || srv.Last().Path != want {
			t.Errorf("prefix %q: path %s, %v; want %s", prefix, srv.Last().Path, err, want)
		}
	}
}

func TestAPrefixThatLeavesItsPlaceIsRefused(t *testing.T) {
	for _, prefix := range []string{"..", "a/../../admin", "%2e%2e/admin", "a//b", "%zz", "."} {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.Prefix = prefix })
		c, _, _ := config(srv)
		_, err := rest.Open(context.Background(), c)
		if e := wantKind(t, err, mounts.BadGateway); strings.Count(e.Error(), "its prefix") != 1 {
			t.Errorf("the error says it other than once: %v", e)
		}
	}
}

func TestSeparatorsStandInPathsAsAdvertisedAndInQueriesDecoded(t *testing.T) {
	for separator, want := range map[string][2]string{
		"":       {"a%1Fb", "parent=a%1Fb"},
		"%1F":    {"a%1Fb", "parent=a%1Fb"},
		"%2E":    {"a%2Eb", "parent=a.b"},
		".":      {"a.b", "parent=a.b"},
		"%2F":    {"a%2Fb", "parent=a%2Fb"},
		"\x1f":   {"a%1Fb", "parent=a%1Fb"},
		"%3A%3A": {"a%3A%3Ab", "parent=a%3A%3Ab"},
	} {
		srv := remote.New(t, remote.Options{})
		srv.AddTable([]string{"a", "b"}, "t")
		srv.AddNamespace([]string{"a", "b", "c"}, nil)
		srv.Tune(func(q *remote.Quirks) { q.Separator = separator })
		b := open(t, srv)
		if err := invoke(b, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{"a", "b"}}); err != nil && separator != "\x1f" {
			t.Errorf("separator %q: %v", separator, err)
		}
		if got := srv.Last().Path; got != "/v1/namespaces/"+want[0] {
			t.Errorf("separator %q: path %s", separator, got)
		}
		page, err := b.ListNamespaces(context.Background(), &mounts.ListNamespacesRequest{Parent: mounts.Namespace{"a", "b"}})
		if err != nil || len(page.Items) != 1 || !page.Items[0].Equal(mounts.Namespace{"a", "b", "c"}) {
			t.Errorf("separator %q: %v, %v", separator, page, err)
		}
		if got := srv.Last().Query; !strings.Contains(got+"&", want[1]+"&") {
			t.Errorf("separator %q: query %s", separator, got)
		}
	}
}

func TestNamesThatHoldTheSeparatorAreNotAddressedAsOthers(t *testing.T) {
	for separator, bad := range map[string]mounts.Namespace{
		"%2E": {"a.b"}, ".": {"x", "a.b"}, "%3A%3A": {"a:", "b"}, "": {"a\x1fb"}, "%2F": {"a/b"},
	} {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.Separator = separator })
		b := open(t, srv)
		for _, req := range []mounts.Request{
			&mounts.LoadNamespaceRequest{Namespace: bad}, &mounts.ListNamespacesRequest{Parent: bad}, &mounts.ListTablesRequest{Namespace: bad},
			&mounts.ListViewsRequest{Namespace: bad}, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: bad, Name: "t"}},
			&mounts.TableExistsRequest{Table: mounts.Identifier{Namespace: bad, Name: "t"}}, &mounts.LoadViewRequest{View: mounts.Identifier{Namespace: bad, Name: "v"}},
		} {
			e := wantKind(t, invoke(b, req), mounts.BadRequest)
			if e.Ident.Namespace == nil || e.Msg == "" {
				t.Errorf("separator %q: %s answers %v", separator, req.Op(), e)
			}
		}
		if n := srv.Count(remote.AnyOp); n != 0 {
			t.Errorf("separator %q: %d calls were made", separator, n)
		}
	}
}

func TestASeparatorThatCannotBeUsedIsRefusedAtOpen(t *testing.T) {
	for _, separator := range []string{"%zz", "%", strings.Repeat("x", 40)} {
		srv := serve(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.Separator = separator })
		c, _, _ := config(srv)
		_, err := rest.Open(context.Background(), c)
		wantKind(t, err, mounts.BadGateway)
	}
}

func TestAMovedAddressIsFollowedOnTheSameHostOnly(t *testing.T) {
	elsewhere := serve(t, remote.Options{})
	_, port, _ := net.SplitHostPort(elsewhere.Addr())
	for name, c := range map[string]struct {
		uri      func(srv *remote.Server) string
		followed bool
		at       string // path prefix of the next call on srv; empty: the call goes elsewhere
	}{
		"another path":       {func(s *remote.Server) string { return strings.TrimSuffix(s.URL, "/api") + "/moved/" }, true, "/moved/v1/"},
		"the same":           {func(s *remote.Server) string { return s.URL + "/" }, true, "/api/v1/"},
		"another port":       {func(*remote.Server) string { return "http://127.0.0.1:" + port }, true, ""},
		"another host":       {func(*remote.Server) string { return "http://localhost:" + port }, false, "/api/v1/"},
		"a hostile host":     {func(s *remote.Server) string { return "http://127.0.0.1.evil.example/" }, false, "/api/v1/"},
		"user info":          {func(s *remote.Server) string { return "http://127.0.0.1@evil.example/" }, false, "/api/v1/"},
		"not http":           {func(s *remote.Server) string { return "file:///etc" }, false, "/api/v1/"},
		"garbage":            {func(s *remote.Server) string { return "http://[::1" }, false, "/api/v1/"},
		"a query":            {func(s *remote.Server) string { return s.URL + "?x=1" }, false, "/api/v1/"},
		"no address at all":  {func(*remote.Server) string { return "catalog" }, false, "/api/v1/"},
		"upgrade is refused": {func(s *remote.Server) string { return "https://localhost/x" }, false, "/api/v1/"},
	} {
		srv := serve(t, remote.Options{Base: "/api"})
		srv.Tune(func(q *remote.Quirks) {
			q.URI, q.ExtraBase, q.DefaultURI = c.uri(srv), "/moved", "http://127.0.0.1:1/defaults-never-win"
		})
		elsewhere.Forget()
		b := open(t, srv)
		if err := invoke(b, &mounts.LoadNamespaceRequest{Namespace: shared}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if c.at == "" {
			if elsewhere.Count("loadNamespace") != 1 {
				t.Errorf("%s: not followed", name)
			}
		} else if got := srv.Last().Path; !strings.HasPrefix(got, c.at) {
			t.Errorf("%s: the next call went to %q", name, got)
		}
		if warned := strings.Contains(b.log.String(), "another address"); warned == c.followed {
			t.Errorf("%s: logged %q", name, b.log)
		}
	}
}

func TestCapabilitiesComeFromTheRemotesList(t *testing.T) {
	tables := capabilities.Of(capabilities.ListNamespaces, capabilities.LoadNamespace, capabilities.NamespaceExists,
		capabilities.ListTables, capabilities.LoadTable, capabilities.TableExists)
	views := capabilities.Of(capabilities.ListViews, capabilities.LoadView, capabilities.ViewExists)
	list := func(entries ...string) json.RawMessage { raw, _ := json.Marshal(entries); return raw }
	for name, c := range map[string]struct {
		tune func(*remote.Quirks)
		want capabilities.Set
	}{
		"everything":        {func(*remote.Quirks) {}, tables.Union(views)},
		"no list":           {func(q *remote.Quirks) { q.NoEndpoints = true }, tables},
		"null":              {func(q *remote.Quirks) { q.Endpoints = json.RawMessage("null") }, tables},
		"empty":             {func(q *remote.Quirks) { q.Endpoints = list() }, tables},
		"all malformed":     {func(q *remote.Quirks) { q.Endpoints = json.RawMessage(`["nonsense", 7, {}, "GET  /v1/x"]`) }, tables},
		"one malformed":     {func(q *remote.Quirks) { q.Endpoints = list("GET /v1/{prefix}/namespaces", "zz") }, capabilities.Of(capabilities.ListNamespaces)},
		"load without HEAD": {func(q *remote.Quirks) { q.Endpoints = list("GET /v1/{prefix}/namespaces/{namespace}/tables/{table}") }, capabilities.Of(capabilities.LoadTable, capabilities.TableExists)},
		"writes and vendor": {func(q *remote.Quirks) {
			q.Endpoints = list("GET /v1/{prefix}/namespaces", "POST /v1/{prefix}/namespaces", "GET /polaris/v1/x", "POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/plan")
		}, capabilities.Of(capabilities.ListNamespaces)},
		"the old view property": {func(q *remote.Quirks) {
			q.NoEndpoints, q.Defaults = true, map[string]string{"view-endpoints-supported": "true"}
		}, tables.Union(views)},
		"no maps":         {func(q *remote.Quirks) { q.NoDefaults, q.NoOverrides = true, true }, tables.Union(views)},
		"null maps":       {func(q *remote.Quirks) { q.NullMaps = true }, tables.Union(views)},
		"an empty object": {func(q *remote.Quirks) { q.ConfigBody = []byte("{}") }, tables},
		"values that are no strings": {func(q *remote.Quirks) {
			q.ConfigBody = []byte(`{"defaults":{"a":true,"b":1,"c":null},"overrides":{}}`)
		}, tables},
	} {
		srv := serve(t, remote.Options{})
		srv.Tune(c.tune)
		b := open(t, srv)
		if got := b.Capabilities().Intersect(tables.Union(views)); got != c.want {
			t.Errorf("%s: %q", name, got.Endpoints())
		}
		if got := b.Capabilities().Intersect(capabilities.Changes()); got != 0 {
			t.Errorf("%s: a mount that may not write offers %q", name, got.Endpoints())
		}
		if !b.Capabilities().Has(capabilities.ReportMetrics) {
			t.Errorf("%s: reports are not taken", name)
		}
		for op, req := range reads() {
			if err := invoke(b, req); errors.Is(err, mounts.UnsupportedOperation) == c.want.Has(req.Op()) {
				t.Errorf("%s: %s answers %v", name, op, err)
			}
		}
	}
}

func TestEveryWriteIsUnsupportedAndNeverSent(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	for name, err := range map[string]error{
		"create": func() error {
			_, err := b.CreateTable(context.Background(), &mounts.CreateTableRequest{Namespace: shared, Name: "x"})
			return err
		}(),
		"commit": func() error {
			_, err := b.CommitTable(context.Background(), &mounts.CommitTableRequest{Table: orders})
			return err
		}(),
		"drop":  b.DropTable(context.Background(), &mounts.DropTableRequest{Table: orders}),
		"view":  b.DropView(context.Background(), &mounts.DropViewRequest{View: recent}),
		"space": b.DropNamespace(context.Background(), &mounts.DropNamespaceRequest{Namespace: shared}),
	} {
		if !errors.Is(err, mounts.UnsupportedOperation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := b.srv.Count(remote.AnyOp); n != 0 {
		t.Errorf("%d calls were made", n)
	}
}

func TestAWarehouseThatTheRemoteLacksIsNamed(t *testing.T) {
	srv := serve(t, remote.Options{Warehouse: "sales & co"})
	c, _, _ := config(srv)
	c.Warehouse = "sales & co"
	b, err := rest.Open(context.Background(), c)
	if err != nil || srv.Last().Query != "warehouse=sales%20%26%20co" {
		t.Fatalf("open: %v, query %s", err, srv.Last().Query)
	}
	b.Close()
	c.Warehouse = "sails"
	_, err = rest.Open(context.Background(), c)
	if e := wantKind(t, err, mounts.BadGateway); !strings.Contains(e.Message(), `"sails"`) {
		t.Errorf("the message is %q", e.Message())
	}
	srv.Fail(remote.Config, remote.Fault{Status: 400, Message: "Please specify a warehouse"})
	_, err = rest.Open(context.Background(), c)
	if e := wantKind(t, err, mounts.BadGateway); !strings.Contains(e.Message(), `"sails"`) || !strings.Contains(e.Message(), "Please specify") {
		t.Errorf("the message is %q", e.Message())
	}
}

func TestARefusedLoginSaysWhetherThereWasOne(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Fail(remote.Config, remote.Fault{Status: 401, Message: "no"})
	for want, auth := range map[string]rest.Auth{
		"the mount has none; give it an auth block or token_env": rest.NoAuth(),
		"refused the mount's own login":                          rest.Bearer(func() (string, error) { return "t", nil }),
	} {
		c, _, _ := config(srv)
		c.Auth = auth
		_, err := rest.Open(context.Background(), c)
		if e := wantKind(t, err, mounts.BadGateway); !strings.Contains(e.Message(), want) {
			t.Errorf("the message is %q, want %q", e.Message(), want)
		}
	}
}

func TestWhatIsNoCatalogDoesNotOpen(t *testing.T) {
	for name, c := range map[string]struct {
		fault remote.Fault
		kind  mounts.Kind
	}{
		"no such route":  {remote.Fault{Status: 404, HTML: true}, mounts.BadGateway},
		"a web page":     {remote.Fault{Raw: []byte("<html>")}, mounts.BadGateway},
		"a JSON list":    {remote.Fault{Raw: []byte("[]")}, mounts.BadGateway},
		"defaults wrong": {remote.Fault{Raw: []byte(`{"defaults":[]}`)}, mounts.BadGateway},
		"value wrong":    {remote.Fault{Raw: []byte(`{"overrides":{"prefix":{}}}`)}, mounts.BadGateway},
		"endpoints":      {remote.Fault{Raw: []byte(`{"endpoints":"all"}`)}, mounts.BadGateway},
		"twice":          {remote.Fault{Raw: []byte(`{"overrides":{},"overrides":{"prefix":"x"}}`)}, mounts.BadGateway},
		"redirect":       {remote.Fault{Status: 303, Location: "https://login.example/"}, mounts.BadGateway},
		"unauthorized":   {remote.Fault{Status: 401}, mounts.BadGateway},
		"forbidden":      {remote.Fault{Status: 403}, mounts.Forbidden},
		"busy":           {remote.Fault{Status: 503}, mounts.Unavailable},
		"loop":           {remote.Fault{Status: 508}, mounts.Loop},
		"truncated":      {remote.Fault{Break: remote.Truncate}, mounts.BadGateway},
	} {
		srv := serve(t, remote.Options{})
		srv.Fail(remote.Config, c.fault)
		conf, _, _ := config(srv)
		_, err := rest.Open(context.Background(), conf)
		if e := wantKind(t, err, c.kind); e.Kind != c.kind {
			t.Logf("in the case %s", name)
		}
	}
}

func TestAWrongConfigIsRefusedWithoutQuotingSecrets(t *testing.T) {
	for name, c := range map[string]rest.Config{
		"no URL":    {},
		"user info": {URL: "https://user:hunter2@catalog.example/"},
		"a query":   {URL: "https://catalog.example/?token=hunter2"},
		"a file":    {URL: "file:///etc/passwd"},
		"no host":   {URL: "https:///x"},
		"a bad one": {URL: "http://[hunter2"},
		"oauth":     {URL: "https://catalog.example", Auth: rest.OAuth2(rest.OAuth2Config{ClientSecret: secretOf("hunter2")})},
		"token URL": {URL: "https://catalog.example", Auth: rest.OAuth2(rest.OAuth2Config{ClientID: "a", ClientSecret: secretOf("hunter2"), TokenURL: "https://a:hunter2@b/"})},
		"negative":  {URL: "https://catalog.example", Request: -1},
	} {
		_, err := rest.Open(context.Background(), c)
		if e := wantKind(t, err, mounts.BadRequest); strings.Contains(e.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHealthOfAMovedRemoteIsThatOfTheAddressThatCallsGoTo(t *testing.T) {
	srv, elsewhere := serve(t, remote.Options{}), serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.URI = elsewhere.URL })
	b := open(t, srv)
	if err := b.Health(t.Context()); err != nil || elsewhere.Count("listNamespaces") != 1 {
		t.Errorf("%v, after %d calls where it moved to", err, elsewhere.Count("listNamespaces"))
	}
	elsewhere.Fail("listNamespaces", remote.Fault{Status: 403})
	if err := b.Health(t.Context()); err != nil {
		t.Errorf("a remote that forbids the listing: %v", err)
	}
	elsewhere.Stop()
	wantKind(t, b.Health(t.Context()), mounts.Unavailable)
}

func TestHealthAsksForTheConfigurationAndSeesAStoppedRemote(t *testing.T) {
	b := open(t, serve(t, remote.Options{}))
	if err := b.Health(context.Background()); err != nil || b.srv.Count(remote.Config) != 1 || b.srv.Count(remote.AnyOp) != 1 {
		t.Errorf("health: %v, %d calls", err, b.srv.Count(remote.AnyOp))
	}
	b.srv.Stop()
	wantKind(t, b.Health(context.Background()), mounts.Unavailable)
	b.srv.Start(t)
	if err := b.Health(context.Background()); err != nil {
		t.Errorf("after the start: %v", err)
	}
}
