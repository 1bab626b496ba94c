package rest_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
)

type credentialsAnswer struct {
	List []mounts.StorageCredential `json:"storage-credentials"`
}

func (r fetched) credentials(t *testing.T) []mounts.StorageCredential {
	t.Helper()
	var out credentialsAnswer
	if r.status != 200 || json.Unmarshal([]byte(r.body), &out) != nil || out.List == nil || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %v %s", r.status, r.header, r.body)
	}
	return out.List
}

func TestCredentialsAreRenewedAtTheRemoteOrByALoad(t *testing.T) {
	expiry := soon()
	config := map[string]string{"s3.access-key-id": "ASIAKEY", "s3.secret-access-key": "the-secret", "s3.session-token": "the-token", "s3.session-token-expires-at-ms": expiry}
	for _, offered := range []bool{true, false} {
		var offers []capabilities.Op
		if offered {
			offers = append(offers, capabilities.LoadCredentials)
		}
		v := newVendor(t, offers...)
		v.says("GET ", lakeLoad(`,"config":{`+s3Keys(expiry)+`}`))
		v.says("GET /credentials", `{"storage-credentials":[{"prefix":"s3://lake/sales/orders","config":{`+s3Keys(expiry)+`,"token":"x"}}]}`)
		for _, s := range front(t, v) {
			got := s.do("GET", s.table+"/credentials?referenced-by="+map[string]string{"tree": "partner%1F"}[s.name]+"views%1Fbig%20view", "")
			want := maps.Clone(config)
			want["client.refresh-credentials-endpoint"], want["client.refresh-credentials-enabled"] = s.table+"/credentials", "true"
			if list := got.credentials(t); len(list) != 1 || list[0].Prefix != "s3://lake/sales/orders" || !maps.Equal(list[0].Config, want) {
				t.Errorf("offered %v, %s: %s", offered, s.name, got.body)
			}
			last := v.last()
			query, path := "referenced-by=views%1Fbig%20view", vendorTable+"/credentials"
			if !offered {
				query, path = "snapshots=refs&"+query, vendorTable
			}
			if last.path != path || last.query != query || last.header.Get("X-Iceberg-Access-Delegation") != "vended-credentials" || last.header.Get("If-None-Match") != "" {
				t.Errorf("offered %v, %s: asked %s?%s with %v", offered, s.name, last.path, last.query, last.header)
			}
		}
		s := front(t, v)[1]
		if list := s.do("GET", "v1/config?warehouse=partner", "").body; !strings.Contains(list, `"GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"`) {
			t.Errorf("not advertised: %s", list)
		}
	}
}

func TestARenewalIsHeldToTheSameRules(t *testing.T) {
	v := newVendor(t, capabilities.LoadCredentials)
	scopes := front(t, v, func(c *rest.Config) {
		c.AllowedLocations = []string{"s3://lake/sales"}
		c.Ours = func(at string) bool { return strings.HasPrefix(at, "s3://lake/sales/ours") }
	})
	list := func(prefix, keys string) string {
		return `{"storage-credentials":[{"prefix":"` + prefix + `","config":{` + keys + `}}]}`
	}
	for body, status := range map[string]int{
		list("s3://lake/sales/orders", s3Keys(soon())): 200,
		list("s3://lake", s3Keys(soon())):              403,
		list("s3://lake/sales/ours/t", s3Keys(soon())): 403,
		list("s3://lake/sales/orders", s3Keys(past())): 502,
		`{}`:                         502,
		`{"storage-credentials":[]}`: 200,
		`{"storage-credentials":[{"prefix":"hr","config":{"s3.region":"eu"}}]}`: 200,
	} {
		v.says("GET /credentials", body)
		for _, s := range scopes {
			got := s.do("GET", s.table+"/credentials", "")
			if got.status != status || status != 200 && strings.Contains(got.body, "the-secret") {
				t.Errorf("%s: got %d %s", body, got.status, got.body)
			}
			if strings.Contains(body, "s3.region") && got.body != `{"storage-credentials":[]}` {
				t.Errorf("what opens nothing is passed on: %s", got.body)
			}
		}
	}
	for _, s := range scopes {
		s.do("GET", s.home+"/tables/absent/credentials", "").wantError(t, 404, "NoSuchTableException", "eu west.absent")
		s.do("GET", s.table+"/credentials?planId=made-up", "").wantError(t, 404, "NoSuchPlanIdException")
	}
}

