package cedar

import (
	"strings"
	"testing"
)

func TestConditionsAreKnownByWhatTheyCanTellApart(t *testing.T) {
	const child, other = `Icefield::Table::"prod/a/t"`, `Icefield::Table::"prod/b/t"`
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	for condition, tells := range map[string]bool{
		`principal.name == "x"`:       false,
		`context.write`:               false,
		`resource is Icefield::Table`: false,
		`resource has tenant`:         false,
		`resource has tenant && resource.tenant == Icefield::Tenant::"a"`:      false,
		`principal has tenant && resource in principal.tenant`:                 false,
		`resource in Icefield::Namespace::"prod/a"`:                            false,
		`resource is Icefield::Table in Icefield::Mount::"prod"`:               false,
		`resource == ` + other:                                                 false,
		`resource in [` + other + `, ` + other + `]`:                           false,
		`[` + other + `].contains(resource)`:                                   false,
		`resource == ` + child:                                                 true,
		child + ` != resource`:                                                 true,
		`resource in ` + child:                                                 true,
		`resource in [` + other + `, ` + child + `]`:                           true,
		`resource is Icefield::Table in ` + child:                              true,
		`[` + child + `].contains(resource)`:                                   true,
		`[` + other + `].containsAny([resource])`:                              true,
		`resource.name like "p*"`:                                              true,
		`context.write || resource.name == "x"`:                                true,
		`(if context.write then resource else resource) == ` + other:           true,
		`{r: resource}.r == ` + other:                                          true,
		`resource is Icefield::View && resource in context.referencedBy`:       true,
		`principal has tenant && !(resource.name != "t")`:                      true,
		`resource in (if context.write then ` + other + ` else ` + child + `)`: true,
	} {
		text := "permit (principal, action, resource is Icefield::Table) when { " + condition + " };"
		if strings.Contains(condition, "View") {
			text = strings.Replace(text, "resource is Icefield::Table)", "resource)", 1)
		}
		var problems Problems
		statements := parse(file{path: "x", text: []byte(text)}, &problems)
		if len(statements) != 1 {
			t.Fatalf("%s: %v", condition, problems.err())
		}
		r := v.check(statements[0], &problems)
		if problems.err() != nil {
			t.Errorf("%s: %v", condition, problems.err())
		}
		if got := r.reads.siblings(kindTable, "prod/a"); got != tells {
			t.Errorf("%s: tells tables of prod/a apart: %v", condition, got)
		}
	}
}
