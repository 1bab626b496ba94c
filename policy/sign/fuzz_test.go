package sign

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// FuzzSignRequests holds that whatever was signed, another reader of what is sent
// finds nothing in it but keys of the table, reading where the caller may read,
// and a signature that covers it.
func FuzzSignRequests(f *testing.F) {
	for _, text := range refused() {
		if len(text) < 64<<10 {
			f.Add(text, false)
			f.Add(text, true)
		}
	}
	body := deletes
	for _, text := range []string{
		ask("GET", inTable+"data/p=a%252Fb/%C3%A9.parquet?versionId=1"), ask("GET", endpoint+"/lake?list-type=2&prefix=wh/t1/data/&delimiter=%2F"),
		ask("PUT", inTable+"x?partNumber=1&uploadId=u", copySource, "/lake/wh/t1/a%20b?versionId=1"), ask("POST", inTable+"x?uploads"),
		askBody("POST", endpoint+"/lake?delete", &body), ask("DELETE", inTable+"x"),
	} {
		f.Add(text, true)
	}
	b, _ := signed1(f)
	f.Fuzz(func(t *testing.T, text string, writes bool) {
		access := mounts.ReadStorage
		if writes {
			access = mounts.WriteStorage
		}
		if _, err := Locations([]byte(text)); err != nil && !strings.Contains(err.Error(), "request to sign") && !strings.Contains(err.Error(), "is signed") {
			t.Errorf("%v", err)
		}
		doc, err := signFor(b, access, "t1", text)
		if err != nil {
			if e := mounts.AsError(err); e.Kind != mounts.Forbidden && e.Kind != mounts.BadRequest || !e.Answered || len(e.Message()) > 1000 {
				t.Fatalf("%v", err)
			}
			return
		}
		var asked struct {
			Method  string
			Headers map[string][]string
			Body    string
		}
		if err := json.Unmarshal([]byte(text), &asked); err != nil {
			t.Fatalf("it was signed, and no other reader understands it: %v", err)
		}
		strict, err := readRequest([]byte(text))
		if err != nil || strict.method != asked.Method {
			t.Fatalf("%v, %q", err, asked.Method)
		}
		s := sent(t, strict, doc)
		for _, problem := range namesOutside(s, asked.Body) {
			t.Errorf("%s %s: %s", s.method, s.uri, problem)
		}
		if !writes && s.method != "GET" && s.method != "HEAD" {
			t.Errorf("%s was signed for a reader", s.method)
		}
		if err := verify(s, secret); err != nil {
			t.Error(err)
		}
	})
}

// namesOutside reads a request as a store does and says what it names beside the
// keys of the table t1.
func namesOutside(s asSent, body string) (problems []string) {
	const within = "wh/t1/"
	u, err := url.Parse(s.uri)
	if err != nil {
		return []string{err.Error()}
	}
	if u.Scheme != "https" || u.Host != "store.example:9000" || u.User != nil || u.Fragment != "" {
		problems = append(problems, "another store")
	}
	key := func(what, key string) {
		for range 6 {
			if !strings.HasPrefix(key, within) || strings.Contains("/"+key+"/", "/../") || strings.Contains("/"+key+"/", "/./") || strings.Contains(key, "//") {
				problems = append(problems, what+" "+key)
				return
			}
			next, err := url.PathUnescape(key)
			if err != nil {
				return
			}
			key = next
		}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		problems = append(problems, err.Error())
	}
	for name, values := range query {
		switch name {
		case "acl", "policy", "tagging", "versions", "lifecycle", "torrent", "select", "website", "restore", "legal-hold", "retention", "location":
			problems = append(problems, "the sub-resource "+name)
		}
		if len(values) != 1 || strings.HasPrefix(strings.ToLower(name), "x-amz-") {
			problems = append(problems, "the parameter "+name)
		}
	}
	bucket, object, _ := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if bucket != "lake" {
		problems = append(problems, "the bucket "+bucket)
	}
	switch {
	case object != "":
		key("the key", object)
	case s.method == "POST":
		var document struct {
			Object []struct{ Key, VersionId []string }
		}
		if err := xml.Unmarshal([]byte(body), &document); err != nil || len(document.Object) == 0 {
			problems = append(problems, "a body that cannot be read")
		}
		for _, o := range document.Object {
			if len(o.Key) != 1 || len(o.VersionId) != 0 {
				problems = append(problems, "an object of other than one key")
				continue
			}
			key("the deleted key", o.Key[0])
		}
		if s.header["x-amz-content-sha256"] != sum(body) {
			problems = append(problems, "another body")
		}
	case s.method == "GET":
		if !strings.HasPrefix(query.Get("prefix"), within) || strings.Contains(query.Get("prefix")+"/", "/../") {
			problems = append(problems, "a listing of "+query.Get("prefix"))
		}
	default:
		problems = append(problems, "the bucket itself")
	}
	for name, value := range s.header {
		if strings.Contains(name, "acl") || strings.Contains(name, "grant") || strings.Contains(name, "lock") || strings.Contains(name, "customer") || strings.Contains(name, "tagging") {
			problems = append(problems, "the header "+name)
		}
		if name != copySource {
			continue
		}
		source, _, _ := strings.Cut(value, "?")
		source, err := url.PathUnescape(source)
		bucket, object, _ := strings.Cut(strings.TrimPrefix(source, "/"), "/")
		if err != nil || bucket != "lake" {
			problems = append(problems, "a copy from "+bucket)
		}
		key("the source", object)
	}
	return problems
}
