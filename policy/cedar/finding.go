package cedar

import (
	"fmt"
	"strings"
)

// Finding is one thing that is wrong with a set of policies.
type Finding struct {
	// File is where, by the path that it was found under; the glob that found
	// nothing; "builtin" for the built-in policies.
	File string `json:"file"`
	// Line and Column begin at 1; 0 if the whole file is meant. They are where the
	// policy begins, or what cannot be read.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Policy is the id of the policy; empty if it is not about one.
	Policy string `json:"policy,omitempty"`
	// Problem says what is wrong and what to do about it.
	Problem string `json:"problem"`
}

// String is the finding in a line.
func (f Finding) String() string { return f.place() + ": " + f.Problem }

// place is where it is, and which policy it is about.
func (f Finding) place() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", at, f.Line, f.Column)
	}
	if f.Policy != "" && !strings.HasSuffix(f.Policy, at) { // the place is an id too
		at += fmt.Sprintf(": policy %q", f.Policy)
	}
	return at
}

// Problems are why a set of policies is refused.
type Problems struct {
	// Findings are the first of them, in the order of files and lines.
	Findings []Finding
	// More is how many others there are.
	More int

	// fatal tells that they leave no set to be had.
	fatal bool
}

// Error lists the findings, a line each.
func (p *Problems) Error() string {
	lines := make([]string, 0, len(p.Findings)+1)
	for _, f := range p.Findings {
		lines = append(lines, f.String())
	}
	if p.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", p.More))
	}
	return strings.Join(lines, "\n")
}

// maxFindings bounds what is said of one set.
const maxFindings = 100

func (p *Problems) add(f Finding) {
	if len(p.Findings) >= maxFindings {
		p.More++
		return
	}
	p.Findings = append(p.Findings, f)
}

// join adds those of another.
func (p *Problems) join(other *Problems) {
	for _, f := range other.Findings {
		p.add(f)
	}
	p.More += other.More
}

// err is nil if there are none.
func (p *Problems) err() error {
	if len(p.Findings) == 0 {
		return nil
	}
	return p
}
