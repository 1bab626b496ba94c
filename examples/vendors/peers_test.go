//go:build peers

package vendors

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/examples/internal/wire"
)

// TestOneTreeOverVendors runs the scenario with Iceberg's Java REST server as the partner, and real clients.
func TestOneTreeOverVendors(t *testing.T) {
	python := peers.NewPython(t)
	java := peers.StartJavaServer(t)
	partner := wire.New(java.URL, "").WithSeparator(".")
	s := start(t, java.URL, partner)
	s.partnerHasViews = true

	ends(t, python.Run(t, "seed.py", s.url, java.URL, s.sisterURL), "seed: done")
	t.Run("PyIcebergSeesOneTree", func(t *testing.T) {
		ends(t, python.Run(t, "tree.py", s.url), "tree: all steps passed")
	})
	t.Run("JavaClientSendsOnlyWhatIsAdvertised", func(t *testing.T) {
		ends(t, peers.RunJava(t, "JavaClient.java", s.url), "java: all steps passed")
	})
	t.Run("Mounts", func(t *testing.T) { testMounts(t, s) })

	// The Java server joins namespace levels with dots, so a level that holds one is two levels to it. Its HTTP server,
	// Jetty, refuses paths with an encoded slash, backslash or percent sign and resolves "..": such names can be created
	// and listed there and not be loaded. An empty list is what its listings have below such a name.
	refused := []string{"/", "%", `\`, ".."}
	sides := []side{
		{mount: "", view: "root", namespaces: awkward, tables: awkward, reachable: everything},
		{mount: "prod", view: "prod", namespaces: awkward, tables: awkward, reachable: everything},
		{
			mount: "partner", view: "partner", namespaces: without(awkward, "."), tables: awkward,
			reachable: func(name string) bool { return len(without([]string{name}, refused...)) == 1 },
		},
		{mount: "sister", view: "sister", namespaces: awkward, tables: awkward, reachable: everything},
	}
	sides[0].fill(t, s.view("root"))
	sides[1].fill(t, s.view("prod"))
	sides[2].fill(t, partner)
	sides[3].fill(t, s.sister)
	root := append(seedRoot(t, s), "scratch")
	t.Run("Listings", func(t *testing.T) { testListings(t, s, root, sides) })
	t.Run("Refusals", func(t *testing.T) { testRefusals(t, s) })
	t.Run("ForeignTokens", func(t *testing.T) { testForeignTokens(t, s) })
	t.Run("RemotePagesAreFetchedOnce", func(t *testing.T) { testRemotePagesAreFetchedOnce(t, s) })
	t.Run("EveryReadFails", func(t *testing.T) { testEveryReadFails(t, s.patient(t)) })
	t.Run("Faults", func(t *testing.T) { testFaults(t, s) })
	if refused := s.gate.Refused(); refused != 0 {
		t.Errorf("%d requests reached the sister's gate without the token", refused)
	}
}

// ends asserts what the last line of a program's output is.
func ends(t *testing.T, output, last string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if lines[len(lines)-1] != last {
		t.Fatalf("the last line is not %q:\n%s", last, output)
	}
}
