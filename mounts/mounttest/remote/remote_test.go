package remote_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/icefield/icefield/mounts/mounttest/remote"
)

func get(t *testing.T, url string) (int, []byte, error) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, body, err
}

func TestAPagedListingGivesEveryNameOnce(t *testing.T) {
	srv := remote.New(t, remote.Options{Base: "/api"})
	for _, name := range []string{"c", "a", "b"} {
		srv.AddTable([]string{"ns"}, name)
	}
	srv.Tune(func(q *remote.Quirks) { q.PageCap = 2 })
	var page struct {
		Identifiers []struct{ Name string }
		Next        *string `json:"next-page-token"`
	}
	_, body, err := get(t, srv.URL+"/v1/namespaces/ns/tables?pageToken=&pageSize=9")
	if err != nil || json.Unmarshal(body, &page) != nil || len(page.Identifiers) != 2 || page.Next == nil {
		t.Fatalf("first page: %s, %v", body, err)
	}
	if got := srv.Last(); got.Op != "listTables" || got.Path != "/api/v1/namespaces/ns/tables" || got.Query != "pageToken=&pageSize=9" {
		t.Errorf("recorded %+v", got)
	}
}

func TestFaultsHitTheOperationTheyAreSetForAndStopWhenHealed(t *testing.T) {
	srv := remote.New(t, remote.Options{})
	srv.AddTable([]string{"ns"}, "t")
	url := srv.URL + "/v1/namespaces/ns/tables/t"
	srv.Fail("loadTable", remote.Fault{Status: 503, Times: 1})
	if status, _, err := get(t, url); status != 503 || err != nil {
		t.Errorf("faulty: %d, %v", status, err)
	}
	if status, _, err := get(t, url); status != 200 || err != nil {
		t.Errorf("after one time: %d, %v", status, err)
	}
	for _, how := range []remote.Break{remote.Reset, remote.Cut, remote.ShortBody} {
		srv.Fail("loadTable", remote.Fault{Break: how})
		if status, body, err := get(t, url); err == nil {
			t.Errorf("damage %d went unnoticed: %d %s", how, status, body)
		}
	}
	if status, _, err := get(t, srv.URL+"/v1/namespaces/ns"); status != 200 || err != nil {
		t.Errorf("another operation: %d, %v", status, err)
	}
	srv.Heal()
	if status, _, err := get(t, url); status != 200 || err != nil {
		t.Errorf("healed: %d, %v", status, err)
	}
	if n := srv.Count("loadTable"); n < 6 {
		t.Errorf("counted %d loads", n)
	}
}

func TestStopRefusesConnectionsUntilStart(t *testing.T) {
	srv := remote.New(t, remote.Options{})
	srv.AddNamespace([]string{"ns"}, nil)
	srv.Stop()
	if status, _, err := get(t, srv.URL+"/v1/config"); err == nil {
		t.Errorf("a stopped server answered %d", status)
	}
	srv.Start(t)
	if status, _, err := get(t, srv.URL+"/v1/namespaces/ns"); status != 200 || err != nil {
		t.Errorf("after the start: %d, %v", status, err)
	}
}
