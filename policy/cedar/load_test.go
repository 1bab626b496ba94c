package cedar

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// refused loads what is to be refused.
func refused(t *testing.T, src Source) *Problems {
	t.Helper()
	s, err := Load(src)
	var p *Problems
	if s != nil || !errors.As(err, &p) {
		t.Fatalf("it is loaded: %v", err)
	}
	return p
}

func TestWhatIsWrongIsNamedWithFileLineColumnAndID(t *testing.T) {
	permit := func(conditions string) string { return "permit (principal, action, resource) " + conditions + ";" }
	for name, c := range map[string]struct {
		text         string
		line, column int
		id           string
		says         string
	}{
		"syntax":                       {"permit (principal, action, resource);\n  permit (principal action, resource);", 2, 27, "", `cannot be read as Cedar: at ","`},
		"a text that is not closed":    {"permit (principal, action, resource) when { resource.name == \"x };", 1, 62, "", "cannot be read as Cedar: literal not terminated"},
		"an attribute that is not":     {"@id(\"x\")\n" + permit("when { resource.nam == \"x\" }"), 1, 1, "x", "nam"},
		"a tenant that may be absent":  {"@id(\"x\")" + permit("when { resource in principal.tenant }"), 1, 1, "x", "tenant"},
		"an action that is not":        {"permit (principal, action == Icefield::Action::\"loadtable\", resource);", 1, 1, "F:1:1", `did you mean Icefield::Action::"loadTable"?`},
		"a group that is not":          {"permit (principal, action in Icefield::Action::\"reads\", resource);", 1, 1, "F:1:1", `did you mean Icefield::Action::"read"?`},
		"an action of no kind":         {"permit (principal, action == Action::\"loadTable\", resource);", 1, 1, "F:1:1", `did you mean Icefield::Action::"loadTable"?`},
		"an action like no other":      {"permit (principal, action == Icefield::Action::\"frobnicate\", resource);", 1, 1, "F:1:1", "the groups list, read, write and manage"},
		"a type without its namespace": {"permit (principal == User::\"corp/alice\", action, resource);", 1, 1, "F:1:1", "did you mean Icefield::User?"},
		"a type that is not":           {"permit (principal in Icefield::Role::\"x\", action, resource);", 1, 1, "F:1:1", "did you mean Icefield::Group?"},
		"types that do not fit":        {"// …\n" + permit("when { principal.name > 3 }"), 2, 1, "F:2:1", "expected"},
		"what can apply to nothing":    {"permit (principal, action == Icefield::Action::\"loadTable\", resource is Icefield::View);", 1, 1, "F:1:1", "action"},
		"an annotation that is not":    {"@rowfilter(\"true\")\n" + permit(""), 1, 1, "F:1:1", "no annotation @rowfilter"},
		"two of one id":                {"@id(\"x\")" + permit("") + "\n@id(\"x\")" + permit(""), 2, 1, "x", "F:1:1"},
		"an empty id":                  {"@id(\"\")" + permit(""), 1, 1, "", "@id"},
		"an id with a line break":      {"@id(\"a\\nb\")" + permit(""), 1, 1, "", "control characters"},
		"an id of the server's own":    {"@id(\"builtin-x\")" + permit(""), 1, 1, "", "kept for"},
		"operator as id":               {"@id(\"operator\")" + permit(""), 1, 1, "", "kept for"},
		"something asked of a literal": {permit("when { Icefield::Group::\"acme/x\" in Icefield::Tenant::\"acme\" }"), 1, 1, "F:1:1", "spelled out"},
		"an attribute of a literal":    {permit("when { (if context.write then Icefield::Table::\"prod/t\" else Icefield::Table::\"prod/u\").name == \"x\" }"), 1, 1, "F:1:1", "spelled out"},
		"brackets upon brackets":       {"\n" + permit("when { "+strings.Repeat("(", 70)+"true"+strings.Repeat(")", 70)+" }"), 2, 108, "", "brackets"},
		"a policy without end":         {permit("when { true" + strings.Repeat(" && true", 10_000) + " }"), 1, 65537, "", "longer than 64 KiB"},
		"no UTF-8":                     {permit("when { resource.name == \"\xff\" }"), 0, 0, "", "UTF-8"},
		"a filter on a forbid":         {"@row_filter(\"true\") forbid (principal, action, resource);", 1, 1, "F:1:1", "forbid cannot restrict"},
		"a filter on writes":           {"@row_filter(\"true\") permit (principal, action in Icefield::Action::\"write\", resource);", 1, 1, "F:1:1", "does not permit loadTable"},
		"a mask on views":              {"@mask(\"a=replace-with-null\") permit (principal, action, resource is Icefield::View);", 1, 1, "F:1:1", "does not permit loadTable"},
		"a mask in a view":             {"@mask(\"a=replace-with-null\") permit (principal, action, resource == Icefield::View::\"prod/v\");", 1, 1, "F:1:1", "does not permit loadTable"},
		"a filter that is none":        {"@row_filter(\"country = 'NO'\") permit (principal, action, resource);", 1, 1, "F:1:1", "@row_filter: the row filter is not an expression"},
		"a mask that is none":          {"@mask(\"a=rot13\") permit (principal, action, resource);", 1, 1, "F:1:1", `"rot13" is no column action`},
	} {
		t.Run(name, func(t *testing.T) {
			src := written(t, map[string]string{"": c.text})
			found := refused(t, src).Findings[0]
			here := strings.NewReplacer("F", src.Files[0])
			if found.File != src.Files[0] || found.Line != c.line || found.Column != c.column || found.Policy != here.Replace(c.id) {
				t.Errorf("%+v", found)
			}
			if !strings.Contains(found.Problem, c.says) && !strings.Contains(found.Problem, here.Replace(c.says)) || strings.Contains(found.Problem, "<input>") {
				t.Errorf("it says %q", found.Problem)
			}
		})
	}
}

