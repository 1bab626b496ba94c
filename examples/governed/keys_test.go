//go:build peers

package governed

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const (
	orders  = "/namespaces/sales/tables/orders"
	orders2 = "/namespaces/sales/tables/orders2" // its location begins like that of orders
	vended  = "vended-credentials"
	signing = "remote-signing"
)

// testVendedKeys tries the keys that a reader and a writer are handed for a table on what lies in and beside it.
func testVendedKeys(t *testing.T, s *scene) {
	_, table := s.as(t, "reader", "lake").ask(t, 200, vended, "GET", orders, nil)
	_, beside := s.as(t, "reader", "lake").ask(t, 200, vended, "GET", orders2, nil)
	_, wide := s.as(t, "writer", "lake").ask(t, 200, vended, "GET", orders, nil)
	at, other := table.Metadata.Location, beside.MetadataLocation
	pond := s.location(t, "globex", "pond", "fish", "stock")
	for who, g := range map[string]given{"reader": table, "writer": wide} {
		if len(g.Credentials) != 1 || g.Credentials[0].Prefix != at {
			t.Fatalf("the %s has keys for %+v", who, g.Credentials)
		}
		end, err := strconv.ParseInt(g.Config["s3.session-token-expires-at-ms"], 10, 64)
		left := time.Until(time.UnixMilli(end))
		if err != nil || left < time.Minute || left > 15*time.Minute {
			t.Errorf("the %s's keys are good for %v, %v", who, left, err)
		}
		if want := "v1/lake" + orders + "/credentials"; g.Config["client.refresh-credentials-endpoint"] != want {
			t.Errorf("renewed at %q", g.Config["client.refresh-credentials-endpoint"])
		}
		t.Logf("the %s has keys for %s…, for %v", who, strings.TrimRight(at, "0123456789abcdef-"), left.Round(time.Second))
	}
	for who, g := range map[string]given{"reader": table, "writer": wide} {
		client := holder(t, g.Config)
		expect(t, who, http.StatusOK, map[string]int{
			"get the table's metadata": get(t, client, table.MetadataLocation),
			"list the table":           list(t, client, *key(t, at)+"/"),
		})
		expect(t, who, http.StatusForbidden, map[string]int{
			"get another table":                  get(t, client, other),
			"put into another table":             put(t, client, strings.TrimSuffix(other, ".json")),
			"delete from another table":          remove(t, client, other),
			"get the other company's":            get(t, client, pond),
			"put beside, by name":                put(t, client, at+"2/data/planted"),
			"put in place of the folder":         put(t, client, at),
			"put into the namespace":             put(t, client, "s3://governed/lake/sales/planted"),
			"put at the bucket's root":           put(t, client, "s3://governed/planted"),
			"list the bucket":                    list(t, client, ""),
			"list the warehouse":                 list(t, client, "lake/"),
			"list the namespace":                 list(t, client, "lake/sales/"),
			"list all whose names begin like it": list(t, client, *key(t, at)),
			"list the other table":               list(t, client, *key(t, beside.Metadata.Location)+"/"),
		})
		for what, got := range map[string]int{
			"climb out of the table":            get(t, client, at+"/../"+strings.TrimPrefix(other, "s3://governed/lake/sales/")),
			"climb out of the table, and write": put(t, client, at+"/../planted"),
		} {
			if got != http.StatusForbidden && got != http.StatusBadRequest {
				t.Errorf("%s: %s: %d from the store", who, what, got)
			}
		}
	}
	planted := at + "/data/planted"
	expect(t, "reader", http.StatusForbidden, map[string]int{
		"put into the table": put(t, holder(t, table.Config), planted), "delete from it": remove(t, holder(t, table.Config), table.MetadataLocation),
	})
	expect(t, "writer", http.StatusOK, map[string]int{"put into the table": put(t, holder(t, wide.Config), planted)})
	expect(t, "reader", http.StatusOK, map[string]int{"get what was put": get(t, holder(t, table.Config), planted)})
	expect(t, "writer", http.StatusOK, map[string]int{"delete it": remove(t, holder(t, wide.Config), planted)})
	expect(t, "owner, afterwards", http.StatusOK, map[string]int{"get another table": get(t, owner(s.store), other)})
	for _, place := range []string{"", "lake/sales/", *key(t, at) + "2/", *key(t, beside.Metadata.Location) + "/"} {
		for _, name := range below(t, owner(s.store), place) {
			if strings.Contains(name, "planted") {
				t.Errorf("%s was written by somebody who may not", name)
			}
		}
	}

	// The route where they are renewed is under the same rules.
	_, renewed := s.as(t, "reader", "lake").ask(t, 200, "", "GET", orders+"/credentials", nil)
	client := holder(t, renewed.Credentials[0].Config)
	expect(t, "reader, renewed", http.StatusOK, map[string]int{"get": get(t, client, table.MetadataLocation)})
	expect(t, "reader, renewed", http.StatusForbidden, map[string]int{"put": put(t, client, planted), "get another": get(t, client, other)})
	s.as(t, "globex", "").ask(t, 404, "", "GET", "/namespaces/lake%1Fsales/tables/orders/credentials", nil)

	// Who does not ask gets none.
	for _, delegation := range []string{"", signing} {
		if _, g := s.as(t, "writer", "lake").ask(t, 200, delegation, "GET", orders, nil); g.Config["s3.session-token"] != "" || len(g.Credentials) > 0 {
			t.Errorf("keys for who asks for %q", delegation)
		}
	}
}

// ending is a client with keys that end soon.
type ending struct {
	client *s3.Client
	object string
	ends   time.Time
}

// mintEnding gets keys that end soon, and uses them.
func mintEnding(t *testing.T, s *scene) ending {
	t.Helper()
	writer := s.as(t, "writer", "brief")
	writer.ask(t, 200, "", "POST", "/namespaces", map[string]any{"namespace": []string{"go"}, "properties": map[string]string{}})
	schema := map[string]any{"type": "struct", "schema-id": 0, "fields": []any{map[string]any{"id": 1, "name": "id", "type": "long", "required": false}}}
	_, g := writer.ask(t, 200, vended, "POST", "/namespaces/go/tables", map[string]any{"name": "t", "schema": schema, "stage-create": false})
	end, err := strconv.ParseInt(g.Config["s3.session-token-expires-at-ms"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	e := ending{holder(t, g.Config), g.MetadataLocation, time.UnixMilli(end)}
	if left := time.Until(e.ends); left > session {
		t.Errorf("sessions of %v are good for %v", session, left)
	}
	expect(t, "before the keys' end", http.StatusOK, map[string]int{"get": get(t, e.client, e.object), "put": put(t, e.client, e.object+".1")})
	return e
}

// over checks that they have ended, which it waits for: it is the store's clock that counts.
func (e ending) over(t *testing.T) {
	timer := time.NewTimer(time.Until(e.ends.Add(time.Second)))
	defer timer.Stop()
	<-timer.C
	expect(t, "after the keys' end", http.StatusForbidden, map[string]int{"get": get(t, e.client, e.object), "put": put(t, e.client, e.object+".2")})
}
