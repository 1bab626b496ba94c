package vend

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func mustFolder(t testing.TB, location string) place {
	t.Helper()
	p, err := readPlace(location)
	if err != nil || len(p.segments) == 0 {
		t.Fatalf("%q is no folder: %v", location, err)
	}
	return p
}

func TestSessionPoliciesAreWrittenAsTheGoldenFilesSay(t *testing.T) {
	for name, row := range map[string]struct {
		partition, location string
		access              mounts.StorageAccess
		keys                []string
	}{
		"read":    {"aws", "s3://lake/warehouse/sales/orders-1", mounts.ReadStorage, nil},
		"write":   {"aws", "s3a://lake/warehouse/sales/orders-1/", mounts.WriteStorage, nil},
		"china":   {"aws-cn", "s3://lake/warehouse/t", mounts.ReadStorage, nil},
		"gov":     {"aws-us-gov", "s3://lake/warehouse/t", mounts.WriteStorage, []string{"arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/k"}},
		"hostile": {"aws", `s3://lake/wh/*/${aws:username}/$/"],"Resource":["*"/<é🧊>&`, mounts.WriteStorage, nil},
	} {
		policy, err := sessionPolicy(row.partition, mustFolder(t, row.location), row.access, row.keys)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", "policy-"+name+".json")
		if strings.ContainsFunc(policy, func(r rune) bool { return r < ' ' || r > 0xff }) {
			t.Errorf("%s holds characters that AWS does not take: %s", name, policy)
		}
		if *update {
			if err := os.WriteFile(file, []byte(policy+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || policy+"\n" != string(want) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, policy, want)
		}
	}
}

// hostile are keys of folders that a policy could take for more than themselves.
var hostile = []string{
	"*", "wh/*", "wh/t*", "wh/*/t", "**", "wh/t1*", "wh/$", "wh/${*}", "wh/${$}", "wh/$*", "wh/${aws:username}", "wh/${aws:PrincipalTag/x}", "wh/${",
	"wh/}", "wh/${s3:prefix}", `wh/"`, `wh/"},{"Effect":"Allow","Action":"*","Resource":"*"},{"x":"`, "wh/<&>", "wh/t1", "wh/é", "wh/🧊", "wh/日本", "wh/t1 ", "wh/a:b", "wh/arn:aws:s3:::x", "wh/[a-z]", "wh/t.1",
}

// TestPoliciesOpenOnlyTheirFolder reads the policies as IAM does, and tries the
// keys of all folders on each.
func TestPoliciesOpenOnlyTheirFolder(t *testing.T) {
	for _, key := range hostile {
		policy, err := sessionPolicy("aws", mustFolder(t, "s3://lake/"+key), mounts.WriteStorage, nil)
		if err != nil {
			t.Fatal(err)
		}
		rules := readPolicy(t, policy)
		for _, own := range []string{key + "/a", key + "/data/b*?$"} {
			for _, action := range writeObjects {
				if !rules.allow(action, "arn:aws:s3:::lake/"+own, "") {
					t.Errorf("%q: %s is refused on its own %q", key, action, own)
				}
			}
		}
		if !rules.allow("s3:ListBucket", "arn:aws:s3:::lake", key+"/") || !rules.allow("s3:ListBucket", "arn:aws:s3:::lake", key+"/data/x") {
			t.Errorf("%q: its own folder cannot be listed", key)
		}
		others := []string{"", "x", "wh", "wh/", "wh/t", "wh/t1x/a", "wh/t2/a", "wh/alice/a", "wh/tx/t/a", key, key + "x/a", strings.ToUpper(key) + "X/a", "a/" + key + "/a"}
		for _, other := range hostile {
			if other != key && !strings.HasPrefix(other, key+"/") {
				others = append(others, other+"/a")
			}
		}
		for _, other := range others {
			if strings.HasPrefix(other, key+"/") {
				continue
			}
			for _, action := range []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject"} {
				if rules.allow(action, "arn:aws:s3:::lake/"+other, "") {
					t.Errorf("%q: %s is allowed on %q", key, action, other)
				}
			}
			if rules.allow("s3:ListBucket", "arn:aws:s3:::lake", other) {
				t.Errorf("%q: the prefix %q can be listed", key, other)
			}
		}
		for _, action := range []string{"s3:PutObjectAcl", "s3:GetObjectAcl", "s3:PutObjectTagging", "s3:PutBucketPolicy", "s3:DeleteBucket", "s3:DeleteObjectVersion",
			"s3:PutObjectRetention", "s3:BypassGovernanceRetention", "s3:ListAllMyBuckets", "sts:AssumeRole", "iam:CreateUser", "kms:Decrypt"} {
			for _, resource := range []string{"arn:aws:s3:::lake/" + key + "/a", "arn:aws:s3:::lake", "*"} {
				if rules.allow(action, resource, key+"/") {
					t.Errorf("%q: %s is allowed on %s", key, action, resource)
				}
			}
		}
		if rules.allow("s3:GetObject", "arn:aws:s3:::lake2/"+key+"/a", "") || rules.allow("s3:ListBucket", "arn:aws:s3:::lake2", key+"/") {
			t.Errorf("%q: another bucket is open", key)
		}
	}
}

