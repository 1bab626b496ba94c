package rest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
	"github.com/icefield/icefield/mounts/rest"
)

func TestEveryVendorHasItsPreset(t *testing.T) {
	want := strings.Fields("polaris lakekeeper unity nessie gravitino glue s3tables r2 biglake snowflake onelake oss-tables seaweedfs icefield")
	var names []string
	for _, p := range rest.Profiles() {
		names = append(names, p.Name)
		if p.Login.Kind == "" || p.Path != "" && (!strings.HasPrefix(p.Path, "/") || strings.HasSuffix(p.Path, "/")) {
			t.Errorf("%s: %+v", p.Name, p)
		}
		if (p.Login.Kind == "sigv4") != (p.Login.Service != "") {
			t.Errorf("%s: sigv4 and a service go together: %+v", p.Name, p.Login)
		}
		got, ok := rest.ProfileNamed(p.Name)
		if !ok || got.Name != p.Name {
			t.Errorf("%s is not found by its name", p.Name)
		}
		if p.Endpoints != 0 && p.Endpoints.Intersect(capabilities.Floor()) != capabilities.Floor() {
			t.Errorf("%s lacks what every catalog has: %v", p.Name, p.Endpoints.Endpoints())
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("the presets are %v", names)
	}
	if _, ok := rest.ProfileNamed("polari"); ok {
		t.Error("a preset that is none")
	}
}

func TestAPresetsPathStandsInForNone(t *testing.T) {
	srv := serve(t, remote.Options{Base: "/api/catalog"})
	bare := strings.TrimSuffix(srv.URL, "/api/catalog")
	polaris, _ := rest.ProfileNamed("polaris")
	for _, url := range []string{bare, bare + "/", srv.URL} {
		b := open(t, srv, func(c *rest.Config) { c.URL, c.Profile = url, polaris })
		if err := invoke(b, reads()["loadTable"]); err != nil || srv.Last().Path != "/api/catalog/v1/namespaces/shared/tables/orders" {
			t.Errorf("%s: %v, %s", url, err, srv.Last().Path)
		}
	}
	moved := serve(t, remote.Options{Base: "/elsewhere"})
	b := open(t, moved, func(c *rest.Config) { c.Profile = polaris })
	if err := invoke(b, reads()["loadTable"]); err != nil {
		t.Error("a path of the mount's own:", err)
	}
}

func TestAPresetSaysWhatARemoteWithoutAListHas(t *testing.T) {
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) { q.NoEndpoints = true })
	profile := rest.Profile{Endpoints: capabilities.Of(capabilities.LoadTable, capabilities.ListViews)}
	b := open(t, srv, func(c *rest.Config) { c.Profile = profile })
	if got := b.Capabilities(); !got.Has(capabilities.ListViews) || got.Has(capabilities.ListTables) {
		t.Errorf("without a list: %v", got.Endpoints())
	}
	srv.Tune(func(q *remote.Quirks) {
		q.NoEndpoints, q.Endpoints = false, endpoints(capabilities.LoadTable, capabilities.ListTables)
	})
	b = open(t, srv, func(c *rest.Config) { c.Profile = profile })
	if got := b.Capabilities(); got.Has(capabilities.ListViews) || !got.Has(capabilities.ListTables) {
		t.Errorf("the remote's own list does not count: %v", got.Endpoints())
	}
}

func TestAPresetsSeparatorIsForRemotesThatNameNone(t *testing.T) {
	for advertised, want := range map[string]string{"": "a%2Eb", "%3A": "a%3Ab"} {
		srv := remote.New(t, remote.Options{})
		srv.Tune(func(q *remote.Quirks) { q.Separator = advertised })
		b := open(t, srv, func(c *rest.Config) { c.Profile.Separator = "%2E" })
		invoke(b, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{"a", "b"}})
		if got := srv.Last().Path; got != "/v1/namespaces/"+want {
			t.Errorf("advertised %q: %s", advertised, got)
		}
	}
}

func TestAPresetsHeadersAreSentUnlessTheMountSetsThem(t *testing.T) {
	srv := serve(t, remote.Options{})
	b := open(t, srv, func(c *rest.Config) {
		c.Profile.Headers = map[string]string{"X-Vendor": "preset", "X-Other": "preset"}
		c.Headers = map[string]string{"X-Other": "own"}
	})
	if err := invoke(b, reads()["loadTable"]); err != nil {
		t.Fatal(err)
	}
	if h := srv.Last().Header; h.Get("X-Vendor") != "preset" || h.Get("X-Other") != "own" {
		t.Errorf("sent %v", h)
	}
}

func TestMissingListsAreEmptyOnlyWhereTheyAreKnownToBe(t *testing.T) {
	for name, fault := range map[string]remote.Fault{"left out": {Break: remote.NoLists}, "null": {Break: remote.NullLists}, "nothing": {Raw: []byte(`{}`)}} {
		srv := serve(t, remote.Options{})
		strict, lenient := open(t, srv), open(t, srv, func(c *rest.Config) { c.Profile.MissingLists = true })
		srv.Fail(remote.AnyOp, fault)
		_, err := strict.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: shared})
		wantKind(t, err, mounts.BadGateway)
		tables, err := lenient.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: shared})
		if err != nil || tables.Items == nil || len(tables.Items) != 0 {
			t.Errorf("%s: %+v, %v", name, tables, err)
		}
		if page, err := children(lenient, nil); err != nil || page.Items == nil || len(page.Items) != 0 {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
		srv.Fail(remote.AnyOp, remote.Fault{Raw: []byte(`{"error":{"message":"busy","type":"x","code":503}}`)})
		_, err = lenient.ListTables(context.Background(), &mounts.ListTablesRequest{Namespace: shared})
		wantKind(t, err, mounts.BadGateway)
	}
}

func TestAPresetFillsInTheLogin(t *testing.T) {
	secret := func() (string, error) { return "s", nil }
	srv := serve(t, remote.Options{})
	srv.Tune(func(q *remote.Quirks) {
		q.OAuth = &remote.OAuth{ClientID: "icefield", ClientSecret: "s", Scope: "PRINCIPAL_ROLE:ALL"}
	})
	polaris, _ := rest.ProfileNamed("polaris")
	b := open(t, srv, func(c *rest.Config) {
		c.Profile = polaris
		c.Profile.Path = ""
		c.Auth = rest.OAuth2(rest.OAuth2Config{ClientID: "icefield", ClientSecret: secret})
	})
	if err := invoke(b, reads()["loadTable"]); err != nil {
		t.Error("the scope of the preset:", err)
	}
	c, _, _ := config(srv)
	c.Profile, _ = rest.ProfileNamed("lakekeeper")
	c.Auth = rest.OAuth2(rest.OAuth2Config{ClientID: "icefield", ClientSecret: secret})
	_, err := rest.Open(context.Background(), c)
	if e := wantKind(t, err, mounts.BadRequest); !strings.Contains(e.Msg, "token_url") {
		t.Errorf("a login that needs a token_url: %v", e)
	}
}