func TestEveryMistakeOfASetIsFoundUpToABound(t *testing.T) {
	src := written(t, map[string]string{
		"":     "permit (principal, action, resource) when { resource.nam };\npermit (principal, action, resource);\npermit (principal, action, resource) when { 1 };",
		"acme": "permit (principal",
	})
	src.Files = append(src.Files, "/nowhere/*.cedar")
	p := refused(t, src)
	for _, want := range []string{":1:1: ", ":3:1: ", "/nowhere/*.cedar: there is no such file", "policies-acme.cedar:1:18: cannot be read"} {
		if !strings.Contains(p.Error(), want) {
			t.Errorf("%q is missing in\n%s", want, p)
		}
	}
	many := written(t, map[string]string{"": strings.Repeat("permit (principal, action, resource) when { resource.nam };", 300)})
	if p := refused(t, many); len(p.Findings) != maxFindings || len(p.Findings)+p.More < 300 || !strings.HasSuffix(p.Error(), "more") {
		t.Errorf("%d findings and %d more", len(p.Findings), p.More)
	}
}

func TestFilesThatCannotBeReadAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.cedar")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large.cedar")
	write(t, large, strings.Repeat(" ", maxFile+1))
	dangling := filepath.Join(dir, "dangling.cedar")
	if err := os.Symlink("nowhere", dangling); err != nil {
		t.Fatal(err)
	}
	for glob, says := range map[string]string{
		dir: "is not a file", pipe: "is not a file", large: "longer than 4 MiB", dangling: "cannot be read: no such file",
		dir + "/none.cedar": "there is no such file", dir + "/[": "no pattern",
	} {
		p := refused(t, Source{Files: []string{glob}, Builtin: true})
		if len(p.Findings) != 1 || p.Findings[0].File != glob || !strings.Contains(p.Findings[0].Problem, says) {
			t.Errorf("%s: %v", glob, p)
		}
	}
}

func TestTooManyFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles + 1 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.cedar", i)), "")
	}
	if p := refused(t, Source{Files: []string{dir + "/*"}}); !strings.Contains(p.Error(), "more than 1000 policy files") {
		t.Error(p)
	}
}

func TestTooMuchTextInAllIsRefused(t *testing.T) {
	dir := t.TempDir()
	for i := range maxTotal/maxFile + 1 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.cedar", i)), strings.Repeat("\n", maxFile))
	}
	if p := refused(t, Source{Files: []string{dir + "/*"}}); !strings.Contains(p.Error(), "together are longer than 32 MiB") {
		t.Error(p)
	}
}

func TestTooManyPoliciesAreRefused(t *testing.T) {
	many := func(n int) string {
		return strings.Repeat("permit(principal,action==Icefield::Action::\"readMetrics\",resource);\n", n)
	}
	if p := refused(t, written(t, map[string]string{"": many(maxPolicies + 1)})); !strings.Contains(p.Error(), "more than 50000 policies") {
		t.Error(p)
	}
	if p := refused(t, written(t, map[string]string{"": many(1), "acme": many(maxTenantPolicies + 1)})); !strings.Contains(p.Error(), "more than 10000 policies") {
		t.Error(p)
	}
}

func TestTextsAndCommentsDoNotCountAsBrackets(t *testing.T) {
	load(t, map[string]string{"": "// " + strings.Repeat("(", 100) + "\npermit (principal, action, resource) when { resource.name == \"" + strings.Repeat("(\\\"", 100) + "\" };"})
}

func TestAFileThatTwoGlobsFindIsReadOnce(t *testing.T) {
	src := written(t, map[string]string{"": `@id("x") permit (principal, action, resource);`})
	src.Files = append(src.Files, filepath.Join(filepath.Dir(src.Files[0]), "*.cedar"))
	s, err := Load(src)
	if err != nil || s.Len() != 1 {
		t.Fatal(err)
	}
}

func TestTenantsNeedNotKnowOfEachOthersIDs(t *testing.T) {
	text := `@id("x") @description("all") permit (principal, action, resource);`
	s := load(t, map[string]string{"": text, "acme": text, "globex": text})
	var ids []string
	for _, p := range s.Policies() {
		ids = append(ids, p.ID)
		if p.Effect != "permit" || p.Line != 1 || p.Description != "all" || p.Tenant != strings.TrimSuffix(strings.TrimSuffix(p.ID, "x"), "/") {
			t.Errorf("%+v", p)
		}
	}
	if !slices.Equal(ids, []string{"acme/x", "globex/x", "x"}) {
		t.Errorf("%q", ids)
	}
}

func TestBuiltinPoliciesAreThereIfAskedForAndLoad(t *testing.T) {
	src := written(t, map[string]string{"": "permit (principal, action, resource);"})
	src.Builtin = true
	s, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != 4 {
		t.Errorf("%d policies", s.Len())
	}
	if p, ok := s.Policy("builtin-admin"); !ok || p.File != "builtin" {
		t.Errorf("%+v", p)
	}
}
