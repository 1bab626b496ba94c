package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// withLog is a server whose mount "root" has a log of five changes, the last of
// them a drop. asked is the last question.
func withLog(t *testing.T) (c Config, asked *mounts.LogQuery) {
	t.Helper()
	asked = new(mounts.LogQuery)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	rows := []mounts.LogRow{{Generation: 1, To: "file:///wh/0.json", Time: at}}
	for g := uint64(2); g < 5; g++ {
		rows = append(rows, mounts.LogRow{Generation: g, From: rows[g-2].To, To: fmt.Sprintf("file:///wh/%d.json", g-1), Time: at.Add(time.Duration(g) * time.Second),
			Principal: "ann", RequestID: fmt.Sprint("r-", g), IdempotencyKey: "k"})
	}
	rows = append(rows, mounts.LogRow{Generation: 5, From: rows[3].To, Time: at.Add(time.Hour), Principal: "ann"})
	_, backend := scripted(typical)
	table, err := mounts.NewMap(
		mounts.Mount{Name: "/", ViewName: "root", Driver: "native", Log: func(_ context.Context, q mounts.LogQuery) (*mounts.Log, error) {
			*asked = q
			page := slices.DeleteFunc(slices.Clone(rows), func(r mounts.LogRow) bool { return r.Generation <= q.After })
			return &mounts.Log{ID: "id-1", Rows: page[:min(len(page), q.Limit)]}, nil
		}},
		mounts.Mount{Name: "gone", Driver: "native", Log: func(_ context.Context, q mounts.LogQuery) (*mounts.Log, error) {
			return nil, &mounts.Error{Kind: mounts.NoSuchTable, Ident: q.Object, Err: errors.New("inside")}
		}},
		mounts.Mount{Name: "partner", Driver: "rest"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Tree: Catalog{Name: "icefield", Backend: backend}, Mounts: table}, asked
}

func TestWireOfCommits(t *testing.T) {
	c, _ := withLog(t)
	golden(t, "admin-commits", serve(t, c).do("GET", "/admin/v1/commits?mount=root&namespace=a&table=t&after=3&limit=2", "", "X-Request-Id: id-1"))
}

func TestCommitsAreAskedByNameOrID(t *testing.T) {
	c, asked := withLog(t)
	w := serve(t, c)
	for query, want := range map[string]mounts.LogQuery{
		"namespace=a%1Fb&table=t+1":          {Object: mounts.Identifier{Namespace: mounts.Namespace{"a", "b"}, Name: "t 1"}, Kind: "table", Limit: 100},
		"namespace=a&view=v&limit=7&after=2": {Object: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "v"}, Kind: "view", Limit: 7, After: 2},
		"object=id-1":                        {ID: "id-1", Limit: 100},
	} {
		if g := w.do("GET", "/admin/v1/commits?mount=/&"+query, ""); g.status != 200 || !reflect.DeepEqual(*asked, want) {
			t.Errorf("%s: %d %s, asked %+v", query, g.status, g.body, *asked)
		}
	}
}

func TestCommitsArePagedByGeneration(t *testing.T) {
	c, _ := withLog(t)
	w := serve(t, c)
	for _, limit := range []int{1, 2, 4, 5, 6} {
		var got []uint64
		for after := uint64(0); ; {
			g := w.do("GET", fmt.Sprintf("/admin/v1/commits?mount=root&object=id-1&limit=%d&after=%d", limit, after), "")
			var page struct {
				Commits []struct{ Generation uint64 }
				Next    uint64
			}
			if err := json.Unmarshal([]byte(g.body), &page); err != nil || g.status != 200 || page.Commits == nil {
				t.Fatalf("%d %s", g.status, g.body)
			}
			for _, c := range page.Commits {
				got = append(got, c.Generation)
			}
			if after = page.Next; after == 0 {
				break
			}
		}
		if !slices.Equal(got, []uint64{1, 2, 3, 4, 5}) {
			t.Errorf("limit %d: %v", limit, got)
		}
	}
}

func TestCommitsRefuseWhatTheyDoNotUnderstand(t *testing.T) {
	c, _ := withLog(t)
	w := serve(t, c)
	const name = "namespace=a&table=t"
	for query, want := range map[string]string{
		name:                                 "the parameter mount is missing",
		"mount=partner&" + name:              "keeps no log of commits",
		"mount=root":                         "the query must have one of",
		"mount=root&" + name + "&view=v":     "the query must have one of",
		"mount=root&" + name + "&object=id":  "the query must have one of",
		"mount=root&table=t":                 "the parameter namespace is empty",
		"mount=root&namespace=a%1F&table=t":  "the parameter namespace is not valid",
		"mount=root&" + name + "&limit=0":    "the parameter limit must be",
		"mount=root&" + name + "&limit=1001": "the parameter limit must be",
		"mount=root&" + name + "&after=-1":   "the parameter after must be",
	} {
		g := w.do("GET", "/admin/v1/commits?"+query, "")
		g.wantError(t, 400, "BadRequestException")
		if !strings.Contains(g.body, want) {
			t.Errorf("%s: %s", query, g.body)
		}
	}
	if message := w.do("GET", "/admin/v1/commits?mount=nope&"+name, "").wantError(t, 404, "NoSuchWarehouseException"); message != `the parameter mount names no mount: "nope"` {
		t.Error(message)
	}
	g := w.do("GET", "/admin/v1/commits?mount=gone&"+name, "")
	g.wantError(t, 404, "NoSuchTableException")
	if !strings.Contains(g.body, "Table does not exist: a.t") || strings.Contains(g.body, "inside") {
		t.Error(g.body)
	}
	w.do("POST", "/admin/v1/commits", "").wantError(t, 405, "MethodNotAllowedException")
	over(t, failing(nil)).do("GET", "/admin/v1/commits?mount=root&"+name, "").wantError(t, 404, "NoSuchWarehouseException")
}
