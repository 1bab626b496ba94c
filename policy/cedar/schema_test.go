package cedar

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

func TestSchemaHasEveryActionInItsGroupsAndNoOther(t *testing.T) {
	var s schema.Schema
	if err := s.UnmarshalCedar([]byte(Schema())); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"list", "read", "write", "manage"}
	for _, a := range policy.Actions() {
		known = append(known, string(a))
		declared, ok := r.Actions[types.NewEntityUID(typeAction, types.String(a))]
		if !ok {
			t.Errorf("%s is missing", a)
			continue
		}
		var groups []string
		for p := range declared.Entity.Parents.All() {
			groups = append(groups, string(p.ID))
		}
		var want []string
		for _, g := range policy.Groups(a) {
			want = append(want, string(g))
		}
		slices.Sort(groups)
		slices.Sort(want)
		if !slices.Equal(groups, want) {
			t.Errorf("%s is in %v, not in %v", a, groups, want)
		}
		if declared.AppliesTo == nil || !slices.Equal(declared.AppliesTo.Principals, []types.EntityType{typeUser}) || len(declared.AppliesTo.Resources) == 0 {
			t.Errorf("%s applies to %+v", a, declared.AppliesTo)
		}
	}
	for uid := range r.Actions {
		if !slices.Contains(known, string(uid.ID)) {
			t.Errorf("there is no action %s", uid.ID)
		}
	}
}

func TestActionsApplyToTheKindThatTheirOperationIsAbout(t *testing.T) {
	v, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	container := uint8(1<<kindMount | 1<<kindNamespace)
	for _, row := range capabilities.Operations() {
		want := container
		switch {
		case row.Role == capabilities.Namespaces, strings.HasPrefix(row.Name, "list"):
		case row.Role == capabilities.Views:
			want = 1 << kindView
		case row.Role == capabilities.Functions:
			want = 1 << 5
		default:
			want = 1 << kindTable
		}
		if got := v.actions[policy.ActionOf(row.Op)].kinds; got != want {
			t.Errorf("%s applies to kinds %b, not %b", row.Name, got, want)
		}
	}
}

func TestEntitiesAndContextAreThoseOfTheSchema(t *testing.T) {
	var sch schema.Schema
	if err := sch.UnmarshalCedar([]byte(Schema())); err != nil {
		t.Fatal(err)
	}
	r, err := sch.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	v := validate.New(r)
	vocabulary, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	set := &Set{vocabulary: vocabulary, people: newPeople(), decided: newDecisions(maxDecisions)}
	for _, tenant := range []string{"acme", ""} {
		for _, kind := range kinds {
			q := policy.Question{Principal: user(tenant, "alice", "a", "b"), Resource: policy.Resource{Kind: kind, Mount: "prod", Path: mounts.Namespace{"prod", "a", "b"}, Name: "t", Tenant: tenant}}
			q.Context.ReferencedBy = []policy.Resource{{Kind: policy.KindView, Mount: "prod", Path: mounts.Namespace{"prod"}, Name: "v"}}
			if tenant != "" {
				q.Context.Client = addrOf(t, "10.0.0.1")
			}
			for name, a := range vocabulary.actions {
				k, _ := kindNumber(kind)
				if a.kinds&(1<<k) == 0 {
					continue
				}
				q.Action = name
				about, err := set.prepare(&q, q.Resource)
				if err != nil {
					t.Fatal(err)
				}
				if err := v.Request(about.asked(true, true)); err != nil {
					t.Errorf("%s of a %s: %v", name, kind, err)
				}
				for _, uid := range []types.EntityUID{about.subject.uid, about.object.uid()} {
					e, ok := about.Get(uid)
					if !ok {
						t.Fatalf("%s is not found", uid)
					}
					if err := v.Entity(e); err != nil {
						t.Errorf("%s: %v", uid, err)
					}
				}
			}
		}
	}
}

func TestPoliciesOfThePackageDocumentationLoad(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var policies strings.Builder
	for _, block := range regexp.MustCompile(`(?m)^//\t(@|permit|forbid).*\n(//\t.*\n)*`).FindAllString(string(text), -1) {
		policies.WriteString(regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(block, "") + "\n")
	}
	s := load(t, map[string]string{"": policies.String()})
	if s.Len() != 8 {
		t.Errorf("%d policies found in doc.go", s.Len())
	}
	outside := policy.Question{Principal: user("acme", "alice"), Action: "commitTable", Resource: table("acme", "prod", "sales", "orders")}
	if d := s.Decide(t.Context(), outside); !slices.Equal(d.Policies, []string{"changes from inside only"}) {
		t.Errorf("%+v", d)
	}
	if d := decide(t, s, user("acme", "sam", "support"), "loadTable", table("acme", "prod", "crm", "customers")); !d.Allowed || len(d.Restrictions.Masks) != 2 || len(d.Restrictions.Filters) != 1 {
		t.Errorf("%+v", d)
	}
	if d := decide(t, s, user("acme", "alice"), "loadTable", table("acme", "prod", "hr", "payroll")); !d.Allowed || d.Restrictions != nil {
		t.Errorf("%+v", d)
	}
}
