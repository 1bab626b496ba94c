package rest_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
)

var planning = []capabilities.Op{capabilities.PlanScan, capabilities.FetchPlan, capabilities.CancelPlan, capabilities.FetchScanTasks, capabilities.LoadCredentials}

type plan struct {
	ID          string                     `json:"plan-id"`
	Tasks       []string                   `json:"plan-tasks"`
	Credentials []mounts.StorageCredential `json:"storage-credentials"`
}

func (r fetched) plan(t *testing.T) plan {
	t.Helper()
	var out plan
	if r.status != 200 || json.Unmarshal([]byte(r.body), &out) != nil {
		t.Fatalf("got %d %s", r.status, r.body)
	}
	return out
}

func TestAScanIsPlannedByTheRemoteUnderSealedNames(t *testing.T) {
	const tasks = `"file-scan-tasks":[ {"data-file":{"file-path":"s3://lake/x","n":9007199254740993,"a":1,"a":2},"delete-file-references":[1,0]} ], "delete-files":[{"b":1},{"a":2}]`
	v := newVendor(t, planning...)
	expiry := soon()
	credentials := `,"storage-credentials" : [{"prefix":"s3://lake/sales/orders","config":{` + s3Keys(expiry) + `,"token":"x"}}]`
	v.says("POST /plan", `{ "status":"submitted" , "plan-id":"p/1 ä" }`)
	v.says("GET /plan/p%2F1%20%C3%A4", `{"status":"completed","plan-tasks":["t 1","t/2"],`+tasks+credentials+`,"x-new":{ "k" : null}}`)
	v.says("DELETE /plan/p%2F1%20%C3%A4", "")
	v.says("POST /tasks", `{"plan-tasks":["t 3"],`+tasks+`}`)
	for _, s := range front(t, v) {
		const scan = `{"snapshot-id":9007199254740993, "filter":{"type":"lt","term":"a","value":1}}`
		got := s.do("POST", s.table+"/plan", scan, askVended)
		if v.last().body != scan || v.last().header.Get("Content-Type") != "application/json" {
			t.Errorf("sent %s", v.last().body)
		}
		id := got.plan(t).ID
		if !regexp.MustCompile(`^\{"status":"submitted","plan-id":"[A-Za-z0-9_-]+"\}$`).MatchString(got.body) || strings.Contains(id, "p/1") {
			t.Errorf("planned %s", got.body)
		}
		// With credentials that were not asked for.
		got = s.do("GET", s.table+"/plan/"+id, "")
		p := got.plan(t)
		want := `{"status":"completed","plan-tasks":["` + strings.Join(p.Tasks, `","`) + `"],` + strings.Replace(tasks, `], "delete`, `],"delete`, 1) + `,"x-new":{ "k" : null}}`
		if got.body != want || len(p.Tasks) != 2 {
			t.Errorf("%s: fetched\n%s\nwant\n%s", s.name, got.body, want)
		}
		got = s.do("GET", s.table+"/plan/"+id, "", askVended)
		p = got.plan(t)
		renew := s.table + "/credentials?planId=" + id
		config := map[string]string{"s3.access-key-id": "ASIAKEY", "s3.secret-access-key": "the-secret", "s3.session-token": "the-token", "s3.session-token-expires-at-ms": expiry,
			"client.refresh-credentials-endpoint": renew, "client.refresh-credentials-enabled": "true"}
		if len(p.Credentials) != 1 || !maps.Equal(p.Credentials[0].Config, config) || p.Credentials[0].Prefix != "s3://lake/sales/orders" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: credentials %v", s.name, p.Credentials)
		}
		v.says("GET /credentials", `{"storage-credentials":[{"prefix":"s3://lake","config":{`+s3Keys(expiry)+`}}]}`)
		if list := s.do("GET", renew, "").credentials(t); v.last().query != "planId=p%2F1%20%C3%A4" || list[0].Config["client.refresh-credentials-endpoint"] != renew {
			t.Errorf("renewed with %s: %v", v.last().query, list)
		}
		got = s.do("POST", s.table+"/tasks", `{ "other":1,"plan-task":"`+p.Tasks[1]+`"}`)
		if v.last().body != `{"other":1,"plan-task":"t/2"}` || !strings.HasSuffix(got.body, strings.Replace(tasks, `], "delete`, `],"delete`, 1)+`}`) || len(got.plan(t).Tasks) != 1 {
			t.Errorf("asked %s, got %s", v.last().body, got.body)
		}
		if got := s.do("DELETE", s.table+"/plan/"+id, ""); got.status != 204 || v.last().method != "DELETE" {
			t.Errorf("cancelled: %d %s", got.status, got.body)
		}

		asked := len(v.heard())
		for _, wrong := range []string{id[:len(id)-2] + "AA", p.Tasks[0], "p%2F1%20%C3%A4", "x"} {
			s.do("GET", s.table+"/plan/"+wrong, "").wantError(t, 404, "NoSuchPlanIdException")
			s.do("DELETE", s.table+"/plan/"+wrong, "").wantError(t, 404, "NoSuchPlanIdException")
		}
		s.do("GET", s.home+"/tables/other/plan/"+id, "").wantError(t, 404, "NoSuchPlanIdException", "eu west.other")
		s.do("POST", s.table+"/tasks", `{"plan-task":"`+id+`"}`).wantError(t, 404, "NoSuchPlanTaskException")
		s.do("POST", s.home+"/tables/other/tasks", `{"plan-task":"`+p.Tasks[0]+`"}`).wantError(t, 404, "NoSuchPlanTaskException")
		s.do("POST", s.table+"/tasks", `{}`).wantError(t, 400, "plan-task")
		s.do("POST", s.table+"/tasks", `{"plan-task":7}`).wantError(t, 400, "plan-task")
		if n := len(v.heard()); n != asked {
			t.Errorf("the remote was asked %d times with ids that are not ours", n-asked)
		}
	}
}

