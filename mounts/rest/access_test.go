package rest_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts/rest"
)

func TestDelegationIsAskedForOnlyWhereTheClientDidAndTheMountLetsIt(t *testing.T) {
	v := newVendor(t, capabilities.LoadCredentials, capabilities.PlanScan, capabilities.FetchPlan)
	v.says("GET ", lakeLoad(""))
	v.says("POST /plan", `{"status":"submitted","plan-id":"p"}`)
	v.says("POST /v1/wh/namespaces/sales%1Feu%20west/tables", lakeLoad(""))
	v.says("POST /v1/wh/namespaces/sales%1Feu%20west/register", lakeLoad(""))
	const create = `{"name":"daily/orders","schema":{"type":"struct","fields":[]}}`
	calls := map[string]func(s seenAs, header ...string) fetched{
		"load":   func(s seenAs, h ...string) fetched { return s.do("GET", s.table, "", h...) },
		"create": func(s seenAs, h ...string) fetched { return s.do("POST", s.home+"/tables", create, h...) },
		"stage": func(s seenAs, h ...string) fetched {
			return s.do("POST", s.home+"/tables", strings.Replace(create, "{", `{"stage-create":true,`, 1), h...)
		},
		"register": func(s seenAs, h ...string) fetched {
			return s.do("POST", s.home+"/register", `{"name":"daily/orders","metadata-location":"s3://lake/m.json"}`, h...)
		},
		"plan": func(s seenAs, h ...string) fetched { return s.do("POST", s.table+"/plan", `{}`, h...) },
	}
	for _, withhold := range []bool{false, true} {
		for _, s := range front(t, v, func(c *rest.Config) { c.Withhold = withhold }) {
			for name, call := range calls {
				for asked, want := range map[string]string{
					"":                                    "",
					"vended-credentials":                  "vended-credentials",
					"remote-signing , vended-credentials": "vended-credentials,remote-signing",
					"teleport,REMOTE-SIGNING,":            "remote-signing",
					"teleport":                            "",
				} {
					var got fetched
					if asked == "" {
						got = call(s)
					} else {
						got = call(s, "X-Iceberg-Access-Delegation: "+asked)
					}
					if withhold {
						want = ""
					}
					if sent := v.last().header.Values("X-Iceberg-Access-Delegation"); got.status != 200 || strings.Join(sent, "|") != want {
						t.Errorf("%s of %s, asked %q: sent %q, answered %d %s", name, s.name, asked, sent, got.status, got.body)
					}
				}
			}
			// An existence check that a load answers is no wish for credentials.
			if got := s.do("HEAD", s.table, "", askVended); got.status != 204 || v.last().method != "GET" || v.last().header.Get("X-Iceberg-Access-Delegation") != "" {
				t.Errorf("HEAD: %d, asked the remote with %v", got.status, v.last().header)
			}
		}
	}
}

