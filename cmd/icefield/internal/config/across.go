package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/icefield/icefield/mounts"
)

// across checks what no mount can be checked for alone. Of two mounts that
// contradict each other the later is reported, with the place of the earlier.
func (l *loader) across(rows []row, server *Server, serverBlock *hcl.Block) {
	for i, r := range rows {
		l.serverName(r, server, serverBlock)
		l.governed(r, rows)
		for _, earlier := range rows[:i] {
			if l.names(r, earlier) {
				l.warehouses(r, earlier)
			}
		}
	}
}

// governed warns of storage locations that a remote mount may relay credentials
// for and that another mount governs: for those nothing is ever relayed.
func (l *loader) governed(r row, rows []row) {
	if r.Rest == nil {
		return
	}
	for _, location := range r.Rest.AllowedLocations {
		for _, other := range rows {
			if other.warehouseOK && within(location, other.Native.Warehouse) {
				l.warn(r.allowed, "Location of another mount", fmt.Sprintf("%s lies inside the warehouse of the mount %q at %s, which governs it: no credentials of a remote are relayed for it.",
					l.show(r.allowed, location), other.Name, place(other.warehouse.Range)))
			}
		}
	}
}

// serverName refuses a mount that is called like the whole tree.
func (l *loader) serverName(r row, server *Server, block *hcl.Block) {
	if !r.nameOK || r.ViewName != server.Name {
		return
	}
	where := "which is the default"
	if block != nil {
		where = "server block at " + place(block.DefRange)
	}
	l.problem(r.called(), "Name taken", fmt.Sprintf("%q is the name of the whole tree (%s), so as a warehouse it would mean both. Rename the mount, or set name in the server block.", r.ViewName, where))
}

// called is the place that says what a mount is called.
func (r row) called() hcl.Range {
	if r.name != nil {
		return r.name.Expr.Range()
	}
	return r.label()
}

// names compares two mounts' names and says whether more is worth comparing.
func (l *loader) names(r, earlier row) bool {
	switch {
	case r.Name == earlier.Name:
		l.problem(r.label(), "Duplicate mount", fmt.Sprintf("The mount %q stands already at %s. Rename one or leave it out.", r.Name, place(earlier.block.DefRange)))
		return false
	case r.nameOK && earlier.nameOK && r.ViewName == earlier.ViewName:
		under, at := r, earlier
		if earlier.Name == mounts.UnderName {
			under, at = earlier, r
		}
		l.problem(under.called(), "Name taken", fmt.Sprintf(`Mount "/" is called %q as a catalog of its own, and so is the mount at %s. Give mount "/" another name: name = "…".`, under.ViewName, place(at.block.DefRange)))
	}
	return true
}

// warehouses refuses two native mounts that would write into each other's files.
func (l *loader) warehouses(r, earlier row) {
	if native := r.Native; native != nil && earlier.Native != nil && native.Registry.Place() != "" && native.Registry.Place() == earlier.Native.Registry.Place() {
		same, remedy := "file", "Give each mount a file of its own."
		if native.Registry.Postgres != "" {
			same, remedy = "schema of the same database", `Give each mount a schema of its own: "postgres://…/database?schema=name".`
		}
		l.refuse(r.registry, "Shared registry", fmt.Sprintf("The mount %q at %s keeps its registry in the same %s. %s", earlier.Name, place(earlier.registry.Range), same, remedy))
	}
	if r.warehouseOK && earlier.warehouseOK && overlap(r.Native.Warehouse, earlier.Native.Warehouse) {
		l.refuse(r.warehouse, "Overlapping warehouses", fmt.Sprintf("This warehouse and that of the mount %q at %s lie one inside the other, so each mount would govern the other's files. Give them places side by side.",
			earlier.Name, place(earlier.warehouse.Range)))
	}
}