func TestTheStatesOfAPlanPassAndAFailureNamesNoAddress(t *testing.T) {
	v := newVendor(t, planning...)
	for _, s := range front(t, v) {
		for body, want := range map[string]string{
			`{"status":"cancelled"}`:       `{"status":"cancelled"}`,
			` { "status" : "completed" } `: ` { "status" : "completed" } `,
			`{"status":"completed","plan-id":null,"plan-tasks":null,"storage-credentials":[]}`:                                                                   `{"status":"completed","plan-id":null,"plan-tasks":null}`,
			`{"status":"failed","error":{"message":"wh.sales.eu west.daily/orders broke at http://10.0.0.1/x","type":"Broken","code":503,"stack":["com.evil"]}}`: `{"status":"failed","error":{"message":"the remote catalog could not plan the scan: `,
		} {
			v.says("POST /plan", body)
			got := s.do("POST", s.table+"/plan", `{}`, askVended)
			if got.status != 200 || !strings.HasPrefix(got.body, want) || strings.Contains(got.body, "10.0.0.1") || strings.Contains(got.body, "com.evil") || strings.Contains(got.body, "{object}") {
				t.Errorf("%s became %d %s", body, got.status, got.body)
			}
		}
		for _, body := range []string{`[]`, `{"status":"completed"`, `{"plan-tasks":[7]}`, `{"plan-id":"a","plan-id":"b"}`, `<html>`} {
			v.says("POST /plan", body)
			s.do("POST", s.table+"/plan", `{}`).wantError(t, 502)
		}
		// A task is as large as the remote makes it.
		large := strings.Repeat("m", 60<<10)
		v.says("POST /plan", `{"status":"completed","plan-id":"p","plan-tasks":["`+large+`"]}`)
		task := s.do("POST", s.table+"/plan", `{}`).plan(t).Tasks[0]
		v.says("POST /tasks", `{"file-scan-tasks":[]}`)
		if got := s.do("POST", s.table+"/tasks", `{"plan-task":"`+task+`"}`); got.status != 200 || got.body != `{"file-scan-tasks":[]}` || v.last().body != `{"plan-task":"`+large+`"}` {
			t.Errorf("a large task: %d %.200s", got.status, got.body)
		}
	}
}

func TestCredentialsOfAPlanAreHeldToTheSameRules(t *testing.T) {
	v := newVendor(t, planning...)
	for prefix, status := range map[string]int{"s3://lake/sales/orders": 200, "s3://lake": 403, "s3://hr": 403} {
		v.says("POST /plan", `{"status":"completed","plan-id":"p","storage-credentials":[{"prefix":"`+prefix+`","config":{`+s3Keys(soon())+`}}]}`)
		for _, s := range front(t, v, func(c *rest.Config) { c.AllowedLocations = []string{"s3://lake/sales"} }) {
			if got := s.do("POST", s.table+"/plan", `{}`, askVended); got.status != status {
				t.Errorf("%s: %d %s", prefix, got.status, got.body)
			}
			if got := s.do("POST", s.table+"/plan", `{}`); got.status != 200 || strings.Contains(got.body, "the-secret") {
				t.Errorf("%s, unasked: %d %s", prefix, got.status, got.body)
			}
		}
	}
}

func TestAMountWhoseRemoteDoesNotPlanSaysSo(t *testing.T) {
	v := newVendor(t)
	v.says("GET ", lakeLoad(`,"config":{"scan-planning-mode":"server"}`))
	for _, s := range front(t, v) {
		s.do("POST", s.table+"/plan", `{}`).wantError(t, 501, "UnsupportedOperationException")
		s.do("POST", s.table+"/tasks", `{"plan-task":"x"}`).wantError(t, 501)
		s.do("GET", s.table+"/plan/x", "").wantError(t, 501)
		// The remote's wish is kept: reading past it could read past a restriction.
		if got := s.do("GET", s.table, "").table(t); got.Config["scan-planning-mode"] != "server" {
			t.Errorf("the config is %v", got.Config)
		}
		if list := s.do("GET", "v1/config?warehouse=partner", "").body; strings.Contains(list, "/plan") || strings.Contains(list, "/tasks") {
			t.Errorf("advertised: %s", list)
		}
	}
}
