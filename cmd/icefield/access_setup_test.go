package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyOf is the API key of somebody, as "acme-writer".
func keyOf(name string) string { return name + "-0123456789abcdef" }

// authText is an auth block with a key for a reader, a writer and an admin of two
// tenants, and for an operator.
func authText(more string) string {
	var b strings.Builder
	b.WriteString("\nauth {\n")
	for _, tenant := range []string{"acme", "globex"} {
		for _, role := range []string{"reader", "writer", "admin"} {
			name := tenant + "-" + role
			fmt.Fprintf(&b, "  api_key %q {\n    tenant = %q\n    roles  = [%q]\n    hash   = \"sha256:%x\"\n  }\n", name, tenant, role, sha256.Sum256([]byte(keyOf(name))))
		}
	}
	fmt.Fprintf(&b, "  api_key \"operator\" {\n    operator = true\n    hash     = \"sha256:%x\"\n  }\n%s}\n", sha256.Sum256([]byte(keyOf("operator"))), more)
	return b.String()
}

// ownedText is a native mount of a tenant; of nobody if that is empty.
func ownedText(name, owner string) string {
	file := strings.ReplaceAll(name, "/", "root")
	text := nativeText(name, file)
	if owner == "" {
		return strings.Replace(text, "  owner              = \"acme\"\n", "", 1)
	}
	return strings.Replace(text, `"acme"`, fmt.Sprintf("%q", owner), 1)
}

// twoTenants is a server's mounts: one of each tenant, and a catalog underneath
// that both share.
func twoTenants() string {
	return ownedText("prod", "acme") + ownedText("lake", "globex") + ownedText("/", "")
}

// as asks a server as whoever has a key; "" is nobody.
func as(t testing.TB, url, who, method, path, body string) (int, string) {
	t.Helper()
	key := ""
	if who != "" {
		key = keyOf(who)
	}
	return call(t, http.DefaultClient, method, url+path, key, body)
}

// must is as for what has to succeed.
func must(t testing.TB, url, who, method, path, body string) string {
	t.Helper()
	status, text := as(t, url, who, method, path, body)
	require.Contains(t, []int{200, 204}, status, "%s %s as %s: %s", method, path, who, text)
	return text
}
