package router

import (
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestReferencedByIsReadFromTheRawQuery(t *testing.T) {
	for query, want := range map[string]string{
		"":                                   "[]",
		"referenced-by=":                     "[]",
		"referenced-by=a%1Fv":                "[a|v]",
		"x=1&referenced-by=a%1Fb%1Fv":        "[a/b|v]",
		"referenced-by=a%1Fv,b%1fw":          "[a|v b|w]",
		"referenced-by=a+b%1Fv%2C1,b%1Fw":    "[a b|v,1 b|w]",
		"referenced-by=a%1Fv%2Cb%1Fw":        "[a|v b|w]", // commas encoded too: the second guess
		"referenced-by=a%1Fv%2C1":            "[a|v,1]",
		"referenced-by=v":                    "[]", // no namespace
		"referenced-by=a%1F":                 "[]",
		"referenced-by=a%1Fv,":               "[]",
		"referenced-by=%zz":                  "[]",
		"referenced-by=a%1Fv,%zz":            "[]",
		"referenced-by=a%1Fv%00":             "[]",
		"preferenced-by=a%1Fv":               "[]",
		"referenced-by=" + many("a%1Fv", 64): "[" + strings.TrimSuffix(strings.Repeat("a|v ", 64), " ") + "]",
		"referenced-by=" + many("a%1Fv", 65): "[]",
	} {
		got := []string{}
		for _, id := range readReferencedBy(query) {
			got = append(got, strings.Join(id.Namespace, "/")+"|"+id.Name)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%.80q: %v, want %s", query, got, want)
		}
	}
}

func many(s string, n int) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }

func TestParametersAreCheckedAndUnknownOnesIgnored(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	const table = "/v1/namespaces/a/tables/t"
	for query, want := range map[string]mounts.Snapshots{"": "", "?snapshots=all": "all", "?snapshots=refs&x=%zz;": "refs"} {
		w.do("GET", table+query, "")
		if got := s.last().(*mounts.LoadTableRequest).Snapshots; got != want {
			t.Errorf("%q: snapshots %q", query, got)
		}
	}
	for _, bad := range []string{"", "ALL", "some"} {
		w.do("GET", table+"?snapshots="+bad, "").wantError(t, 400, "BadRequestException")
	}
	for text, want := range map[string]bool{"": false, "true": true, "True": true, "TRUE": true, "1": true, "false": false, "False": false} {
		w.do("DELETE", table+"?purgeRequested="+text, "").want(t, 204, "")
		if got := s.last().(*mounts.DropTableRequest).Purge; got != want {
			t.Errorf("purgeRequested=%s: %v", text, got)
		}
	}
	before := len(s.asked)
	w.do("DELETE", table+"?purgeRequested=yes", "").wantError(t, 400, "BadRequestException")
	if len(s.asked) != before {
		t.Error("a drop with a purge that nobody understands went through")
	}
}

func TestHeadersTooLongToBeMeantAreDropped(t *testing.T) {
	s, b := scripted(typical)
	w := over(t, b)
	w.do("GET", "/v1/namespaces/a/tables/t", "", "If-None-Match: "+strings.Repeat("x", maxHeader+1), `X-Iceberg-Access-Delegation: vended-credentials,unknown`)
	got := s.last().(*mounts.LoadTableRequest)
	if got.IfNoneMatch != "" || got.Delegation != "vended-credentials,unknown" {
		t.Errorf("asked %#v", got)
	}
}
