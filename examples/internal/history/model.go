package history

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Appends: the state of a group of tables is the current snapshot of each.

// step is one operation on tables of one group, as a client saw it.
type step struct {
	// read, or else an append to each of the tables, from parents to id.
	read    bool
	tables  []int
	parents []int64
	id      int64
}

// seen is what came of a step: a read's snapshot, or whether an append was made.
type seen struct {
	snapshot int64
	made     bool
}

const groupSize = 2

type heads [groupSize]int64

// appends says what one copy of a group of tables would do: an append is made if
// and only if every table still stands where it builds on.
func appends() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return heads{} },
		Step: func(state, input, output any) (bool, any) {
			at, in, out := state.(heads), input.(step), output.(seen)
			if in.read {
				return at[in.tables[0]] == out.snapshot, at
			}
			holds := true
			for i, table := range in.tables {
				holds = holds && at[table] == in.parents[i]
			}
			if holds != out.made {
				return false, at
			}
			if out.made {
				for _, table := range in.tables {
					at[table] = in.id
				}
			}
			return true, at
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) },
	}
}

// Trees: the state of a namespace is whether it and its one table are there.

type treeOp int

const (
	createNamespace treeOp = iota
	dropNamespace
	createTable
	dropTable
	loadTable
	loadNamespace
)

var treeOps = [...]string{"create namespace", "drop namespace", "create table", "drop table", "load table", "load namespace"}

func (o treeOp) String() string { return treeOps[o] }

type tree struct{ namespace, table bool }

// trees says what one copy of a namespace with a table would do. An output of
// unknown fits everything: it has its effect if it can have one.
func trees() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return tree{} },
		Step: func(state, input, output any) (bool, any) {
			at, op, out := state.(tree), input.(treeOp), output.(result)
			can, next := at.do(op)
			switch out {
			case unknown:
				return true, next
			case applied:
				return can, next
			}
			return !can, at
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v -> %v", input, output) },
	}
}

// do is whether an operation succeeds, and the state after it.
func (t tree) do(op treeOp) (bool, tree) {
	can := false
	switch op {
	case createNamespace:
		can = !t.namespace
	case dropNamespace:
		can = t.namespace && !t.table
	case createTable:
		can = t.namespace && !t.table
	case dropTable, loadTable:
		can = t.table
	case loadNamespace:
		can = t.namespace
	}
	if !can {
		return false, t
	}
	switch op {
	case createNamespace:
		t.namespace = true
	case dropNamespace:
		t.namespace = false
	case createTable:
		t.table = true
	case dropTable:
		t.table = false
	}
	return true, t
}