func TestCredentialsLeaveInBothPlacesWithARouteOfOursToRenewThem(t *testing.T) {
	expiry := soon()
	v := newVendor(t, capabilities.LoadCredentials)
	hints := `"s3.region":"eu","s3.endpoint":"http://store:9000","token":"catalog-token","uri":"http://remote","header.X":"y",` +
		`"client.refresh-credentials-endpoint":"v1/wh/elsewhere","client.refresh-credentials-enabled":"true","s3.signer.uri":"http://remote"`
	for name, more := range map[string]string{
		"list only":   `,"config":{` + hints + `},"storage-credentials":[{"prefix":"s3://lake/sales","config":{` + s3Keys(expiry) + `,"client.refresh-credentials-endpoint":"http://evil/","token":"catalog-token","vendor":null,"n":1}}]`,
		"config only": `,"config":{` + hints + `,` + strings.Replace(s3Keys(expiry), `"`+expiry+`"`, expiry, 1) + `,"gone":null}`,
		"both":        `,"config":{` + hints + `,` + s3Keys(expiry) + `},"storage-credentials":[{"prefix":"s3://lake/sales","config":{` + s3Keys(expiry) + `}}]`,
	} {
		v.says("GET ", lakeLoad(more))
		for _, s := range front(t, v) {
			got := s.do("GET", s.table, "", askVended)
			if got.header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control %q", got.header.Get("Cache-Control"))
			}
			if !strings.Contains(got.body, `"metadata":`+lakeMeta) {
				t.Errorf("the metadata is not what it was: %s", got.body)
			}
			want := map[string]string{"s3.region": "eu", "s3.endpoint": "http://store:9000", "s3.access-key-id": "ASIAKEY", "s3.secret-access-key": "the-secret",
				"s3.session-token": "the-token", "s3.session-token-expires-at-ms": expiry,
				"client.refresh-credentials-endpoint": s.table + "/credentials", "client.refresh-credentials-enabled": "true"}
			tab := got.table(t)
			if !maps.Equal(tab.Config, want) {
				t.Errorf("%s, %s: config %v\nwant %v", name, s.name, tab.Config, want)
			}
			prefix := "s3://lake/sales"
			if name == "config only" {
				prefix += "/orders" // the table's own location
			}
			if len(tab.Credentials) != 1 || tab.Credentials[0].Prefix != prefix || !maps.Equal(tab.Credentials[0].Config, want) {
				t.Errorf("%s, %s: credentials %v", name, s.name, tab.Credentials)
			}
			if got := s.do("GET", s.table, "").table(t); len(got.Credentials) != 0 || !maps.Equal(got.Config, map[string]string{"s3.region": "eu", "s3.endpoint": "http://store:9000"}) {
				t.Errorf("unasked, %s, %s: %v %v", name, s.name, got.Config, got.Credentials)
			}
		}
	}
}

func TestOneCredentialIsMirroredAndNoneWhereSeveralCouldBeMeant(t *testing.T) {
	secret := func(name string) string { return `"s3.access-key-id":"id","s3.secret-access-key":"` + name + `"` }
	for name, c := range map[string]struct{ list, want string }{
		"the longest prefix":  {`{"prefix":"s3://lake","config":{` + secret("wide") + `}},{"prefix":"s3://lake/sales/orders/","config":{` + secret("none") + `}},{"prefix":"s3a://lake/sales","config":{` + secret("near") + `}}`, ""},
		"nested":              {`{"prefix":"s3://lake","config":{` + secret("wide") + `}},{"prefix":"s3a://lake/sales","config":{` + secret("near") + `}}`, "near"},
		"the same twice":      {`{"prefix":"s3://lake","config":{` + secret("one") + `}},{"prefix":"s3://lake","config":{` + secret("two") + `}}`, ""},
		"none for the table":  {`{"prefix":"s3://other","config":{` + secret("one") + `}}`, ""},
		"without a prefix":    {`{"config":{` + secret("one") + `}}`, "one"},
		"without credentials": {`{"prefix":"s3://lake/sales","config":{"s3.region":"eu"}},{"prefix":"s3://lake","config":{` + secret("one") + `}}`, "one"},
	} {
		v := newVendor(t)
		v.says("GET ", lakeLoad(`,"storage-credentials":[`+c.list+`]`))
		for _, s := range front(t, v) {
			got := s.do("GET", s.table, "", askVended).table(t)
			if got.Config["s3.secret-access-key"] != c.want || len(got.Credentials) == 0 {
				t.Errorf("%s, %s: config %v, credentials %v", name, s.name, got.Config, got.Credentials)
			}
			for _, credential := range got.Credentials {
				if credential.Config["client.refresh-credentials-endpoint"] != "" {
					t.Errorf("%s: a route for credentials that Java cannot renew: %v", name, credential)
				}
			}
		}
	}
}

func TestEveryStoreIsRenewedByItsOwnKeys(t *testing.T) {
	expiry := soon()
	for want, keys := range map[string]string{
		"client.refresh-credentials-endpoint":     s3Keys(expiry),
		"gcs.oauth2.refresh-credentials-endpoint": `"gcs.oauth2.token":"t","gcs.oauth2.token-expires-at":` + expiry + `,"gcs.project-id":"p"`,
		"adls.refresh-credentials-endpoint":       `"adls.sas-token.acc.dfs.core.windows.net":"sv=1&sig=x","adls.sas-token-expires-at-ms.acc.dfs.core.windows.net":"` + expiry + `"`,
	} {
		v := newVendor(t)
		v.says("GET ", lakeLoad(`,"config":{`+keys+`}`))
		for _, s := range front(t, v) {
			got := s.do("GET", s.table, "", askVended).table(t)
			enabled := strings.TrimSuffix(want, "endpoint") + "enabled"
			for _, config := range []map[string]string{got.Config, got.Credentials[0].Config} {
				routes := 0
				for name := range config {
					if strings.HasSuffix(name, "-endpoint") {
						routes++
					}
				}
				if config[want] != s.table+"/credentials" || config[enabled] != "true" || routes != 1 {
					t.Errorf("%s, %s: %v", want, s.name, config)
				}
			}
		}
	}
}

