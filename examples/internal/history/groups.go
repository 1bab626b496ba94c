package history

import (
	"fmt"
	"sync"

	"github.com/anishathalye/porcupine"
)

// group is one or two tables with everything that was recorded of them.
type group struct {
	tables []string

	mu    sync.Mutex
	known []porcupine.Operation
	// doubtful appends have no answer; whether they were made is seen at the end.
	doubtful []porcupine.Operation
	refused  []step
}

func newGroup(tables ...string) *group { return &group{tables: tables} }

func (g *group) record(client int, begin, end int64, s step, out seen, doubtful bool) {
	op := porcupine.Operation{ClientId: client, Input: s, Call: begin, Output: out, Return: end}
	g.mu.Lock()
	defer g.mu.Unlock()
	if doubtful {
		g.doubtful = append(g.doubtful, op)
	} else {
		g.known = append(g.known, op)
	}
}

// never records an append that the server said it did not make.
func (g *group) never(s step) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refused = append(g.refused, s)
}

// treeGroup is a namespace that some writers create and drop, and its
// predecessors.
type treeGroup struct {
	number int
	mu     sync.Mutex
	spaces []*treeSpace
}

func newTreeGroup(number int) *treeGroup {
	g := &treeGroup{number: number}
	g.add()
	return g
}

func (g *treeGroup) add() {
	g.spaces = append(g.spaces, &treeSpace{name: fmt.Sprintf("tree-%d-%d", g.number, len(g.spaces))})
}

func (g *treeGroup) current() *treeSpace {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.spaces[len(g.spaces)-1]
}

// leave goes on with another namespace.
func (g *treeGroup) leave(space *treeSpace) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.spaces[len(g.spaces)-1] == space {
		g.add()
	}
}

// treeSpace is one such namespace.
type treeSpace struct {
	name string
	mu   sync.Mutex
	ops  []porcupine.Operation
}

func (s *treeSpace) record(client int, begin, end int64, op treeOp, out result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops = append(s.ops, porcupine.Operation{ClientId: client, Input: op, Call: begin, Output: out, Return: end})
}
