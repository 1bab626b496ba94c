package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
)

// jobsList makes Mount.Jobs of a list, newest first.
func jobsList(all ...mounts.Job) func(context.Context, string, int) ([]mounts.Job, error) {
	return func(_ context.Context, before string, limit int) ([]mounts.Job, error) {
		if before == "bad" {
			return nil, &mounts.Error{Kind: mounts.BadRequest}
		}
		var page []mounts.Job
		for _, j := range all {
			if (before == "" || j.ID < before) && len(page) < limit {
				page = append(page, j)
			}
		}
		return page, nil
	}
}

func numbered(ids ...int) []mounts.Job {
	var all []mounts.Job
	for _, id := range ids {
		all = append(all, mounts.Job{ID: fmt.Sprintf("id-%02d", id), Kind: "purge", State: "done"})
	}
	return all
}

func withJobs(t *testing.T) Config {
	t.Helper()
	_, backend := scripted(typical)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	root := append(numbered(9, 7), mounts.Job{ID: "id-05", Kind: "purge", Object: mounts.Identifier{Namespace: mounts.Namespace{"a", "b"}, Name: "t"},
		ObjectKind: "table", State: "waiting", Phase: "data", Found: 10, Deleted: 7, Skipped: 2, Bytes: 99, Attempts: 3, LastError: "a manifest is missing",
		Note: "noted", Created: at, Updated: at.Add(time.Second), NextAttempt: at.Add(time.Minute), Principal: "ann", RequestID: "r-1", Runner: "host/1/abc"})
	table, err := mounts.NewMap(
		mounts.Mount{Name: "/", ViewName: "root", Driver: "native", Jobs: jobsList(root...)},
		mounts.Mount{Name: "prod", Driver: "native", Jobs: jobsList(numbered(8, 6, 4)...)},
		mounts.Mount{Name: "partner", Driver: "rest"},
	)
	if err != nil {
		t.Fatal(err)
	}
	return Config{Tree: Catalog{Name: "icefield", Backend: backend}, Mounts: table}
}

func TestWireOfJobs(t *testing.T) {
	golden(t, "admin-jobs", serve(t, withJobs(t)).do("GET", "/admin/v1/jobs?mount=root&before=id-07", "", "X-Request-Id: id-1"))
}

// walkJobs pages through all jobs.
func walkJobs(t *testing.T, w *wire, query string) []string {
	t.Helper()
	var ids []string
	for before := ""; ; {
		g := w.do("GET", "/admin/v1/jobs?"+query+"&before="+url.QueryEscape(before), "")
		var page struct {
			Jobs        []struct{ ID, Mount string }
			Next        string
			Unavailable []any
		}
		if err := json.Unmarshal([]byte(g.body), &page); err != nil || g.status != 200 || len(page.Unavailable) != 0 {
			t.Fatalf("%d %s", g.status, g.body)
		}
		for _, j := range page.Jobs {
			ids = append(ids, j.Mount+" "+j.ID)
		}
		if page.Next == "" {
			return ids
		}
		before = page.Next
	}
}

func TestJobsOfAllMountsAreOneListNewestFirst(t *testing.T) {
	w := serve(t, withJobs(t))
	all := []string{"/ id-09", "prod id-08", "/ id-07", "prod id-06", "/ id-05", "prod id-04"}
	for _, limit := range []int{1, 2, 3, 5, 6, 100} {
		if got := walkJobs(t, w, fmt.Sprint("limit=", limit)); !slices.Equal(got, all) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	for _, name := range []string{"root", "/"} {
		if got := walkJobs(t, w, "mount="+url.QueryEscape(name)); !slices.Equal(got, []string{"/ id-09", "/ id-07", "/ id-05"}) {
			t.Errorf("mount %s: %q", name, got)
		}
	}
	if got := walkJobs(t, w, "mount=partner"); len(got) != 0 {
		t.Errorf("a mount without jobs: %q", got)
	}
}

func TestJobsThatCannotBeReadAreNamedAndNoAbsence(t *testing.T) {
	c := withJobs(t)
	c.Mounts.Mounted("prod").Jobs = func(context.Context, string, int) ([]mounts.Job, error) {
		return nil, &mounts.Error{Kind: mounts.Unavailable, Mount: "prod", Msg: "the registry is closed", Err: errors.New("inside")}
	}
	g := serve(t, c).do("GET", "/admin/v1/jobs", "")
	if g.status != 200 || !strings.Contains(g.body, `"unavailable":[{"mount":"prod","error":"mount \"prod\": the registry is closed"}]`) ||
		!strings.Contains(g.body, "id-09") || strings.Contains(g.body, "inside") {
		t.Errorf("%d %s", g.status, g.body)
	}
}

func TestJobsRefuseWhatTheyDoNotUnderstand(t *testing.T) {
	w := serve(t, withJobs(t))
	for query, want := range map[string]string{
		"limit=0": "the parameter limit must be", "limit=1001": "the parameter limit must be", "limit=x": "the parameter limit must be",
		"before=bad": "the parameter before must be",
	} {
		g := w.do("GET", "/admin/v1/jobs?"+query, "")
		g.wantError(t, 400, "BadRequestException")
		if !strings.Contains(g.body, want) {
			t.Errorf("%s: %s", query, g.body)
		}
	}
	if message := w.do("GET", "/admin/v1/jobs?mount=nope", "").wantError(t, 404, "NoSuchWarehouseException"); message != `the parameter mount names no mount: "nope"` {
		t.Error(message)
	}
	w.do("POST", "/admin/v1/jobs", "").wantError(t, 405, "MethodNotAllowedException")
	if g := over(t, failing(nil)).do("GET", "/admin/v1/jobs", ""); g.status != 200 || g.body != `{"jobs":[],"unavailable":[]}` {
		t.Errorf("a server without mounts: %d %s", g.status, g.body)
	}
}
