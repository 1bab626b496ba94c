package rest

import (
	"net/url"
	"strings"
)

// hints are the keys of a table's config that always pass: how to reach the
// storage, never the right to. Everything else is dropped: addresses and logins
// of the catalog (uri, prefix, warehouse, token, credential, oauth2-server-uri,
// rest.*, header.*), signer and refresh endpoints, and every key that is not
// known to be harmless. Storage credentials have a list of their own
// (access_keys.go).
//
// scan-planning-mode passes though it may ask for what the mount, or the tree,
// does not offer: a remote that insists on planning scans itself restricts a
// read, and an engine must not miss that. Java then refuses the table, as it
// would at the remote itself; without the key it would read past the restriction.
func hint(name string) bool {
	switch name {
	case "client.region", "io-impl", "py-io-impl", "scan-planning-mode",
		"s3.region", "s3.endpoint", "s3.path-style-access", "s3.cross-region-access-enabled",
		"s3.acceleration-enabled", "s3.dualstack-enabled", "s3.use-arn-region-enabled",
		"gcs.project-id", "gcs.service.host", "adls.account-name", "adls.account-host", "oss.endpoint":
		return true
	}
	return false
}

const maxHint = 2 << 10

// storageHints keeps the hints of a remote's config. It is nil if there are none.
func storageHints(config map[string]string) map[string]string {
	var kept map[string]string
	for name, value := range config {
		if !hint(name) || len(value) > maxHint || holdsLogin(value) {
			continue
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept
}

// holdsLogin reports a URL with user info or a query, where secrets hide.
func holdsLogin(value string) bool {
	if !strings.Contains(value, "://") {
		return strings.Contains(value, "@")
	}
	u, err := url.Parse(value)
	return err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != ""
}