func TestASignerOfTheRemoteIsReachedThroughOurOwnRoute(t *testing.T) {
	const toSign = `{"region":"eu","method":"PUT" ,"uri":"https://lake.s3.example/a%20b?x=1","headers":{"h":["1","2"]},"n":9007199254740993}`
	const signed = `{"uri":"https://lake.s3.example/a%20b?x=1", "headers":{"Authorization":["AWS4 x"],"X-Amz-Date":["now"]}}`
	v := newVendor(t)
	for name, c := range map[string]struct{ config, path, query string }{
		"an endpoint with a query":  {`"s3.signer.uri":"{url}/api/","s3.signer.endpoint":"/deep/sign?wh=a%2Fb&k=%3D"`, "/api/deep/sign", "wh=a%2Fb&k=%3D"},
		"the newer names":           {`"signer.uri":"{url}/new","signer.endpoint":"sign","s3.signer.uri":"{url}/old","s3.signer.endpoint":"old"`, "/new/sign", ""},
		"an absolute endpoint":      {`"s3.signer.endpoint":"{url}/whole/sign"`, "/whole/sign", ""},
		"an endpoint alone":         {`"s3.signer.endpoint":"v1/aws/s3/sign/tok"`, "/v1/aws/s3/sign/tok", ""},
		"nothing but the switch":    {`"gone":null`, "/v1/aws/s3/sign", ""},
		"the spec's signing config": {`"s3.signer.uri":"{url}"`, "/v1/aws/s3/sign", ""},
	} {
		config := strings.ReplaceAll(c.config, "{url}", v.url) + `,"s3.remote-signing-enabled":true,"s3.signer":"S3V4RestSigner","token":"x"`
		v.says("GET ", lakeLoad(`,"config":{`+config+`},"remote-signing-config":{"properties":{"tenant":"blue"},"headers":{"X-Sign-Token":["sign-secret"],"Host":["evil"],"Content-Length":["7"]}}`))
		v.says("POST "+c.path, signed)
		v.header["Cache-Control"] = []string{"private"}
		for _, s := range front(t, v) {
			for _, ask := range []string{askSigning, askVended} {
				got := s.do("GET", s.table, "", ask)
				if got.header.Get("Cache-Control") != "no-store" || strings.Contains(got.body, v.url) || strings.Contains(got.body, "sign-secret") {
					t.Errorf("%s: %v %s", name, got.header, got.body)
				}
				tab := got.table(t)
				at := tab.Config["s3.signer.endpoint"]
				if tab.Config["signer.endpoint"] != at || !strings.HasPrefix(at, s.table+"/sign?state=") || len(tab.Config) != 4 ||
					tab.Config["s3.remote-signing-enabled"] != "true" || tab.Config["s3.signer"] != "S3V4RestSigner" {
					t.Errorf("%s, %s: config %v", name, s.name, tab.Config)
				}
				if string(tab.Signing) != `{"properties":{"tenant":"blue"}}` {
					t.Errorf("remote-signing-config is %s", tab.Signing)
				}
				back := s.do("POST", at, toSign)
				if back.status != 200 || back.body != signed || back.header.Get("Cache-Control") != "private" {
					t.Errorf("%s, %s: signed %d %v %s", name, s.name, back.status, back.header, back.body)
				}
				last := v.last()
				if last.method != "POST" || last.path != c.path || last.query != c.query || last.body != toSign ||
					last.header.Get("X-Sign-Token") != "sign-secret" || last.header.Get("Content-Length") == "7" || last.header.Get("X-Iceberg-Access-Delegation") != "" {
					t.Errorf("%s, %s: asked %+v", name, s.name, last)
				}
			}
			if plain := s.do("GET", s.table, "").table(t); len(plain.Config) != 0 || plain.Signing != nil {
				t.Errorf("unasked: %v", plain)
			}
		}
	}
}

func TestASignerElsewhereIsRefused(t *testing.T) {
	v := newVendor(t)
	for _, config := range []string{
		`"s3.signer.uri":"https://evil.example"`, `"s3.signer.endpoint":"http://evil.example/sign"`, `"signer.uri":"http://127.0.0.1.evil.example"`,
		`"s3.signer.uri":"http://user:pw@127.0.0.1"`, `"s3.signer.uri":"ftp://127.0.0.1"`, `"s3.signer.uri":"//evil.example"`,
		`"s3.signer.endpoint":"` + strings.Repeat("x", 5<<10) + `"`,
	} {
		v.says("GET ", lakeLoad(`,"config":{"s3.remote-signing-enabled":"true",`+config+`}`))
		for _, s := range front(t, v) {
			s.do("GET", s.table, "", askSigning).wantError(t, 403, "not its own, which is not followed")
		}
	}
	// Credentials that came with it do without.
	v.says("GET ", lakeLoad(`,"config":{"s3.remote-signing-enabled":"true","s3.signer.uri":"https://evil.example",`+s3Keys(soon())+`}`))
	for _, s := range front(t, v) {
		got := s.do("GET", s.table, "", askVended+",remote-signing").table(t)
		if got.Config["s3.secret-access-key"] != "the-secret" || got.Config["s3.remote-signing-enabled"] != "" || got.Config["s3.signer.endpoint"] != "" {
			t.Errorf("%s: %v", s.name, got.Config)
		}
	}
}