func TestLocationsOutsideOfTheMountAreRefusedAndNeverASilentSuccess(t *testing.T) {
	at := func(prefix string) string {
		return `,"storage-credentials":[{"prefix":"` + prefix + `","config":{` + s3Keys(soon()) + `}}]`
	}
	meta := func(location string) string {
		return `{"metadata-location":"s3://lake/sales/m.json","metadata":{"location":"` + location + `"},"config":{` + s3Keys(soon()) + `}}`
	}
	cases := map[string]struct {
		body         string
		plain, asked int
	}{
		"inside":              {lakeLoad(at("s3://lake/sales/orders")), 200, 200},
		"the location itself": {lakeLoad(at("s3://lake/sales")), 200, 200},
		"another spelling":    {lakeLoad(at("s3a://lake/sales/orders/")), 200, 200},
		"a parent":            {lakeLoad(at("s3://lake")), 200, 403},
		"everything":          {lakeLoad(at("s3://")), 200, 403},
		"a neighbour":         {lakeLoad(at("s3://lake/salesforce")), 200, 403},
		"another bucket":      {lakeLoad(at("s3://lake2/sales")), 200, 403},
		"half a bucket":       {lakeLoad(at("s3://lak")), 200, 403},
		"another store":       {lakeLoad(at("gs://lake/sales")), 200, 403},
		"steps up":            {lakeLoad(at("s3://lake/sales/../hr")), 200, 403},
		"steps in disguise":   {lakeLoad(at("s3://lake/sales/%2e%2e/hr")), 200, 403},
		"an empty segment":    {lakeLoad(at("s3://lake//sales")), 200, 403},
		"no location":         {lakeLoad(at("lake")), 200, 403},
		"a table elsewhere":   {meta("s3://lake/hr/t"), 403, 403},
		"a table beside":      {meta("s3://lake/sales-old/t"), 403, 403},
		"a table that steps":  {meta("s3://lake/sales/../hr"), 403, 403},
		"no table location":   {`{"metadata-location":"s3://lake/sales/m.json","metadata":{}}`, 403, 403},
		"two locations":       {`{"metadata-location":"s3://lake/sales/m.json","metadata":{"location":"s3://lake/sales/t","location":"s3://lake/hr"}}`, 502, 502},
		"metadata elsewhere":  {`{"metadata-location":"s3://lake/m.json","metadata":{"location":"s3://lake/sales/t"}}`, 403, 403},
	}
	for name, c := range cases {
		v := newVendor(t)
		v.says("GET ", c.body)
		for _, s := range front(t, v, func(c *rest.Config) { c.AllowedLocations = []string{"s3://lake/sales/", "s3://elsewhere"} }) {
			if got := s.do("GET", s.table, ""); got.status != c.plain {
				t.Errorf("%s, %s, unasked: %d %s", name, s.name, got.status, got.body)
			}
			got := s.do("GET", s.table, "", askVended)
			if got.status != c.asked || (strings.Contains(got.body, "the-secret")) != (c.asked == 200) {
				t.Errorf("%s, %s: %d %s", name, s.name, got.status, got.body)
			}
			if c.asked == 403 {
				got.wantError(t, 403, "ForbiddenException", "allowed_locations", `mount \"partner\"`, "eu west.daily/orders")
			}
		}
	}
}

