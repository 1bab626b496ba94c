package router

import (
	"maps"
	"net/url"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// Where clients renew storage credentials and have storage requests signed is
// written here, as paths of this server: relative ones, which clients resolve
// against the catalog's address that they were configured with, under the
// prefix and the names that they know.

// tablePath is the path of a table, as the client would ask for it.
func (x *exchange) tablePath(id mounts.Identifier) string {
	var b strings.Builder
	b.WriteString("v1/")
	if x.catalog.Prefix != "" {
		b.WriteString(pathSegment(x.catalog.Prefix) + "/")
	}
	b.WriteString("namespaces/")
	for i, level := range id.Namespace {
		if i > 0 {
			b.WriteString("%1F")
		}
		b.WriteString(pathSegment(level))
	}
	return b.String() + "/tables/" + pathSegment(id.Name)
}

// pathSegment encodes everything that some client might read in another way, as
// a blank or a plus.
func pathSegment(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '~', c == '.' && s != "." && s != "..":
			b.WriteByte(c)
		default:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// withAccess is the table with the routes that its access to storage needs. The
// answer itself is not changed: it may be shared.
func (x *exchange) withAccess(id mounts.Identifier, t *mounts.Table) *mounts.Table {
	if t.Signing == nil && !t.Refresh {
		return t
	}
	out := *t
	out.Config = maps.Clone(t.Config)
	if out.Config == nil {
		out.Config = map[string]string{}
	}
	if t.Refresh {
		out.StorageCredentials = x.refreshed(id, "", t.StorageCredentials)
		if one(t.StorageCredentials) {
			addRefresh(out.Config, x.credentialsPath(id, ""))
		}
	}
	if t.Signing != nil {
		maps.Copy(out.Config, t.Signing.Config)
		at := x.tablePath(id) + "/sign"
		if t.Signing.State != "" {
			at += "?state=" + url.QueryEscape(t.Signing.State)
		}
		// Clients read one or the other; without a signer's uri they take the
		// catalog's own.
		out.Config["signer.endpoint"], out.Config["s3.signer.endpoint"] = at, at
	}
	return &out
}

func (x *exchange) credentialsPath(id mounts.Identifier, plan string) string {
	at := x.tablePath(id) + "/credentials"
	if plan != "" {
		at += "?planId=" + url.QueryEscape(plan)
	}
	return at
}

// refreshed is the credentials with the route that renews them, where it does.
func (x *exchange) refreshed(id mounts.Identifier, plan string, list []mounts.StorageCredential) []mounts.StorageCredential {
	out := make([]mounts.StorageCredential, len(list))
	at, single := x.credentialsPath(id, plan), one(list)
	for i, credential := range list {
		out[i] = credential
		if single {
			out[i].Config = maps.Clone(credential.Config)
			addRefresh(out[i].Config, at)
		}
	}
	return out
}

// one reports that no store has more than one credential: Java's clients accept
// exactly one when they renew, so that a route for more would break what works
// until it expires.
func one(list []mounts.StorageCredential) bool {
	seen := map[string]bool{}
	for _, credential := range list {
		for _, r := range refreshes {
			if r.complete(credential.Config) {
				if seen[r.endpoint] {
					return false
				}
				seen[r.endpoint] = true
			}
		}
	}
	return true
}

// refresh is how the clients of one store renew: the keys that name the route
// and switch it on, and those that must be there for a client to know when, and
// to accept what it gets.
type refresh struct {
	endpoint, enabled string
	needs             []string
}

var refreshes = [...]refresh{ // read only
	{"client.refresh-credentials-endpoint", "client.refresh-credentials-enabled",
		[]string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token", "s3.session-token-expires-at-ms"}},
	{"gcs.oauth2.refresh-credentials-endpoint", "gcs.oauth2.refresh-credentials-enabled",
		[]string{"gcs.oauth2.token", "gcs.oauth2.token-expires-at"}},
	{"adls.refresh-credentials-endpoint", "adls.refresh-credentials-enabled",
		[]string{"adls.sas-token.", "adls.sas-token-expires-at-ms."}},
}

// complete reports whether everything is there that the refresh needs. A name
// that ends in a dot stands for all that begin so.
func (r refresh) complete(config map[string]string) bool {
	for _, need := range r.needs {
		found := config[need] != ""
		if strings.HasSuffix(need, ".") {
			for name := range config {
				found = found || strings.HasPrefix(name, need)
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// addRefresh adds the route to a config that its clients can renew from.
func addRefresh(config map[string]string, at string) {
	for _, r := range refreshes {
		if r.complete(config) {
			config[r.endpoint], config[r.enabled] = at, "true"
		}
	}
}
