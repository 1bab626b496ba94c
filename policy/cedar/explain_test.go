package cedar

import (
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/policy"
)

func TestExplainNamesEveryPolicyThatHadToDoWithIt(t *testing.T) {
	s := load(t, map[string]string{"": `
		@id("p") permit (principal, action, resource in Icefield::Mount::"prod");
		@id("q") permit (principal, action, resource) when { context.write };
		@id("r") permit (principal, action, resource) when { resource.name == "t" };
		@id("f") forbid (principal, action, resource is Icefield::Table);
		@id("x") permit (principal, action, resource) when { 9223372036854775807 + (if resource.name == "t" then 1 else 0) > 0 };
		@id("elsewhere") permit (principal, action, resource in Icefield::Mount::"part");
	`})
	names := func(list []Policy) string {
		var ids []string
		for _, p := range list {
			ids = append(ids, p.ID)
		}
		return strings.Join(ids, " ")
	}
	e := s.Explain(t.Context(), policy.Question{Principal: user("acme", "a"), Action: "loadTable", Resource: table("acme", "prod", "t")})
	if e.Allowed || !slices.Equal(e.Policies, []string{"f"}) || e.Err == nil {
		t.Errorf("%+v", e.Decision)
	}
	if names(e.Permits) != "p r" || names(e.Forbids) != "f" || names(e.Failed) != "x" || names(e.Unmet) != "q" {
		t.Errorf("permits %s, forbids %s, failed %s, unmet %s", names(e.Permits), names(e.Forbids), names(e.Failed), names(e.Unmet))
	}
}
