//go:build peers

package compatibility

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// What the suite of this release of the kit holds.
const (
	tableClass = "RESTCompatibilityKitCatalogTests"
	tableTests = 106
	viewClass  = "RESTCompatibilityKitViewCatalogTests"
	viewTests  = 51
)

// movedFile is a test that moves the file that a table's pointer names away and wants the next load to fail. A load that is
// answered from the metadata in memory does not, and a client that is answered "not changed" does not either.
const movedFile = tableClass + ".testLoadTableWithMissingMetadataFile"

// exception is a test of the suite that does not pass, with the reason.
type exception struct {
	outcome peers.KitOutcome
	reason  string
}

func exceptions() map[string]exception {
	const (
		empty  = "an Iceberg REST catalog has no namespace with an empty name: its route would be the list of namespaces"
		beyond = "switched off in the kit, whose own server cannot do it; run by beyondTheKit"
	)
	return map[string]exception{
		tableClass + ".createAndDropEmptyNamespace":         {peers.KitUnrun, empty},
		tableClass + ".listNamespacesWithEmptyNamespace":    {peers.KitUnrun, empty},
		tableClass + ".listTablesInEmptyNamespace":          {peers.KitUnrun, empty},
		tableClass + ".namespacePropertiesOnEmptyNamespace": {peers.KitUnrun, empty},
		viewClass + ".listViewsInEmptyNamespace":            {peers.KitUnrun, empty},

		tableClass + ".testListNestedNamespaces":             {peers.KitUnrun, beyond},
		tableClass + ".testDropNamespaceWithNestedNamespace": {peers.KitUnrun, beyond},
		tableClass + ".testNamespaceWithSlash":               {peers.KitUnrun, beyond},
		tableClass + ".testTableNameWithSlash":               {peers.KitUnrun, beyond},
		tableClass + ".createTableInUniqueLocation":          {peers.KitUnrun, beyond},

		movedFile: {peers.KitFailed, "metadata is kept in memory; run without that by fileIsGone"},
	}
}

// registries is how to get fresh registries of each kind, as a mount's catalog_url.
func registries() map[string]func(*testing.T) func(*testing.T) string {
	return map[string]func(*testing.T) func(*testing.T) string{
		"bolt": func(*testing.T) func(*testing.T) string {
			return func(t *testing.T) string { return "bolt://" + filepath.Join(t.TempDir(), "kit.db") }
		},
		"postgres": func(t *testing.T) func(*testing.T) string {
			cluster := pgtest.Start(t)
			return func(t *testing.T) string { return cluster.NewDatabase(t) }
		},
	}
}

func TestCompatibilityKit(t *testing.T) {
	for name, open := range registries() {
		t.Run(name, func(t *testing.T) {
			fresh := open(t)
			t.Run("whole", func(t *testing.T) { whole(t, fresh(t), "kit") })
			t.Run("whole, in the tree", func(t *testing.T) { whole(t, fresh(t), "icefield") })
			t.Run("a metadata file that is gone", func(t *testing.T) { fileIsGone(t, fresh(t)) })
			t.Run("beyond its own server", func(t *testing.T) { beyondTheKit(t, fresh(t)) })
		})
	}
}

// whole runs the suite.
func whole(t *testing.T, registry, warehouse string) {
	run := kit(startKit(t, registry), "RESTCompatibilityKitSuite")
	run.Warehouse = warehouse
	tests := run.Run(t)
	for class, want := range map[string]int{tableClass: tableTests, viewClass: viewTests} {
		got := 0
		for name := range tests {
			if strings.HasPrefix(name, class+".") {
				got++
			}
		}
		if got != want {
			t.Errorf("%d tests of %s, and the kit has %d", got, class, want)
		}
	}
	holds(t, tests, exceptions())
}

// fileIsGone runs the test for which no metadata may be kept in memory, at either end.
func fileIsGone(t *testing.T, registry string) {
	run := kit(startKit(t, registry, "KIT_METADATA_CACHE=0"), strings.ReplaceAll(movedFile, ".", "#")+"(java.nio.file.Path)")
	run.Properties["rest-table-cache.max-entries"] = "0"
	run.Properties["rest-table-cache.expire-after-write-ms"] = "1" // what is one too many is forgotten in the background
	passes(t, run, 1)
}

// beyondTheKit runs what the kit has and leaves out.
func beyondTheKit(t *testing.T, registry string) {
	run := kit(startKit(t, registry),
		"BeyondTheKit#testListNestedNamespaces", "BeyondTheKit#testDropNamespaceWithNestedNamespace",
		"BeyondTheKit#testNamespaceWithSlash", "BeyondTheKit#testTableNameWithSlash", "BeyondTheKit#createTableInUniqueLocation")
	run.Source = "BeyondTheKit.java"
	passes(t, run, 5)
}

// startKit runs kit.hcl over a registry and returns the server's URL.
func startKit(t *testing.T, registry string, env ...string) string {
	t.Helper()
	address := launch.FreeAddress(t)
	env = append(env, "KIT_LISTEN="+address, "KIT_REGISTRY="+registry)
	launch.Check(t, env, "kit.hcl")
	launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "kit.hcl"}, Env: env,
		Ready: "http://" + address + "/ready",
	})
	return "http://" + address
}

// kit is a run of some of the kit's tests with everything switched on that it has a property for.
func kit(url string, selected ...string) peers.Kit {
	for i, name := range selected {
		selected[i] = "org.apache.iceberg.rest." + name
	}
	return peers.Kit{URL: url, Warehouse: "kit", Select: selected, Properties: map[string]string{
		"rck.requires-namespace-create": "true",
		"rck.supports-names-with-dot":   "true",
		"rck.supports-serverside-retry": "true",
		"rck.supports-variant":          "true",
	}}
}

func passes(t *testing.T, run peers.Kit, want int) {
	t.Helper()
	tests := run.Run(t)
	if len(tests) != want {
		t.Errorf("%d tests were run and not %d: %q", len(tests), want, slices.Sorted(maps.Keys(tests)))
	}
	holds(t, tests, nil)
}

// holds asserts that every test passed but the exceptions, and that these came out as it is written.
func holds(t *testing.T, tests map[string]peers.KitTest, exceptions map[string]exception) {
	t.Helper()
	count := map[peers.KitOutcome]int{}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		test := tests[name]
		count[test.Outcome]++
		switch expected, listed := exceptions[name]; {
		case !listed && test.Outcome != peers.KitPassed:
			t.Errorf("%s: %s\n%s", name, test.Outcome, test.Detail)
		case listed && test.Outcome == peers.KitPassed:
			t.Errorf("%s passes; the list of exceptions still says: %s", name, expected.reason)
		case listed && test.Outcome != expected.outcome:
			t.Errorf("%s: %s, and expected is that it is %s (%s)\n%s", name, test.Outcome, expected.outcome, expected.reason, test.Detail)
		}
	}
	for name := range exceptions {
		if _, there := tests[name]; !there {
			t.Errorf("%s is on the list of exceptions and not in the kit", name)
		}
	}
	t.Logf("%d passed, %d failed, %d not run; %d of these are exceptions", count[peers.KitPassed], count[peers.KitFailed], count[peers.KitUnrun], len(exceptions))
}
