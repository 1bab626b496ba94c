package mounttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Config says what the suite runs over.
type Config struct {
	// Open opens a backend that is fresh and empty below Under, and registers
	// its clean-up. It is called once for each subtest.
	Open func(t testing.TB) mounts.Backend
	// Seed stands in for Open where the backend cannot create content itself: it
	// opens the backend and a writer that fills the same catalog, with the same
	// names. What the writer did must be visible to the backend at once.
	Seed func(t testing.TB) (backend, writer mounts.Backend)
	// Under is the namespace that everything happens below; nil is the root. It
	// must exist.
	Under mounts.Namespace
	// Gaps holds the subtests that do not hold for the backend, each with the
	// reason. They are not run. A name of the matrix that is a gap in
	// "names/namespace/…", "names/table/…" or "names/view/…" is left out of the
	// listings too.
	Gaps map[string]string
	// Part, if set, chooses the subtests to run, for a stack whose ingredients run
	// the whole suite elsewhere.
	Part func(subtest string) bool
}

// check is one subtest.
type check struct {
	// name is stable: gaps refer to it.
	name string
	// needs is what the backend must be able to do for the subtest to mean
	// something; what a writer does for it is not counted.
	needs capabilities.Set
	// writes is what the writer must be able to do.
	writes capabilities.Set
	// keys is what it needs of the backend's KeyLifetime.
	keys keys
	run  func(*suite)
}

func of(ops ...capabilities.Op) capabilities.Set { return capabilities.Of(ops...) }

// Run runs the conformance suite: every subtest that the backend's capabilities
// and KeyLifetime cover and that is no gap, named as "namespaces/nested". It fails if a gap
// names no subtest or has no reason.
func Run(t *testing.T, config Config) {
	t.Helper()
	if (config.Open == nil) == (config.Seed == nil) {
		t.Fatal("a Config has either Open or Seed")
	}
	checks := allChecks()
	for _, gap := range unknownGaps(checks, config.Gaps) {
		t.Error(gap)
	}
	probe := open(t, config)
	able, writes := probe.b.Capabilities(), probe.w.Capabilities()
	if missing := capabilities.Floor().Without(able.Emulated()); missing != 0 {
		t.Fatalf("the backend lacks what every catalog must have: %v", missing.Endpoints())
	}
	if missing := of(capabilities.CreateNamespace, capabilities.CreateTable).Without(writes); missing != 0 {
		t.Fatalf("nobody can create content (%v): give the Config a Seed with a writer", missing.Endpoints())
	}
	ran := 0
	for _, c := range checks {
		if config.Part != nil && !config.Part(c.name) {
			continue
		}
		if _, gap := config.Gaps[c.name]; gap || c.needs.Without(able) != 0 || c.writes.Without(writes) != 0 || !c.keys.fit(probe.b) {
			continue
		}
		ran++
		t.Run(c.name, func(t *testing.T) { c.run(open(t, config)) })
	}
	if ran == 0 || ran < 20 && config.Part == nil {
		t.Errorf("only %d subtests ran", ran)
	}
}

// Subtests returns the names of all subtests, which gaps may refer to.
func Subtests() []string {
	var names []string
	for _, c := range allChecks() {
		names = append(names, c.name)
	}
	return names
}

func allChecks() []check {
	return slices.Concat(namespaceChecks(), nameChecks(), listingChecks(), tableChecks(), createChecks(), commitChecks(), refusalChecks(),
		concurrencyChecks(), transactionChecks(), moveChecks(), registerChecks(), viewChecks(), viewCommitChecks(), viewRegisterChecks(),
		onceChecks(), contractChecks())
}

// unknownGaps says what is wrong with gaps, sorted.
func unknownGaps(checks []check, gaps map[string]string) []string {
	var wrong []string
	for name, reason := range gaps {
		if !slices.ContainsFunc(checks, func(c check) bool { return c.name == name }) {
			wrong = append(wrong, "the gap "+name+" names no subtest")
		}
		if strings.TrimSpace(reason) == "" {
			wrong = append(wrong, "the gap "+name+" has no reason")
		}
	}
	slices.Sort(wrong)
	return wrong
}