func TestAWarehouseOfThisServerIsNeverVendedForByARemote(t *testing.T) {
	ours := func(location string) bool { return strings.HasPrefix(location, "s3://ours/") }
	for name, body := range map[string]string{
		"the table":     `{"metadata-location":"s3://lake/m.json","metadata":{"location":"s3://ours/t"},"config":{` + s3Keys(soon()) + `}}`,
		"its metadata":  `{"metadata-location":"s3://ours/m.json","metadata":{"location":"s3://lake/t"},"config":{` + s3Keys(soon()) + `}}`,
		"a prefix":      lakeLoad(`,"storage-credentials":[{"prefix":"s3://ours/t","config":{` + s3Keys(soon()) + `}}]`),
		"a detour":      lakeLoad(`,"storage-credentials":[{"prefix":"s3a://lake/../ours/t","config":{` + s3Keys(soon()) + `}},{"prefix":"s3n://ours//x/../t","config":{` + s3Keys(soon()) + `}}]`),
		"signing there": `{"metadata-location":"s3://lake/m.json","metadata":{"location":"s3://ours/t"},"config":{"s3.remote-signing-enabled":"true"}}`,
	} {
		v := newVendor(t)
		v.says("GET ", body)
		for _, s := range front(t, v, func(c *rest.Config) { c.Ours = ours }) {
			s.do("GET", s.table, "", askVended).wantError(t, 403, "this server governs itself")
			if got := s.do("GET", s.table, "").table(t); len(got.Credentials) != 0 || len(got.Config) != 0 {
				t.Errorf("%s: unasked %v", name, got)
			}
		}
	}
}

func TestCredentialsThatHaveExpiredOrCannotBeReadAreErrors(t *testing.T) {
	for name, body := range map[string]string{
		"expired":             lakeLoad(`,"config":{` + s3Keys(past()) + `}`),
		"expired in the list": lakeLoad(`,"storage-credentials":[{"prefix":"s3://lake","config":{` + s3Keys(past()) + `}}]`),
		"expired by Polaris":  lakeLoad(`,"config":{"s3.secret-access-key":"the-secret","expiration-time":"2020-01-01T00:00:00Z"}`),
		"expired as a float":  lakeLoad(`,"config":{"gcs.oauth2.token":"the-secret","gcs.oauth2.token-expires-at":1.6e12}`),
		"a list of numbers":   lakeLoad(`,"storage-credentials":[1]`),
		"an object":           lakeLoad(`,"storage-credentials":{}`),
		"a prefix of numbers": lakeLoad(`,"storage-credentials":[{"prefix":7,"config":{}}]`),
		"far too many":        lakeLoad(`,"storage-credentials":[` + strings.Repeat(`{"prefix":"s3://a","config":{}},`, 70) + `{}]`),
		"a line break":        lakeLoad(`,"config":{"s3.secret-access-key":"a\r\nb"}`),
		"an endless token":    lakeLoad(`,"config":{"gcs.oauth2.token":"` + strings.Repeat("x", 20<<10) + `"}`),
	} {
		v := newVendor(t)
		v.says("GET ", body)
		for _, s := range front(t, v) {
			got := s.do("GET", s.table, "", askVended)
			if got.wantError(t, 502); strings.Contains(got.body, "the-secret") {
				t.Errorf("%s: %s", name, got.body)
			}
			// Who did not ask is not bothered with it.
			if plain := s.do("GET", s.table, ""); plain.status != 200 || strings.Contains(plain.body, "the-secret") {
				t.Errorf("%s, unasked: %d %s", name, plain.status, plain.body)
			}
		}
	}
	// "never" and nonsense are no expiry that a client could trip over.
	for _, never := range []string{"0", "-1", "never"} {
		v := newVendor(t)
		v.says("GET ", lakeLoad(`,"config":{`+s3Keys(never)+`}`))
		got := front(t, v)[0].do("GET", front(t, v)[0].table, "", askVended).table(t)
		if _, has := got.Config["s3.session-token-expires-at-ms"]; has || got.Config["s3.secret-access-key"] != "the-secret" {
			t.Errorf("%q: %v", never, got.Config)
		}
	}
}

func TestAChangeThatWasMadeIsNotDeniedForItsCredentials(t *testing.T) {
	v := newVendor(t)
	body := lakeLoad(`,"storage-credentials":[{"prefix":"s3://hr","config":{` + s3Keys(soon()) + `}}]`)
	v.says("POST /v1/wh/namespaces/sales%1Feu%20west/tables", body)
	for _, s := range front(t, v, func(c *rest.Config) { c.AllowedLocations = []string{"s3://lake"} }) {
		const create = `{"name":"daily/orders","schema":{"type":"struct","fields":[]}`
		s.do("POST", s.home+"/tables", create+`}`, askVended).wantError(t, 502, "the remote catalog made the change", "look at the catalog")
		s.do("POST", s.home+"/tables", create+`,"stage-create":true}`, askVended).wantError(t, 403, "allowed_locations")
	}
}