func TestReadersPoliciesWriteNothing(t *testing.T) {
	policy, err := sessionPolicy("aws", mustFolder(t, "s3://lake/wh/t"), mounts.ReadStorage, []string{"arn:aws:kms:x:1:key/k"})
	if err != nil {
		t.Fatal(err)
	}
	rules := readPolicy(t, policy)
	for _, action := range []string{"s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"} {
		if rules.allow(action, "arn:aws:s3:::lake/wh/t/a", "") {
			t.Errorf("%s is allowed", action)
		}
	}
	if !rules.allow("s3:GetObject", "arn:aws:s3:::lake/wh/t/a", "") || !rules.allow("kms:Decrypt", "arn:aws:kms:x:1:key/k", "") ||
		rules.allow("kms:GenerateDataKey", "arn:aws:kms:x:1:key/k", "") {
		t.Error("a reader needs objects and their key, and no more")
	}
}

func TestAPolicyThatIsTooLongIsRefusedHere(t *testing.T) {
	fits := "s3://lake/" + strings.Repeat("x", 600)
	if _, err := sessionPolicy("aws", mustFolder(t, fits), mounts.WriteStorage, nil); err != nil {
		t.Errorf("a key of 600 characters: %v", err)
	}
	for _, long := range []string{"s3://lake/" + strings.Repeat("x", 1000), "s3://lake/" + strings.Repeat("*", 300)} {
		if _, err := sessionPolicy("aws", mustFolder(t, long), mounts.WriteStorage, nil); err == nil || !strings.Contains(err.Error(), "of which AWS takes 2048") {
			t.Errorf("%d bytes of location: %v", len(long), err)
		}
	}
}

// opensOnlyItsFolder asserts of one key and one object what the policy has to say.
func opensOnlyItsFolder(t *testing.T, key, object string) {
	p, err := folder("s3://lake/"+key, "s3")
	if err != nil {
		return
	}
	policy, err := sessionPolicy("aws", p, mounts.WriteStorage, nil)
	if err != nil {
		return
	}
	rules, own := readPolicy(t, policy), strings.HasPrefix(object, p.key()+"/")
	if rules.allow("s3:PutObject", "arn:aws:s3:::lake/"+object, "") != own {
		t.Errorf("%q on %q: want %t by %s", key, object, own, policy)
	}
	if rules.allow("s3:ListBucket", "arn:aws:s3:::lake", object) != own {
		t.Errorf("%q lists %q: want %t by %s", key, object, own, policy)
	}
}

func TestPoliciesOfArbitraryNamesOpenOnlyTheirFolder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"*", "?", "$", "{", "}", "${*}", "${$}", "${aws:username}", "alice", "a", "b", "/", "/", ".", "\"", "é", "🧊", " ", "%"}
	word := func() string {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 2000 {
		key := word()
		opensOnlyItsFolder(t, key, word())
		opensOnlyItsFolder(t, key, key+word())
		opensOnlyItsFolder(t, key, key+"/"+word())
	}
}

func FuzzPoliciesOpenOnlyTheirFolder(f *testing.F) {
	for _, key := range hostile {
		f.Add(key, "wh/t1/a")
		f.Add(key, key+"x/a")
	}
	f.Fuzz(opensOnlyItsFolder)
}

// rules is a policy as IAM reads it.
type rules []statement

func readPolicy(t testing.TB, text string) rules {
	t.Helper()
	var document struct {
		Version   string
		Statement []statement
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil || document.Version != "2012-10-17" {
		t.Fatalf("the policy is %s: %v", text, err)
	}
	return document.Statement
}

func (r rules) allow(action, resource, prefix string) bool {
	for _, s := range r {
		if s.Effect != "Allow" || !anyMatches(s.Action, action) || !anyMatches(s.Resource, resource) {
			continue
		}
		holds := true
		for operator, keys := range s.Condition {
			for name, values := range keys {
				holds = holds && operator == "StringLike" && name == "s3:prefix" && anyMatches(values, prefix)
			}
		}
		if holds {
			return true
		}
	}
	return false
}

func anyMatches(patterns []string, text string) bool {
	for _, pattern := range patterns {
		if matchesIAM(pattern, text) {
			return true
		}
	}
	return false
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}`)

// matchesIAM is a match as the IAM user guide has it: ${*}, ${?} and ${$} are the
// characters, other variables have a value (here: alice), * and ? are wildcards.
func matchesIAM(pattern, text string) bool {
	var b strings.Builder
	wild := func(s string) {
		for _, r := range s {
			switch r {
			case '*':
				b.WriteString(`(?s:.*)`)
			case '?':
				b.WriteString(`(?s:.)`)
			default:
				b.WriteString(regexp.QuoteMeta(string(r)))
			}
		}
	}
	rest := pattern
	for {
		at := variable.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		wild(rest[:at[0]])
		switch name := rest[at[2]:at[3]]; name {
		case "*", "?", "$":
			b.WriteString(regexp.QuoteMeta(name))
		default:
			b.WriteString("alice")
		}
		rest = rest[at[1]:]
	}
	wild(rest)
	return regexp.MustCompile(`\A` + b.String() + `\z`).MatchString(text)
}
