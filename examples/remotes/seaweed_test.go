//go:build peers

package remotes

import (
	"fmt"
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
		// It has lower-case letters, digits and underscores in names.
		refuses: []string{"a b", "plus+sign", "slash/ed", "per%cent", "quest?ion", "ha#sh", "d.ot", "..", "back\\slash", "quo\"te", "semi;colon",
			"colon:", "at@", "amp&ersand", "eq=ual", "é", "😀", "UPPER", "%2F", "{brace}", "pi|pe"},
		gaps: map[string]gap{
			"tables: list in an absent namespace": {"want 404, got 200", "it lists the tables of a namespace that is not there: an empty page"},
			"views: list in an absent namespace":  {"want 404, got 200", "it lists the views of a namespace that is not there: an empty page"},
			"views: create twice":                 {"want 409, got 200", "it answers a second creation of a view with the view that is there, whatever the second one says"},
			"tables: ETag, 304":                   {"there is no ETag", "it sends none"},
			"tables: register":                    {"Cannot read metadata at", "a table that is dropped loses its files, purgeRequested or not, so that there is nothing to register"},
		},
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
	return seaweedFS("OAuth2", `  profile = "seaweedfs"
  auth "oauth2" {
    client_id         = %q
    client_secret_env = "SEAWEED_SECRET"
  }`)
}

// seaweedBySigV4 signs for the service of stores, in the region that SeaweedFS says that it is in.
func seaweedBySigV4() *server {
	return seaweedFS("SigV4", `  profile = "seaweedfs"
  auth "sigv4" { # for the key %s
    service               = "s3tables"
    region                = "us-east-1"
    access_key_id_env     = "SEAWEED_KEY"
    secret_access_key_env = "SEAWEED_SECRET"
  }`)
}

// loggedIn is the address of a proxy in front of a SeaweedFS that logs every request in.
func loggedIn(t *testing.T, s *peers.SeaweedFS) string {
	t.Helper()
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	bearer := "Bearer " + s.Token(t)
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", bearer)
	}})
	t.Cleanup(proxy.Close)
	return proxy.URL
}