func TestNotModifiedNeverStandsForOtherSnapshots(t *testing.T) {
	v := newVendor(t)
	v.header["Etag"] = []string{`"t1"`} // of the metadata's location: both kinds of load have it
	v.says("GET ", lakeLoad(""))
	for _, s := range front(t, v) {
		tags := map[string]string{}
		for _, query := range []string{"", "?snapshots=all", "?snapshots=refs"} {
			tags[query] = s.do("GET", s.table+query, "").header.Get("ETag")
		}
		for has, tag := range tags {
			for asked := range tags {
				want := ""
				if (has == "?snapshots=refs") == (asked == "?snapshots=refs") {
					want = `"t1"`
				}
				s.do("GET", s.table+asked, "", "If-None-Match: "+tag)
				if got := v.last().header.Get("If-None-Match"); got != want {
					t.Errorf("%q with the tag of %q: asked with %q, want %q", asked, has, got, want)
				}
			}
		}
	}
}

func TestNotModifiedNeverStandsForCredentials(t *testing.T) {
	v := newVendor(t)
	v.header["Etag"] = []string{`W/"t1"`}
	sent := func() string { return v.last().header.Get("If-None-Match") }
	v.says("GET ", lakeLoad(`,"config":{`+s3Keys(soon())+`}`))
	for _, s := range front(t, v) {
		v.says("GET ", lakeLoad(`,"config":{`+s3Keys(soon())+`}`))
		plain := s.do("GET", s.table, "").header.Get("ETag")
		granted := s.do("GET", s.table, "", askVended).header.Get("ETag")
		v.says("GET ", lakeLoad(""))
		none := s.do("GET", s.table, "", askVended).header.Get("ETag")
		if !strings.HasPrefix(plain, `W/"`) || !strings.HasSuffix(plain, `.t1"`) || granted == plain || none == plain || none == granted {
			t.Errorf("the tags are %s, %s and %s", plain, granted, none)
		}
		for _, c := range []struct{ name, tag, ask, want string }{
			{"plain", plain, "", `W/"t1"`}, {"plain, several", `"a,b", ` + plain, "", `W/"t1"`}, {"plain for credentials", plain, askVended, ""},
			{"granted", granted, askVended, ""}, {"granted, unasked", granted, "", ""}, {"none", none, askVended, `W/"t1"`}, {"none, unasked", none, "", ""},
			{"mixed", plain + ", " + granted + `, "x"`, "", `W/"t1"`}, {"any", "*", askVended, ""},
		} {
			header := []string{"If-None-Match: " + c.tag}
			if c.ask != "" {
				header = append(header, c.ask)
			}
			if s.do("GET", s.table, "", header...); sent() != c.want {
				t.Errorf("%s: sent %q, want %q", c.name, sent(), c.want)
			}
		}
	}
}

