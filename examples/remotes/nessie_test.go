//go:build peers

package remotes

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/icefield/icefield/examples/internal/peers"
)

// ownAddress is why it names itself in the answer to a commit. Where the metadata is must not be changed on the way.
const ownAddress = "the metadata-location that it answers a commit with is an address of its own; that of a load is where the file is"

// nessie keeps its tables in a store of objects and signs its clients' requests to it. Its prefix is a branch and a
// warehouse, "main|quarry", and comes percent-encoded.
func nessie() *server {
	return &server{
		name:  "Nessie",
		heavy: true,
		// What these hold, or are, has a meaning in Nessie's own names for tables.
		refuses: []string{"ha#sh", "..", "colon:", "at@"},
		gaps: map[string]gap{
			"PyIceberg: create in a transaction, add a column": {"CommitStateUnknownException", "it fails with 500 over a new schema without the last-column-id that the spec has deprecated and PyIceberg leaves out"},
			"tables: list in an absent namespace":              {`want 404, got 200`, "it lists the tables of a namespace that is not there: an empty page"},
			"tables: snapshots that refs name":                 {"1 snapshots for", "it keeps the newest snapshot of each of its own commits, and no others"},
			"tables: create in stages":                         {"names the remote", ownAddress},
			"tables: commit":                                   {"names the remote", ownAddress},
			"tables: commit, refused":                          {"names the remote", ownAddress},
			"views: create, replace, drop":                     {"names the remote", ownAddress},
			"tables: commit, refused as not the first":         {"want 409, got 200", "it takes a requirement that a branch is not there for none"},
			"tables: commit, what nobody knows":                {"want 400, got 502", "it answers 500, after which nobody knows whether it was applied"},
			"views: list in an absent namespace":               {`want 404, got 200`, "it lists the views of a namespace that is not there: an empty page"},
			"tables: ETag, 304":                                {"there is no ETag", "it sends none"},
		},
		start: func(t *testing.T) *remote {
			store := s3mem.New()
			if err := store.CreateBucket("stone"); err != nil {
				t.Fatal(err)
			}
			objects := httptest.NewServer(signed("test", gofakes3.New(store).Server()))
			t.Cleanup(objects.Close)
			process := peers.StartNessie(t, peers.Store{
				URL: objects.URL, Bucket: "stone", Region: "us-east-1", AccessKeyID: "test", SecretKey: "secret-of-the-store",
			})
			return &remote{
				url: process.URL, warehouse: "quarry", mount: `  profile = "nessie"`,
				direct: direct(t, process.URL, "quarry"),
				// PyIceberg holds no keys: it has each request to the store signed by Nessie, past Icefield and through it.
				files: map[string]string{
					"header.X-Iceberg-Access-Delegation": "remote-signing", "s3.signer": "S3V4RestSigner",
					"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO",
				},
				own: []string{host(t, process.URL), "main%7Cquarry", "main|quarry", "secret-of-the-store"},
			}
		},
	}
}

// signed lets only requests to a store pass that are signed with the given key.
func signed(key string, store http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="+key+"/") {
			http.Error(w, "not signed", http.StatusForbidden)
			return
		}
		store.ServeHTTP(w, r)
	})
}
