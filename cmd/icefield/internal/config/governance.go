package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

var (
	policyShape = shape{attrs: []string{"files", "builtin"}}
	tenantShape = shape{attrs: []string{"policies"}}
	auditShape  = shape{attrs: []string{"sink", "path", "fail_closed", "max_size", "keep", "queue"}}
)

// policies reads the policy block; without one, or without files, the built-in
// policies are in effect.
func (l *loader) policies(block *hcl.Block) Policies {
	if block == nil {
		return Policies{Builtin: true}
	}
	clear(l.meant)
	a := l.content(block.Body, policyShape).Attributes
	p := Policies{Files: l.globs(a["files"])}
	p.Builtin = l.boolean(a["builtin"], len(p.Files) == 0)
	if !p.Builtin && a["files"] == nil && a["builtin"] != nil {
		l.refuse(a["builtin"], "No policies", "Without files and without the built-in policies nobody but operators could do anything. Name files, or leave builtin out.")
	}
	return p
}

const maxGlobs = 100

// globs reads patterns of policy files. What they find is looked at when the
// policies are loaded: it changes while a server runs.
func (l *loader) globs(attr *hcl.Attribute) []string {
	var all []string
	l.each(attr, maxGlobs, func(at hcl.Range, s string) {
		if _, err := filepath.Match(s, ""); err != nil {
			l.problem(at, "Invalid pattern", fmt.Sprintf(`%s is no pattern of file names: a bracket is not closed. "*" stands for any part of a name, "?" for one character.`, l.show(attr, s)))
			return
		}
		all = append(all, absolute(dirOf(attr), s))
	})
	return all
}

// tenants reads the tenant blocks.
func (l *loader) tenants(blocks hcl.Blocks) []Tenant {
	var all []Tenant
	seen := map[string]*hcl.Block{}
	for _, b := range blocks {
		clear(l.meant)
		name := b.Labels[0]
		switch earlier := seen[name]; {
		case earlier != nil:
			l.problem(b.LabelRanges[0], "Duplicate tenant", fmt.Sprintf("The tenant %q stands already at %s. Put both into one block.", name, place(earlier.DefRange)))
		case name == "" || len(name) > 256 || hasControl(name):
			l.problem(b.LabelRanges[0], "Invalid tenant name", "A tenant's name is any text of 1 to 256 bytes without control characters.")
		}
		seen[name] = b
		a := l.content(b.Body, tenantShape).Attributes
		if a["policies"] == nil {
			l.missing(b, "policies", `Say which policies hold for what the tenant owns: policies = ["policies/acme/*.cedar"].`)
		}
		all = append(all, Tenant{Name: name, Policies: l.globs(a["policies"])})
	}
	return all
}

// The defaults of the audit block.
const (
	DefaultAuditSize  = 100 << 20
	DefaultAuditKeep  = 10
	DefaultAuditQueue = 10_000
)

// audit reads the audit block; nil means that nothing is recorded.
func (l *loader) audit(block *hcl.Block) Audit {
	audit := Audit{Sink: SinkNone, MaxSize: DefaultAuditSize, Keep: DefaultAuditKeep, Queue: DefaultAuditQueue}
	if block == nil {
		return audit
	}
	clear(l.meant)
	a := l.content(block.Body, auditShape).Attributes
	sinks := []string{SinkStdout, SinkFile, SinkNone}
	sink := l.needed(block, a["sink"], "sink", "Say where the trail goes: sink = "+orList("", sinks)+".")
	switch sink {
	case SinkStdout, SinkFile, SinkNone:
		audit.Sink = sink
	case "":
		return audit
	default:
		advice := "Known: " + strings.Join(sinks, ", ") + "."
		if near := nearest(sink, sinks); near != "" {
			advice = fmt.Sprintf("Did you mean %q?", near)
		}
		l.refuse(a["sink"], "Unknown sink", "There is no sink of this name. "+advice)
		return audit
	}
	audit.FailClosed = l.boolean(a["fail_closed"], sink != SinkNone)
	audit.Queue = l.integer(a["queue"], audit.Queue, 1, 10_000_000)
	audit.MaxSize = l.size(a["max_size"], audit.MaxSize, 1<<20, 1<<40)
	audit.Keep = l.integer(a["keep"], audit.Keep, 1, 10_000)
	idle := []string{}
	switch sink {
	case SinkFile:
		audit.Path = l.path(a["path"], l.needed(block, a["path"], "path", `Say which file: path = "/var/log/icefield/audit.jsonl".`))
	case SinkStdout:
		idle = []string{"path", "max_size", "keep"}
	case SinkNone:
		idle = []string{"path", "max_size", "keep", "queue", "fail_closed"}
	}
	for _, key := range idle {
		if a[key] != nil {
			l.problem(a[key].NameRange, "Nothing to set", fmt.Sprintf("%s does nothing with sink = %q. Leave it out.", key, sink))
		}
	}
	return audit
}
