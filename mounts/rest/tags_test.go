package rest

import "testing"

func TestATagOfTheRemotesBecomesOneOfOursAndBack(t *testing.T) {
	o := newTags(Config{URL: "http://a"})
	for _, tag := range []string{`"t1"`, `W/"t1"`, `"a,b"`, `""`, `W/""`, `"é"`, `abc123`, `W/abc`} {
		sealed := o.seal(tag)
		if sealed == tag || sealed == "" {
			t.Errorf("%s became %s", tag, sealed)
		}
		if back := o.open(`"x", ` + sealed + `, W/"y"`); back != tag {
			t.Errorf("%s came back as %s", tag, back)
		}
		if (sealed[:2] == "W/") != (tag[:2] == "W/") && tag != "W/abc" {
			t.Errorf("%s became %s: weak is not weak any more, or strong not strong", tag, sealed)
		}
	}
	if got := o.open(o.seal(`"a"`) + ", " + o.seal(`W/"b"`)); got != `"a", W/"b"` {
		t.Errorf("two tags came back as %s", got)
	}
	for _, tag := range []string{"", `"a`, `a"b`, `a, b`, `"a""b"`} {
		if sealed := o.seal(tag); sealed != "" {
			t.Errorf("%s is no tag and became %s", tag, sealed)
		}
	}
}

func TestATagThatIsNotOursOrOfOtherRulesIsNotAskedAbout(t *testing.T) {
	base := Config{URL: "http://a", Warehouse: "w"}
	o := newTags(base)
	for _, list := range []string{"", "*", `"t1"`, `W/"t1"`, "t1"} {
		if got := o.open(list); got != "" {
			t.Errorf("%s: asked with %s", list, got)
		}
	}
	for name, change := range map[string]func(*Config){
		"another address":   func(c *Config) { c.URL = "http://b" },
		"another warehouse": func(c *Config) { c.Warehouse = "v" },
		"withheld":          func(c *Config) { c.Withhold = true },
		"other locations":   func(c *Config) { c.AllowedLocations = []string{"s3://b"} },
		"another vendor":    func(c *Config) { c.Profile.MissingLists = true },
		"another realm":     func(c *Config) { c.Headers = map[string]string{"Polaris-Realm": "b"} },
	} {
		c := base
		change(&c)
		if got := newTags(c).open(o.seal(`"t1"`)); got != "" {
			t.Errorf("%s: asked with %s", name, got)
		}
	}
	if again := newTags(base); again != o {
		t.Error("the same mount has other tags after a restart")
	}
}
