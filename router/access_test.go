package router

import (
	"context"
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// granting is a backend whose tables and plans come with access, always the same
// answer, as a cache would give it.
func granting(t *mounts.Table, d *mounts.Document) (*script, mounts.Backend) {
	return scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		switch req.(type) {
		case *mounts.LoadTableRequest, *mounts.CreateTableRequest, *mounts.RegisterTableRequest:
			return t, nil
		case *mounts.LoadCredentialsRequest:
			return &mounts.Credentials{StorageCredentials: t.StorageCredentials}, nil
		}
		return d, nil
	})
}

func fullKeys() map[string]string {
	return map[string]string{"s3.access-key-id": "i", "s3.secret-access-key": "s", "s3.session-token": "t", "s3.session-token-expires-at-ms": "9"}
}

func TestTheRoutesOfATableAreFoundAgainWhateverItIsCalled(t *testing.T) {
	keys := fullKeys()
	table := &mounts.Table{MetadataLocation: "s3://b/m", Metadata: json.RawMessage(`{}`), Refresh: true, Config: maps.Clone(keys),
		StorageCredentials: []mounts.StorageCredential{{Prefix: "s3://b", Config: maps.Clone(keys)}},
		Signing:            &mounts.Signing{State: "a+b/c=", Config: map[string]string{"s3.remote-signing-enabled": "true"}}}
	s, b := granting(table, nil)
	w := serve(t, Config{Tree: Catalog{Backend: b}, Views: []Catalog{{Name: "pro d", Prefix: "pro d", Backend: b}}})
	for _, prefix := range []string{"", "pro%20d/"} {
		for _, name := range []string{"t", "a b", "a+b", "a/b", "100%", ".", "..", "a?b#c", `a"b`, "é🧊"} {
			for _, java := range []string{"", "User-Agent: Apache-HttpClient/5"} {
				header := []string{"X-Client-Version: Apache Iceberg 1.10"}
				if java == "" {
					header = nil
				}
				path := "/v1/" + prefix + "namespaces/" + pathSegment("x y") + "%1F" + pathSegment(name) + "/tables/" + pathSegment(name)
				var got struct {
					Config      map[string]string
					Credentials []mounts.StorageCredential `json:"storage-credentials"`
				}
				answer := w.do("GET", path, "", header...)
				if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
					t.Fatalf("%s: %d %s", path, answer.status, answer.body)
				}
				asked := s.last().(*mounts.LoadTableRequest).Table
				at := got.Config["client.refresh-credentials-endpoint"]
				if len(got.Credentials) != 1 || got.Credentials[0].Config["client.refresh-credentials-endpoint"] != at {
					t.Errorf("the credential is renewed at %v", got.Credentials)
				}
				if w.do("GET", "/"+at, "", header...).status != 200 || !s.last().(*mounts.LoadCredentialsRequest).Table.Equal(asked) {
					t.Errorf("%s leads to %v", at, s.last())
				}
				at = got.Config["s3.signer.endpoint"]
				if w.do("POST", "/"+at, `{}`, header...); at != got.Config["signer.endpoint"] {
					t.Errorf("two signers: %v", got.Config)
				}
				if req, ok := s.last().(*mounts.SignStorageRequest); !ok || !req.Table.Equal(asked) || req.State != "a+b/c=" {
					t.Errorf("%s leads to %+v", at, s.last())
				}
			}
		}
	}
	if !maps.Equal(table.Config, keys) || !maps.Equal(table.StorageCredentials[0].Config, keys) {
		t.Error("the backend's own answer was changed")
	}
}

func TestARouteIsNamedOnlyToClientsThatCanRenewThere(t *testing.T) {
	less := func(name string) map[string]string {
		keys := fullKeys()
		delete(keys, name)
		return keys
	}
	gcs := map[string]string{"gcs.oauth2.token": "t", "gcs.oauth2.token-expires-at": "9"}
	adls := map[string]string{"adls.sas-token.a.dfs": "t", "adls.sas-token-expires-at-ms.a.dfs": "9"}
	for name, c := range map[string]struct {
		configs []map[string]string
		routes  int
	}{
		"complete":      {[]map[string]string{fullKeys()}, 2},
		"no id":         {[]map[string]string{less("s3.access-key-id")}, 0},
		"no secret":     {[]map[string]string{less("s3.secret-access-key")}, 0},
		"no token":      {[]map[string]string{less("s3.session-token")}, 0},
		"no expiry":     {[]map[string]string{less("s3.session-token-expires-at-ms")}, 0},
		"two of a kind": {[]map[string]string{fullKeys(), fullKeys()}, 0},
		"one of each":   {[]map[string]string{fullKeys(), gcs, adls}, 4},
	} {
		table := &mounts.Table{MetadataLocation: "m", Metadata: json.RawMessage(`{}`), Refresh: true, Config: c.configs[0]}
		for _, config := range c.configs {
			table.StorageCredentials = append(table.StorageCredentials, mounts.StorageCredential{Prefix: "s3://b", Config: config})
		}
		_, b := granting(table, nil)
		got := over(t, b).do("GET", "/v1/namespaces/a/tables/t", "")
		if n := strings.Count(got.body, `credentials-endpoint":"v1/namespaces/a/tables/t/credentials"`); n != c.routes || strings.Count(got.body, `credentials-enabled":"true"`) != n {
			t.Errorf("%s: %d routes in %s", name, n, got.body)
		}
	}
}

func TestCredentialsOfAPlanGoBackIntoItsDocument(t *testing.T) {
	list := []mounts.StorageCredential{{Prefix: "s3://b", Config: fullKeys()}}
	renew := `,"client.refresh-credentials-enabled":"true","client.refresh-credentials-endpoint":"v1/namespaces/a/tables/t/credentials?planId=` + url.QueryEscape("p+/1") + `"`
	written := `"storage-credentials":[{"prefix":"s3://b","config":{` + renew[1:] + `,"s3.access-key-id":"i","s3.secret-access-key":"s","s3.session-token":"t","s3.session-token-expires-at-ms":"9"}}]}`
	for body, want := range map[string]string{`{}`: `{` + written, `{ }`: `{ ` + written, "{\"status\":\"completed\" }\n": `{"status":"completed" ,` + written} {
		_, b := granting(nil, &mounts.Document{Body: json.RawMessage(body), StorageCredentials: list, Refresh: true, PlanID: "p+/1"})
		got := over(t, b).do("POST", "/v1/namespaces/a/tables/t/plan", `{}`)
		got.want(t, 200, want)
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("Cache-Control %q", got.header.Get("Cache-Control"))
		}
	}
}