// TestWithholdLetsNoKeyLeaveEver hunts through every answer of every operation.
func TestWithholdLetsNoKeyLeaveEver(t *testing.T) {
	all := capabilities.All()
	var offers []capabilities.Op
	for _, row := range capabilities.Operations() {
		if all.Has(row.Op) {
			offers = append(offers, row.Op)
		}
	}
	v := newVendor(t, offers...)
	keys := `{` + s3Keys(soon()) + `,"gcs.oauth2.token":"the-secret","adls.sas-token.a":"the-secret","s3.remote-signing-enabled":"true","s3.signer.uri":"` + v.url + `","s3.signer.endpoint":"sign?k=the-secret"}`
	leak := `,"config":` + keys + `,"storage-credentials":[{"prefix":"s3://lake","config":` + keys + `}],"remote-signing-config":{"properties":{"k":"the-secret"},"headers":{"X":["the-secret"]}}`
	view := `{"metadata-location":"s3://lake/v.json","metadata":{"view-uuid":"u","format-version":1,"location":"s3://lake/v","current-version-id":1,"versions":[],"version-log":[],"schemas":[]}` + leak + `}`
	plan := `{"status":"completed","plan-id":"p"` + leak + `}`
	const home = "/v1/wh/namespaces/sales%1Feu%20west"
	for call, body := range map[string]string{
		"GET ": lakeLoad(leak), "POST ": lakeLoad(leak), "POST /unregister": lakeLoad(leak), "POST " + home + "/tables": lakeLoad(leak), "POST " + home + "/register": lakeLoad(leak),
		"GET /credentials": `{"storage-credentials":[{"prefix":"s3://lake","config":` + keys + `}]}`, "POST /sign": `{"uri":"http://x/y","headers":{"Authorization":["the-secret"]}}`,
		"POST /plan": plan, "GET /plan/p": plan, "DELETE /plan/p": "", "POST /tasks": `{"file-scan-tasks":[]` + leak + `}`,
		"GET " + home + "/views/v": view, "POST " + home + "/views": view, "POST " + home + "/views/v": view, "POST " + home + "/register-view": view,
	} {
		v.says(call, body)
	}
	for _, s := range front(t, v, func(c *rest.Config) { c.Withhold = true }) {
		const name, change = `"name":"daily/orders"`, `{"requirements":[],"updates":[]}`
		answered := 0
		for _, c := range [][3]string{
			{"GET", s.table, ""}, {"GET", s.table + "?snapshots=refs", ""}, {"HEAD", s.table, ""}, {"POST", s.table, change}, {"POST", s.table + "/unregister", ""},
			{"POST", s.home + "/tables", `{` + name + `,"schema":{"type":"struct","fields":[]}}`},
			{"POST", s.home + "/tables", `{` + name + `,"stage-create":true,"schema":{"type":"struct","fields":[]}}`},
			{"POST", s.home + "/register", `{` + name + `,"metadata-location":"s3://lake/m.json"}`},
			{"GET", s.table + "/credentials", ""}, {"GET", s.table + "/credentials?planId=p", ""},
			{"POST", s.table + "/sign", `{"method":"GET","uri":"http://x/y","region":"eu","headers":{}}`}, {"POST", s.table + "/sign?state=x", `{"method":"GET","uri":"http://x/y"}`},
			{"POST", s.table + "/plan", `{}`}, {"POST", s.table + "/tasks", `{"plan-task":"x"}`}, {"GET", s.table + "/plan/p", ""}, {"DELETE", s.table + "/plan/p", ""},
			{"GET", s.home + "/views/v", ""}, {"POST", s.home + "/views/v", change}, {"POST", s.home + "/register-view", `{"name":"v","metadata-location":"s3://lake/v.json"}`},
			{"POST", s.home + "/views", `{"name":"v","schema":{},"view-version":{"version-id":1,"timestamp-ms":1,"schema-id":0,"summary":{},"default-namespace":[],"representations":[]},"properties":{}}`},
		} {
			for _, ask := range []string{"X-Nothing: 1", askVended, askSigning, askVended + ",remote-signing"} {
				got := s.do(c[0], c[1], c[2], ask)
				whole := got.body
				for name, values := range got.header {
					whole += name + strings.Join(values, "")
				}
				for _, mark := range []string{"the-secret", "ASIAKEY", "the-token", "s3.signer", "signer.endpoint", "refresh-credentials", "session-token"} {
					if strings.Contains(whole, mark) {
						t.Errorf("%s %s with %s gives %q away: %d %s", c[0], c[1], ask, mark, got.status, got.body)
					}
				}
				if got.status < 300 {
					answered++
				}
			}
		}
		if answered < 40 {
			t.Errorf("only %d calls were answered: the hunt saw too little", answered)
		}
		for _, h := range v.heard() {
			if h.header.Get("X-Iceberg-Access-Delegation") != "" || strings.HasSuffix(h.path, "/credentials") || strings.HasSuffix(h.path, "/sign") {
				t.Errorf("the remote was asked for access: %s %s %v", h.method, h.path, h.header)
			}
		}
		if list := s.do("GET", strings.TrimSuffix(strings.SplitAfter(s.table, "v1/")[0], "")+"config?warehouse=partner", "").body; strings.Contains(list, "/credentials") || strings.Contains(list, "/sign") {
			t.Errorf("advertised: %s", list)
		}
	}
}
