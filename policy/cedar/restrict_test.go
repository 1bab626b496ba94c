package cedar

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/icefield/icefield/policy"
)

const (
	norway = `{"type": "eq", "term": "country", "value": "NO"}`
	sweden = `{"type": "eq", "left": {"type": "reference", "name": "country"}, "right": {"type": "literal", "value": "SE", "data-type": "string"}}`
)

// restricting writes a permit for a group with annotations.
func restricting(group, annotations string) string {
	return fmt.Sprintf("@id(%q) %s permit (principal in Icefield::Group::\"acme/%s\", action in Icefield::Action::\"read\", resource in Icefield::Mount::\"prod\");\n", group, annotations, group)
}

func rowFilter(json string) string { return fmt.Sprintf("@row_filter(%q)", json) }

func TestRestrictionsOfAllPermitsInEffectCombine(t *testing.T) {
	s := load(t, map[string]string{"": restricting("no", rowFilter(norway)+` @mask("email=mask-alphanum, name=show-first-4")`) +
		restricting("se", rowFilter(sweden)+` @mask("email=replace-with-null")`) +
		restricting("no2", rowFilter(norway)) +
		restricting("masked", `@mask("email=sha-256-global,ssn=mask-to-fixed-value")`) +
		restricting("all", "")})
	for _, c := range []struct {
		roles   []string
		filters []string
		masks   map[string]string
	}{
		{[]string{"no"}, []string{norway}, map[string]string{"email": "mask-alphanum", "name": "show-first-4"}},
		{[]string{"no", "se"}, []string{norway, sweden}, map[string]string{"email": "replace-with-null", "name": "show-first-4"}},
		{[]string{"no", "no2"}, []string{norway}, map[string]string{"email": "mask-alphanum", "name": "show-first-4"}},
		{[]string{"no2"}, []string{norway}, nil},
		{[]string{"masked"}, nil, map[string]string{"email": "sha-256-global", "ssn": "mask-to-fixed-value"}},
		{[]string{"masked", "no"}, nil, map[string]string{"email": "sha-256-global", "name": "show-first-4", "ssn": "mask-to-fixed-value"}},
		{[]string{"all"}, nil, nil},
		{[]string{"all", "masked", "no", "se"}, nil, nil},
	} {
		for _, action := range []policy.Action{"loadTable", "planScan"} {
			d := decide(t, s, user("acme", "x", c.roles...), action, table("acme", "prod", "crm", "customers"))
			if !d.Allowed || len(d.Policies) != len(c.roles) {
				t.Errorf("%v: %+v", c.roles, d)
			}
			var got policy.Restrictions
			if d.Restrictions != nil {
				got = *d.Restrictions
			}
			var filters []string
			for _, f := range got.Filters {
				filters = append(filters, string(f))
			}
			if strings.Join(filters, "\n") != strings.Join(c.filters, "\n") || !maps.Equal(got.Masks, c.masks) || (d.Restrictions == nil) != (c.filters == nil && c.masks == nil) {
				t.Errorf("%v: %+v", c.roles, got)
			}
		}
	}
	if d := decide(t, s, user("acme", "x", "no"), "loadView", func() policy.Resource {
		r := table("acme", "prod", "crm", "v")
		r.Kind = policy.KindView
		return r
	}()); !d.Allowed || d.Restrictions != nil {
		t.Errorf("a view: %+v", d)
	}
}

func TestRestrictionsOfADecisionAreTheCallersOwn(t *testing.T) {
	s := load(t, map[string]string{"": restricting("no", rowFilter(norway)+` @mask("email=mask-alphanum")`)})
	who, what := user("acme", "x", "no"), table("acme", "prod", "crm", "customers")
	first := decide(t, s, who, "loadTable", what).Restrictions
	first.Filters[0][0], first.Masks["email"] = 'x', "show-last-4"
	if second := decide(t, s, who, "loadTable", what).Restrictions; string(second.Filters[0]) != norway || second.Masks["email"] != "mask-alphanum" {
		t.Errorf("%+v", second)
	}
}

