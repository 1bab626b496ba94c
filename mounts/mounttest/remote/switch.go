package remote

import (
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Switch is one thing that remote catalogs are known to do, and what a client
// must make of it.
type Switch struct {
	// Name is stable: tests name it when they set their client up for it.
	Name string
	// Why says who does so and where that is written: the requirement's section,
	// or the vendor.
	Why string
	// Set turns a habit on. Nil for a fault.
	Set func(*Quirks)
	// Fault is what hits every operation, one after the other.
	Fault Fault
	// Ops, if any, are the only operations that a switch of Faults is about.
	Ops capabilities.Set
	// Base is the path that the remote is served at, for switches that need one.
	Base string
	// Gaps are subtests of the conformance suite that cannot hold over this habit,
	// each with the reason. A name that ends in "*" stands for all that begin so.
	Gaps map[string]string
	// Want is what becomes of calls under a fault.
	Want Want
}

// Want is what a client must make of a fault: nothing at all (Same), or one kind
// of error for reads, for writes and for commits.
type Want struct {
	// Same: the call succeeds as it does without the fault.
	Same                bool
	Read, Write, Commit mounts.Kind
	// Unknown: a write or commit is reported as of unknown outcome.
	Unknown bool
	// Retry: the error says how long to wait.
	Retry bool
}

// Habits are the switches that change nothing for a client: whatever it asks is
// answered as it would be without, gaps excepted.
func Habits() []Switch {
	return slices.Concat(configHabits(), addressHabits(), namespaceHabits(), listingHabits(), answerHabits(), transportHabits(),
		errorHabits(), writeHabits(), loginHabits(), storageHabits())
}

// Faults are the switches that a client must make a certain refusal of, or see
// through.
func Faults() []Switch {
	return slices.Concat(statusFaults(), pageFaults(), damageFaults(), someFaults())
}

// gaps are several subtests that do not hold for one reason.
func gaps(why string, names ...string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		all[name] = why
	}
	return all
}
