//go:build peers

package remotes

import (
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
)

// icebergJava is Iceberg's own REST server, which its project tests its clients with. It joins the levels of a namespace
// with a dot, and gives pages only where a client says how long they are to be.
func icebergJava() *server {
	return &server{
		name:  "Iceberg Java",
		heavy: true,
		// Jetty, its web server, refuses encoded slashes, backslashes, percent signs and dots in a path.
		refuses: []string{"slash/ed", "per%cent", "..", "back\\slash", "%2F"},
		gaps: map[string]gap{
			"namespaces: absent, nothing is made there": {"/tables: want 404, got 200", "its catalog over a database has a namespace as soon as a table is in it"},
			"tables: commit, what nobody knows":         {"want 400, got 502", "it answers 500, after which nobody knows whether it was applied"},
			"tables: probes by HEAD":                    {"/files: want 404, got 204", "to HEAD it says of a table's metadata tables that they are there; to GET, as it should, that they are not"},
		},
		start: func(t *testing.T) *remote {
			process := peers.StartJavaServer(t)
			return &remote{url: process.URL, direct: direct(t, process.URL, ""), own: []string{host(t, process.URL)}}
		},
	}
}
