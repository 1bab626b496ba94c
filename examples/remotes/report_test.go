//go:build peers

package remotes

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// step is one thing that a client does with a catalog.
type step struct {
	name string
	run  func(k *kit)
}

// attempt runs a step and returns how it failed, "" if it did not.
func attempt(s step, k *kit) (failed string) {
	defer func() {
		if p := recover(); p != nil {
			f, is := p.(failure)
			if !is {
				panic(p)
			}
			failed = string(f)
		}
		if leaks := k.lake.leaks.take(); failed == "" && len(leaks) > 0 {
			failed = strings.Join(leaks, "\n")
		}
	}()
	s.run(k)
	return ""
}

// report is what became of each step with each server.
type report struct {
	mu      sync.Mutex
	servers []string
	steps   []string
	cells   map[[2]string][]string
	notes   []string
}

func newReport(servers []*server) *report {
	r := &report{cells: map[[2]string][]string{}}
	for _, s := range servers {
		r.servers = append(r.servers, s.name)
	}
	return r
}

// run runs steps one after the other and notes what became of them. A step with a gap has to fail as the gap says.
func (r *report) run(t *testing.T, k *kit, steps []step) {
	for _, s := range steps {
		t.Run(s.name+" in the "+k.scope, func(t *testing.T) {
			failed := attempt(s, k)
			gap, known := k.server.gaps[s.name]
			cell := "yes"
			switch {
			case known && failed == "":
				t.Errorf("works now, so that the gap can go: %s", gap.reason)
			case known && !strings.Contains(failed, gap.shows):
				t.Errorf("fails in another way than by %q: %s", gap.shows, failed)
			case known:
				cell = "no"
			case failed != "":
				t.Error(failed)
				cell = "FAILED"
			}
			r.add(k.server, s.name, cell, gap.reason)
		})
	}
}

func (r *report) add(s *server, name, cell, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.steps, name) {
		r.steps = append(r.steps, name)
	}
	key := [2]string{s.name, name}
	if !slices.Contains(r.cells[key], cell) {
		r.cells[key] = append(r.cells[key], cell)
	}
	if note := fmt.Sprintf("%s, %s: %s", s.name, name, reason); reason != "" && !slices.Contains(r.notes, note) {
		r.notes = append(r.notes, note)
	}
}

// String is the table, in Markdown.
func (r *report) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(append([]string{"operation"}, r.servers...))
	line(slices.Repeat([]string{"---"}, len(r.servers)+1))
	for _, name := range r.steps {
		row := []string{name}
		for _, s := range r.servers {
			cell := strings.Join(r.cells[[2]string{s, name}], ", ")
			if cell == "" {
				cell = "–"
			}
			row = append(row, cell)
		}
		line(row)
	}
	slices.Sort(r.notes)
	for _, note := range r.notes {
		text.WriteString("\n- " + note)
	}
	return text.String()
}
