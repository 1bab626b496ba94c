package vendors

import (
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/wire"
)

// TestOneTreeOverThreeIcefields runs the scenario with nothing but Go: the partner is a third Icefield, whose server is
// called by the warehouse's name that lake.hcl asks for.
func TestOneTreeOverThreeIcefields(t *testing.T) {
	partner := icefield(t, "partner", "sister/sister.hcl", "SISTER", "SISTER_NAME=sales")
	s := start(t, partner, wire.New(partner, ""))

	sides := []side{
		{mount: "", view: "root", namespaces: awkward, tables: awkward, reachable: everything},
		{mount: "prod", view: "prod", namespaces: awkward, tables: awkward, reachable: everything},
		{mount: "partner", view: "partner", namespaces: awkward, tables: awkward, reachable: everything},
		{mount: "sister", view: "sister", namespaces: awkward, tables: awkward, reachable: everything},
	}
	sides[0].fill(t, s.view("root"))
	sides[1].fill(t, s.view("prod"))
	sides[2].fill(t, s.partnerDirect)
	sides[3].fill(t, s.sister)
	for _, catalog := range []*wire.Catalog{s.view("prod"), s.sister} {
		catalog.MustCreateNamespace(t, "sales")
		catalog.MustCreateTable(t, "orders", "sales")
	}
	s.partnerDirect.MustCreateNamespace(t, "shared")
	s.partnerDirect.MustCreateTable(t, "customers", "shared")
	root := seedRoot(t, s)

	t.Run("Mounts", func(t *testing.T) { testMounts(t, s) })
	t.Run("Listings", func(t *testing.T) { testListings(t, s, root, sides) })
	t.Run("Refusals", func(t *testing.T) { testRefusals(t, s) })
	t.Run("ForeignTokens", func(t *testing.T) { testForeignTokens(t, s) })
	t.Run("RemotePagesAreFetchedOnce", func(t *testing.T) { testRemotePagesAreFetchedOnce(t, s) })
	t.Run("EveryReadFails", func(t *testing.T) { testEveryReadFails(t, s.patient(t)) })
	t.Run("PartnerThatComesLater", func(t *testing.T) { testPartnerThatComesLater(t, s) })
	t.Run("Faults", func(t *testing.T) { testFaults(t, s) })
	if refused := s.gate.Refused(); refused != 0 {
		t.Errorf("%d requests reached the sister's gate without the token", refused)
	}
}

// seedRoot creates awkward top-level namespaces underneath and returns what the root must list.
func seedRoot(t *testing.T, s *scenario) []string {
	t.Helper()
	root := []string{"prod", "partner", "sister", "names"}
	for _, name := range awkward {
		s.tree.MustCreateNamespace(t, name)
	}
	return append(root, awkward...)
}

// testMounts asserts what /v1/config says of the tree and of each mount, and that a table is the same object in both.
func testMounts(t *testing.T, s *scenario) {
	tree, err := s.tree.Config("")
	if err != nil {
		t.Fatal(err)
	}
	views := map[string]*wire.Config{}
	for _, mount := range []string{"root", "prod", "partner", "sister"} {
		if views[mount], err = s.tree.Config(mount); err != nil {
			t.Fatal(err)
		}
		if got := views[mount].Overrides["prefix"]; got != mount {
			t.Errorf("the prefix of %s is %q", mount, got)
		}
		for _, endpoint := range tree.Endpoints {
			if !slices.Contains(views[mount].Endpoints, endpoint) {
				t.Errorf("the tree offers %q, which %s lacks", endpoint, mount)
			}
		}
	}
	const create, load = "POST /v1/{prefix}/namespaces/{namespace}/tables", "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}"
	for name, want := range map[string]bool{"prod": true, "root": true, "partner": false, "sister": false} {
		if got := slices.Contains(views[name].Endpoints, create); got != want {
			t.Errorf("%s offers to create tables: %v, want %v", name, got, want)
		}
	}
	if slices.Contains(tree.Endpoints, create) || !slices.Contains(tree.Endpoints, load) {
		t.Errorf("the tree, which has read-only mounts, offers %q", tree.Endpoints)
	}

	for mount, at := range map[string][2]string{"prod": {"sales", "orders"}, "sister": {"sales", "orders"}, "partner": {"shared", "customers"}} {
		inTree, err := s.tree.LoadTable(at[1], mount, at[0])
		if err != nil {
			t.Fatal(err)
		}
		inView, err := s.view(mount).LoadTable(at[1], at[0])
		if err != nil {
			t.Fatal(err)
		}
		if inTree.Metadata.UUID == "" || inTree.Metadata.UUID != inView.Metadata.UUID || inTree.MetadataLocation != inView.MetadataLocation {
			t.Errorf("%s: the tree has %+v, the view %+v", mount, inTree, inView)
		}
	}

	unknown, err := s.tree.Call("GET", "/config?warehouse=nowhere", nil)
	if err != nil || unknown.Status != 404 || unknown.Type != "NoSuchWarehouseException" || !strings.Contains(unknown.Message, "partner") {
		t.Errorf("an unknown warehouse: %v, %v", unknown, err)
	}
}
