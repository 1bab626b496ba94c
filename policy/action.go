package policy

import "github.com/icefield/icefield/capabilities"

// Action is what somebody wants to do: the name of an operation, or one of the
// actions of this file.
type Action string

// The actions that are no operation of their own.
const (
	// PurgeTable is a drop that deletes the files. Group manage.
	PurgeTable Action = "purgeTable"
	// VendRestricted hands out storage credentials, signs and plans scans for a
	// read that is restricted: for engines that are trusted to apply the
	// restriction. It is in no group, so that it is always named.
	VendRestricted Action = "vendRestricted"
	// Inspect reads the status of the server or of a mount: /admin/v1, details of
	// /ready. On the server: group none; on a mount: group manage.
	Inspect Action = "inspect"
	// ReadMetrics reads /metrics. In no group.
	ReadMetrics Action = "readMetrics"
)

// ActionOf is the action of an operation.
func ActionOf(op capabilities.Op) Action { return Action(op.String()) }

// Groups are the groups that an action is in: that of its row, and for what only
// asks whether something exists list too, so that a policy of list shows names.
func Groups(a Action) []capabilities.Group {
	switch a {
	case PurgeTable, Inspect:
		return []capabilities.Group{capabilities.GroupManage}
	case VendRestricted, ReadMetrics:
		return nil
	}
	for _, row := range capabilities.Operations() {
		if row.Name != string(a) {
			continue
		}
		switch row.Op {
		case capabilities.NamespaceExists, capabilities.TableExists, capabilities.ViewExists:
			return []capabilities.Group{capabilities.GroupList, capabilities.GroupRead}
		}
		return []capabilities.Group{row.Group}
	}
	return nil
}

// Actions lists every action there is: the operations in the order of their
// table, then the others.
func Actions() []Action {
	var all []Action
	for _, row := range capabilities.Operations() {
		all = append(all, Action(row.Name))
	}
	return append(all, PurgeTable, VendRestricted, Inspect, ReadMetrics)
}