func TestMasksAreReadColumnByColumn(t *testing.T) {
	got, err := parseMasks(" email = mask-alphanum,address.street=replace-with-null , a b=truncate-to-year")
	if err != nil || !maps.Equal(got, map[string]string{"email": "mask-alphanum", "address.street": "replace-with-null", "a b": "truncate-to-year"}) {
		t.Errorf("%v %v", got, err)
	}
	for _, bad := range []string{"", ",", "email", "email=", "=mask-alphanum", "a=mask-alphanum,", "a=mask-alphanum,a=mask-alphanum", "a=MASK-ALPHANUM",
		"a=apply-expression", strings.Repeat("x", 1001) + "=mask-alphanum", manyMasks(1001)} {
		if got, err := parseMasks(bad); err == nil {
			t.Errorf("%.40q is read as %v", bad, got)
		}
	}
}

func manyMasks(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("c%d=mask-alphanum", i))
	}
	return strings.Join(list, ",")
}

func TestRowFiltersAreExpressionsInEitherForm(t *testing.T) {
	for _, good := range []string{
		`true`, `false`, `{"type":"true"}`, norway, sweden,
		`{"type":"and","left":true,"right":` + norway + `}`,
		`{"type":"or","left":` + sweden + `,"right":{"type":"not","child":` + norway + `}}`,
		`{"type":"is-null","term":"a.b"}`, `{"type":"not-nan","child":{"type":"reference","name":"x"}}`,
		`{"type":"in","term":"country","values":["NO","SE"]}`, `{"type":"not-in","child":{"type":"reference","name":"x"},"values":{"type":"literals","values":[1,2],"data-type":"int"}}`,
		`{"type":"in","term":"x","values":[{"type":"literal","value":1}]}`,
		`{"type":"lt","term":{"type":"transform","transform":"year","term":"id"},"value":3}`, `{"type":"eq","left":{"type":"reference","id":3},"right":1}`,
		`{"type":"starts-with","left":{"type":"apply","function":"year","arguments":[{"type":"reference","name":"ts"}]},"right":"20"}`,
		`{"type":"eq","term":{"type":"reference","name":"x"},"value":1.5}`,
	} {
		if err := policy.CheckFilter(json.RawMessage(good)); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for _, bad := range []string{
		``, `null`, `1`, `"true"`, `[]`, `{}`, `{"type":1}`, `{"type":"maybe"}`, `true true`, `{"type":"eq","term":"x","value":1`, `{"type":"true","x":1}`,
		`{"type":"eq","term":"x"}`, `{"type":"eq","value":1}`, `{"type":"eq","term":"x","value":null}`, `{"type":"eq","term":"x","value":[1]}`, `{"type":"eq","term":"","value":1}`,
		`{"type":"eq","term":"x","value":1,"values":[1]}`, `{"type":"eq","term":"x","term":"y","value":1}`, `{"type":"eq","term":"x","left":{"type":"reference","name":"x"},"value":1}`,
		`{"type":"eq","term":"x","value":1,"right":1}`, `{"type":"lt","term":{"type":"transform","transform":"bucket[16]","term":"id"},"value":3}`, `{"type":"eq","left":{"type":"column","name":"x"},"right":1}`,
		`{"type":"and","left":true}`, `{"type":"and","left":true,"right":"x"}`, `{"type":"not","child":null}`, `{"type":"is-null"}`, `{"type":"is-null","term":{"type":"transform","term":"x"}}`,
		`{"type":"in","term":"x"}`, `{"type":"in","term":"x","values":3}`, `{"type":"in","term":"x","values":[[1]]}`, `{"type":"in","term":"x","values":{"type":"literals","values":[1]}}`,
		`{"type":"eq","left":{"type":"apply","arguments":[]},"right":1}`, `{"type":"eq","left":{"type":"apply","function":"f"},"right":1}`,
		`{"type":"eq","left":{"type":"literal","value":1,"data-type":3},"right":1}`,
		strings.Repeat(`{"type":"not","child":`, 70) + "true" + strings.Repeat("}", 70),
		`{"type":"in","term":"x","values":[` + strings.Repeat("1,", 6000) + `1]}`,
		`{"type":"eq","term":"x","value":"` + strings.Repeat("x", 64<<10) + `"}`,
	} {
		if err := policy.CheckFilter(json.RawMessage(bad)); err == nil {
			t.Errorf("%.100s is taken for an expression", bad)
		}
	}
}

func FuzzRowFilterIsReadOrRefused(f *testing.F) {
	f.Add(norway)
	f.Add(sweden)
	f.Add(strings.Repeat("[", 100))
	f.Fuzz(func(t *testing.T, text string) {
		if policy.CheckFilter(json.RawMessage(text)) == nil && !json.Valid([]byte(text)) {
			t.Errorf("%q is no JSON", text)
		}
	})
}
