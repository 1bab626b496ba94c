package rest_test

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts/rest"
)

func TestALocationOutsideOfTheAllowedOnesIsRefusedBeforeAnythingIsSent(t *testing.T) {
	v := newVendor(t, capabilities.CreateView, capabilities.ReplaceView, capabilities.RegisterView, capabilities.CommitTransaction)
	v.says("POST ", lakeLoad(""))
	v.says("POST /v1/wh/namespaces", `{"namespace":["sales"],"properties":{}}`)
	for _, s := range front(t, v, func(c *rest.Config) { c.AllowedLocations = []string{"s3://lake/"} }) {
		const schema = `"name":"daily/orders","schema":{"type":"struct","fields":[]},`
		const identifier = `{"namespace":["partner","sales","eu west"],"name":"daily/orders"}`
		tree := strings.Contains(s.home, "partner%1F")
		in := func(text string) string {
			if tree {
				return text
			}
			return strings.Replace(text, `"partner",`, "", 1)
		}
		root := strings.TrimSuffix(s.home, s.home[strings.Index(s.home, "/namespaces"):])
		view := strings.Replace(s.table, "/tables/", "/views/", 1)
		for name, call := range map[string]struct{ path, body string }{
			"create":            {s.home + "/tables", `{` + schema + `"location":"LOCATION"}`},
			"create, data path": {s.home + "/tables", `{` + schema + `"properties":{"write.data.path":"LOCATION"}}`},
			"stage":             {s.home + "/tables", `{` + schema + `"stage-create":true,"location":"LOCATION"}`},
			"register":          {s.home + "/register", `{"name":"daily/orders","metadata-location":"LOCATION/m.json"}`},
			"commit":            {s.table, `{"requirements":[],"updates":[{"action":"x"},{"action":"set-location","location":"LOCATION"}]}`},
			"commit, data path": {s.table, `{"requirements":[],"updates":[{"action":"set-properties","updates":{"write.data.path":"LOCATION"}}]}`},
			"another spelling":  {s.table, `{"requirements":[],"updates":[{"action":"set-location","location":"s3://lake/wh/t","Location":"LOCATION"}]}`},
			"creating commit":   {s.table, `{"requirements":[{"type":"assert-create"}],"updates":[{"action":"set-location","location":"LOCATION"}]}`},
			"transaction":       {root + "/transactions/commit", `{"table-changes":[{"identifier":` + in(identifier) + `,"updates":[{"action":"set-location","location":"LOCATION"}]}]}`},
			"create a view":     {s.home + "/views", `{` + schema + `"view-version":{},"location":"LOCATION"}`},
			"replace a view":    {view, `{"updates":[{"action":"set-location","location":"LOCATION"}]}`},
			"register a view":   {s.home + "/register-view", `{"name":"daily/orders","metadata-location":"LOCATION/m.json"}`},
			"a namespace":       {root + "/namespaces", in(`{"namespace":["partner","sales"],"properties":{"location":"LOCATION"}}`)},
			"a namespace's":     {s.home + "/properties", `{"updates":{"location":"LOCATION"}}`},
		} {
			for _, location := range []string{"s3://elsewhere/t", "s3://lake/../hr", "s3://lakeside/t"} {
				before := len(v.heard())
				got := s.do("POST", call.path, strings.Replace(call.body, "LOCATION", location, 1))
				if got.wantError(t, 400, "allowed_locations"); len(v.heard()) != before {
					t.Errorf("%s of %s at %s was sent, and answered %d %s", name, s.name, location, got.status, got.body)
				}
			}
			before := len(v.heard())
			if s.do("POST", call.path, strings.Replace(call.body, "LOCATION", "s3://lake/t", 1)); len(v.heard()) != before+1 {
				t.Errorf("%s of %s inside was not sent", name, s.name)
			}
		}
	}
}