func TestAStateIsGoodForItsTableAndMountAlone(t *testing.T) {
	v := newVendor(t)
	v.says("GET ", lakeLoad(`,"config":{"s3.remote-signing-enabled":"true","s3.signer.endpoint":"sign"}`))
	v.says("POST /sign", `{"uri":"http://h/x","headers":{}}`)
	scopes, other := front(t, v), front(t, v, func(c *rest.Config) { c.Ring = nil })
	at := scopes[0].do("GET", scopes[0].table, "", askSigning).table(t).Config["s3.signer.endpoint"]
	_, state, _ := strings.Cut(at, "?state=")
	const body = `{"method":"GET","uri":"http://h/x","headers":{}}`
	for _, s := range scopes { // the tree's state is the mount's
		if got := s.do("POST", s.table+"/sign?state="+state, body); got.status != 200 {
			t.Errorf("%s: %d %s", s.name, got.status, got.body)
		}
		asked := len(v.heard())
		s.do("POST", s.home+"/tables/other/sign?state="+state, body).wantError(t, 400, "load the table again")
		s.do("POST", s.table+"/sign?state="+state[:len(state)-2]+"AA", body).wantError(t, 400)
		s.do("POST", s.table+"/sign?state=v1", body).wantError(t, 400)
		s.do("POST", s.table+"/sign?state="+state, `{"method":"GET"}`).wantError(t, 400, "uri")
		s.do("POST", s.table+"/sign?state="+state, `{"method":"GET","uri":"/x"}`).wantError(t, 400, "uri")
		s.do("POST", s.table+"/sign", body).wantError(t, 501, "UnsupportedOperationException")
		if n := len(v.heard()); n != asked {
			t.Errorf("the remote was asked %d times about requests that were refused", n-asked)
		}
	}
	other[0].do("POST", other[0].table+"/sign?state="+state, body).wantError(t, 400)
	scopes[0].do("POST", "v1/aws/s3/sign", body).wantError(t, 403) // names no table, and no mount here knows where tables lie
}

func TestASignedRequestGoesWhereItWasGoingAndBearsProperHeaders(t *testing.T) {
	v := newVendor(t, capabilities.SignRequest)
	many := map[string][]string{}
	for i := range 100 {
		many["H"+strings.Repeat("x", i)] = []string{"1"}
	}
	tooMany, err := json.Marshal(map[string]any{"uri": "https://b.s3/x", "headers": many})
	if err != nil {
		t.Fatal(err)
	}
	for body, status := range map[string]int{
		`{"uri":"https://b.s3/x","headers":{"Authorization":["a"]}}`:     200,
		`{"uri":"https://B.S3/x?sig=1","headers":{"Authorization":"a"}}`: 200,
		`{"uri":"https://evil/x","headers":{}}`:                          502,
		`{"uri":"http://b.s3/x","headers":{}}`:                           502,
		`{"uri":"https://b.s3:444/x","headers":{}}`:                      502,
		`{"headers":{}}`: 502, `{"uri":7,"headers":{}}`: 502, `[]`: 502,
		`{"uri":"https://b.s3/x","headers":{"A":["b\r\nEvil: 1"]}}`:                        502,
		`{"uri":"https://b.s3/x","headers":{"A\r\nEvil":["b"]}}`:                           502,
		`{"uri":"https://b.s3/x","headers":{"A b":["b"]}}`:                                 502,
		`{"uri":"https://b.s3/x","headers":{"A":[7]}}`:                                     502,
		`{"uri":"https://b.s3/x","headers":{"A":["` + strings.Repeat("x", 40<<10) + `"]}}`: 502,
		string(tooMany): 502,
	} {
		v.says("POST /sign", body)
		for _, s := range front(t, v) {
			got := s.do("POST", s.table+"/sign", `{"method":"GET","uri":"https://b.s3/x"}`)
			if got.status != status || status == 200 && got.body != body || strings.Contains(got.body, "evil") {
				t.Errorf("%.200s: got %d %s", body, got.status, got.body)
			}
			if v.last().path != vendorTable+"/sign" {
				t.Errorf("asked %s", v.last().path)
			}
		}
	}
	v.says("POST /sign", `{"uri":"https://b.s3/x","headers":{}}`)
	for _, s := range front(t, v) {
		for sent, want := range map[string]string{"private": "private", "no-cache": "no-cache", "private, max-age=60": "private, max-age=60",
			"public, max-age=600": "no-store", "": "no-store", "s-maxage=9": "no-store"} {
			v.header["Cache-Control"] = []string{sent}
			if got := s.do("POST", s.table+"/sign", `{"method":"GET","uri":"https://b.s3/x"}`).header.Get("Cache-Control"); got != want {
				t.Errorf("Cache-Control %q became %q", sent, got)
			}
		}
	}
}
