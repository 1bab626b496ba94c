package rest_test

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
)

func TestFunctionsAreForwardedUnderTheMountsOwnNames(t *testing.T) {
	v := newVendor(t, capabilities.ListFunctions, capabilities.LoadFunction)
	const home, definition = "/v1/wh/namespaces/sales%1Feu%20west", `{"metadata-location":"s3://lake/f.json", "metadata":{"function-uuid":"f","n":9007199254740993}}`
	v.says("GET "+home+"/functions", `{"identifiers":[["sales","eu west","mask"],["else","where","a/b"]],"next-page-token":"more"}`)
	v.says("GET "+home+"/functions/a%2Fb", definition)
	for _, s := range front(t, v) {
		inside := map[string]string{"tree": `"partner","sales","eu west"`, "mount": `"sales","eu west"`}[s.name]
		got := s.do("GET", s.home+"/functions?pageToken=&pageSize=2", "")
		if want := `{"identifiers":[[` + inside + `,"mask"],[` + inside + `,"a/b"]],"next-page-token":"`; !strings.HasPrefix(got.body, want) || strings.Contains(got.body, `"more"`) {
			t.Fatalf("%s: %d %s", s.name, got.status, got.body)
		}
		_, token, _ := strings.Cut(got.body, `next-page-token":"`)
		token = strings.TrimSuffix(token, `"}`)
		if s.do("GET", s.home+"/functions?pageToken="+token, ""); !strings.HasPrefix(v.last().query, "pageToken=more&") {
			t.Errorf("%s: the token %s leads to %s", s.name, token, v.last().query)
		}
		if got := s.do("GET", s.home+"/functions/a%2Fb", ""); got.status != 200 || got.body != definition {
			t.Errorf("%s: %d %s", s.name, got.status, got.body)
		}
		s.do("GET", s.home+"/functions/absent", "").wantError(t, 404, "NoSuchFunctionException", "Function does not exist: ", "eu west.absent")
		s.do("GET", strings.Replace(s.home, "sales", "absent", 1)+"/functions", "").wantError(t, 404, "NoSuchNamespaceException")
		if list := s.do("GET", "v1/config?warehouse=partner", "").body; !strings.Contains(list, `"GET /v1/{prefix}/namespaces/{namespace}/functions/{function}"`) {
			t.Errorf("not advertised: %s", list)
		}
	}
	for _, s := range front(t, newVendor(t)) {
		s.do("GET", s.home+"/functions", "").wantError(t, 501, "UnsupportedOperationException")
		s.do("GET", s.home+"/functions/f", "").wantError(t, 501, "UnsupportedOperationException")
	}
}

func TestAFunctionThatIsNotTheProtocolIsAnError(t *testing.T) {
	v := newVendor(t, capabilities.ListFunctions, capabilities.LoadFunction)
	const home = "/v1/wh/namespaces/sales%1Feu%20west/functions"
	s := front(t, v)[0]
	for _, body := range []string{`{}`, `[]`, `{"metadata":[]}`, `{"metadata":{}}{}`, `<html>`} {
		v.says("GET "+home+"/f", body)
		s.do("GET", s.home+"/functions/f", "").wantError(t, 502)
	}
	for _, row := range []string{`"f"`, `[]`, `[""]`, `{"namespace":["a"],"name":"f"}`, `[7]`} {
		v.says("GET "+home, `{"identifiers":[`+row+`]}`)
		s.do("GET", s.home+"/functions", "").wantError(t, 502)
	}
	v.says("GET "+home+"/f", `{"metadata":{},"config":{"s3.secret-access-key":"the-secret"},"storage-credentials":[]}`)
	if got := s.do("GET", s.home+"/functions/f", ""); got.body != `{"metadata":{}}` {
		t.Errorf("got %d %s", got.status, got.body)
	}
}
