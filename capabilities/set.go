package capabilities

import (
	"math/bits"
	"strings"
)

// Set is a set of operations. It is a value: comparable, and safe to share.
// The zero Set is empty.
type Set uint64

// Of returns the set of the given operations.
func Of(ops ...Op) Set {
	var s Set
	for _, op := range ops {
		if op != 0 && op < end {
			s |= 1 << op
		}
	}
	return s
}

func where(keep func(Operation) bool) Set {
	var s Set
	for _, row := range operations {
		if keep(row) {
			s |= Of(row.Op)
		}
	}
	return s
}

// All is every operation of the table.
func All() Set { return all }

// Default is what a catalog that publishes no endpoint list is taken to have:
// the REST spec's fourteen.
func Default() Set { return where(func(o Operation) bool { return o.Default }) }

// Reads is every operation that changes nothing.
func Reads() Set { return reads }

// Changes is every operation that changes what a catalog holds. Taking an
// engine's report and giving up a scan plan do not.
func Changes() Set {
	return all.Without(reads).Without(Of(ReportMetrics, CancelPlan))
}

// They do not change, and every request asks for them.
var (
	all   = where(func(Operation) bool { return true })
	reads = where(func(o Operation) bool { return o.Class == Read })
)

// Floor is what every catalog must have to be one: listing and loading of
// namespaces and tables, with the existence checks that loads answer.
func Floor() Set {
	return Of(ListNamespaces, LoadNamespace, ListTables, LoadTable).Emulated()
}

// Has reports whether op is in the set.
func (s Set) Has(op Op) bool { return op != 0 && op < end && s&(1<<op) != 0 }

// Len is the number of operations in the set.
func (s Set) Len() int { return bits.OnesCount64(uint64(s)) }

// Intersect returns what both sets have.
func (s Set) Intersect(other Set) Set { return s & other }

// Union returns what either set has.
func (s Set) Union(other Set) Set { return s | other }

// Without returns the set less the other one.
func (s Set) Without(other Set) Set { return s &^ other }

// Emulated adds the existence checks that are served through a load, so that
// they are advertised even where a remote offers only the load.
func (s Set) Emulated() Set {
	for _, pair := range [...][2]Op{
		{LoadNamespace, NamespaceExists}, {LoadTable, TableExists}, {LoadView, ViewExists},
	} {
		if s.Has(pair[0]) {
			s |= Of(pair[1])
		}
	}
	return s
}

// Endpoints lists the set as /v1/config spells it, in the table's order. It is
// never nil.
func (s Set) Endpoints() []string {
	list := make([]string, 0, s.Len())
	for _, row := range operations {
		if s.Has(row.Op) {
			list = append(list, row.Endpoint())
		}
	}
	return list
}

// FromEndpoints reads a remote's endpoint list. Entries that are not one verb,
// one blank and a path are dropped and counted; well-formed entries of
// operations that the table does not have are ignored. A list with nothing
// well-formed left counts as absent, which the REST spec defines as Default.
func FromEndpoints(list []string) (set Set, malformed int) {
	byEndpoint := make(map[string]Op, len(operations))
	for _, row := range operations {
		byEndpoint[row.Endpoint()] = row.Op
	}
	wellFormed := 0
	for _, entry := range list {
		verb, path, ok := strings.Cut(entry, " ")
		if !ok || verb == "" || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t\r\n") {
			malformed++
			continue
		}
		wellFormed++
		set |= Of(byEndpoint[entry])
	}
	if wellFormed == 0 {
		return Default(), malformed
	}
	return set, malformed
}
