//go:build peers

package governed

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const customers = "/namespaces/crm/tables/customers"

// restrictions are those of the REST specification.
type restrictions struct {
	Filter      json.RawMessage `json:"required-row-filter"`
	Projections []struct {
		Field  int             `json:"field-id"`
		Action json.RawMessage `json:"action"`
	} `json:"required-column-projections"`
}

// testRestrictions looks at what somebody gets who may read some rows and columns, and at what an engine gets that is trusted
// to apply that.
func testRestrictions(t *testing.T, s *scene) {
	whole, plain := s.as(t, "reader", "lake").ask(t, 200, vended, "GET", customers, nil)
	if plain.Restrictions != nil || !plain.access() || whole.Header.Get("ETag") != "" {
		t.Errorf("whoever is not restricted gets %s", plain.Restrictions)
	}
	country, email, street := column(t, plain, "country"), column(t, plain, "email"), column(t, plain, "address", "street")
	for _, who := range []string{"sam", "engine"} {
		c := s.as(t, who, "lake")
		for _, delegation := range []string{"", vended, signing, vended + "," + signing} {
			a, g := c.ask(t, 200, delegation, "GET", customers, nil)
			var r restrictions
			if err := json.Unmarshal(g.Restrictions, &r); err != nil {
				t.Fatalf("%s: %v in %s", who, err, a.Body)
			}
			masks := map[int]string{}
			for _, p := range r.Projections {
				masks[p.Field] = string(p.Action)
			}
			if len(masks) != 2 || !strings.Contains(masks[email], "mask-alphanum") || !strings.Contains(masks[street], "replace-with-null") {
				t.Errorf("%s: columns %v, want %d and %d", who, masks, email, street)
			}
			var filter struct {
				Type  string
				Left  struct{ ID int }
				Right struct{ Value string }
			}
			if err := json.Unmarshal(r.Filter, &filter); err != nil || filter.Type != "eq" || filter.Left.ID != country || filter.Right.Value != "NO" {
				t.Errorf("%s: rows %s, %v", who, r.Filter, err)
			}
			if a.Header.Get("ETag") != "" {
				t.Errorf("%s: what is restricted has a tag", who)
			}
			trusted := who == "engine" && strings.Contains(delegation, vended)
			if g.access() != trusted {
				t.Errorf("%s, asking for %q: access to the files: %t", who, delegation, g.access())
			}
			t.Logf("%s, asking for %q: %s; access to the files: %t", who, delegation, g.Restrictions, g.access())
			if trusted {
				client := holder(t, g.Config)
				expect(t, who, http.StatusOK, map[string]int{"get": get(t, client, g.MetadataLocation)})
				expect(t, who, http.StatusForbidden, map[string]int{"put": put(t, client, g.Metadata.Location+"/data/planted"),
					"get another table": get(t, client, s.location(t, "reader", "lake", "sales", "orders"))})
			}
		}
	}
	sam := s.as(t, "sam", "lake")
	a, _ := sam.ask(t, 403, "", "GET", customers+"/credentials", nil)
	t.Logf("sam asks for keys: %d %s", a.Status, a.Message)
	_, g := s.as(t, "engine", "lake").ask(t, 200, "", "GET", customers+"/credentials", nil)
	if len(g.Credentials) != 1 {
		t.Errorf("the engine gets %d keys", len(g.Credentials))
	}
	// What else there is does not exist for them.
	a, _ = sam.ask(t, 404, "", "GET", orders, nil)
	absent, _ := sam.ask(t, 404, "", "GET", "/namespaces/sales/tables/nothing", nil)
	if a.Type != absent.Type || strings.ReplaceAll(a.Message, "orders", "nothing") != absent.Message {
		t.Errorf("denied: %v, absent: %v", a, absent)
	}
}

// column is the id of a field of a table's schema, on its path.
func column(t *testing.T, g given, path ...string) int {
	t.Helper()
	fields := g.Metadata.Schemas[len(g.Metadata.Schemas)-1].Fields
	for i, name := range path {
		found := -1
		for n, f := range fields {
			if f.Name == name {
				found = n
			}
		}
		if found < 0 {
			t.Fatalf("no column %q in %+v", path, fields)
		}
		if i == len(path)-1 {
			return fields[found].ID
		}
		var nested struct{ Fields []field }
		if err := json.Unmarshal(fields[found].Type, &nested); err != nil {
			t.Fatal(err)
		}
		fields = nested.Fields
	}
	return 0
}
