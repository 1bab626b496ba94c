//go:build peers

package remotes

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
)

// seaweedFS is a store with a catalog of its own, which lets nobody in without a login: by OAuth2 at its own token route,
// or by signed requests.
func seaweedFS(login, auth string) *server {
	return &server{
		name: "SeaweedFS, " + login,
		start: func(t *testing.T) *remote {
			process := peers.StartSeaweedFS(t)
			past := loggedIn(t, process)
			return &remote{
				url: process.URL, warehouse: process.Bucket, past: past,
				mount:  fmt.Sprintf(auth, process.AccessKeyID),
				env:    []string{"SEAWEED_KEY=" + process.AccessKeyID, "SEAWEED_SECRET=" + process.SecretKey},
				direct: direct(t, past, process.Bucket),
				own:    []string{host(t, process.URL), "/v1/" + process.Bucket, process.SecretKey},
			}
		},
	}
}

func seaweedByOAuth2() *server {
	return seaweedFS("OAuth2", `  auth "oauth2" {
    client_id         = %q
    client_secret_env = "SEAWEED_SECRET"
  }`)
}

// seaweedBySigV4 signs for the service of stores, in the region that SeaweedFS says that it is in.
func seaweedBySigV4() *server {
	return seaweedFS("SigV4", `  auth "sigv4" { # for the key %s
    service               = "s3tables"
    region                = "us-east-1"
    access_key_id_env     = "SEAWEED_KEY"
    secret_access_key_env = "SEAWEED_SECRET"
  }`)
}

// loggedIn is the address of a proxy in front of a SeaweedFS that logs every request in.
func loggedIn(t *testing.T, s *peers.SeaweedFS) string {
	t.Helper()
	answer, err := http.PostForm(s.URL+"/v1/oauth/tokens", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {s.AccessKeyID}, "client_secret": {s.SecretKey},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var token struct {
		Text string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil || token.Text == "" {
		t.Fatalf("no token: %d, %v", answer.StatusCode, err)
	}
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", "Bearer "+token.Text)
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}
