package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
)

// shape is what a block may hold. No attribute is required here: what is
// missing is reported with what it is for.
type shape struct {
	attrs  []string
	blocks []hcl.BlockHeaderSchema
	// elsewhere says of keys that this block does not have where they belong.
	elsewhere map[string]string
}

func (s shape) schema() *hcl.BodySchema {
	schema := &hcl.BodySchema{Blocks: s.blocks}
	for _, name := range s.attrs {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	return schema
}

// content reads a block of a shape. Unknown keys and blocks are reported with
// what is known here, or what was probably meant.
func (l *loader) content(body hcl.Body, s shape) *hcl.BodyContent {
	content, diags := body.Content(s.schema())
	for _, d := range diags {
		l.add(l.explain(d, s))
	}
	return content
}

// explain turns the library's diagnostic of an unknown name into one that says
// what to do. Others pass as they are.
func (l *loader) explain(d *hcl.Diagnostic, s shape) *hcl.Diagnostic {
	var what string
	switch d.Summary {
	case "Unsupported argument":
		what = "key"
	case "Unsupported block type":
		what = "block"
	case "Extraneous JSON object property":
		what = "key or block"
	}
	if d.Subject == nil || what == "" {
		return labelled(d)
	}
	name := strings.Trim(l.source(*d.Subject), `"`)
	out := *d
	out.Summary = "Unknown " + what
	out.Detail = fmt.Sprintf("There is no %s %q here. %s", what, name, l.hint(d.Summary, name, s))
	return &out
}

// labelled says of a missing or superfluous label how the block is written.
func labelled(d *hcl.Diagnostic) *hcl.Diagnostic {
	out := *d
	what, missing := strings.CutPrefix(d.Summary, "Missing ")
	if label, block, ok := strings.Cut(what, " for "); missing && ok {
		switch {
		case label == "name":
			out.Detail = fmt.Sprintf(`Write the name of the %s after the word: %s "NAME" { … }.`, block, block)
		case block == "vending":
			out.Detail = "Write the kind of vending after the word: " + orList("vending ", VendingKinds()) + "."
		default:
			out.Detail = "Write the kind of auth after the word: " + orList("auth ", AuthKinds()) + "."
		}
	}
	if strings.HasPrefix(d.Summary, "Extraneous label for ") && !strings.HasPrefix(d.Detail, "No labels") {
		out.Detail = "One name stands after the word. Leave out the others."
	}
	return &out
}

// orList is names in a sentence: "a", "b" or "c", each after a word.
func orList(word string, names []string) string {
	var b strings.Builder
	for i, name := range names {
		switch {
		case i > 0 && i == len(names)-1:
			b.WriteString(" or ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s%q", word, name)
	}
	return b.String()
}

// hint is what to do about an unknown name.
func (l *loader) hint(summary, name string, s shape) string {
	if where := s.elsewhere[name]; where != "" {
		return where
	}
	for _, suffix := range []string{"_env", "_file"} {
		if slices.Contains(s.attrs, name+suffix) {
			return fmt.Sprintf("Secrets are not written into the configuration: name an environment variable with %s_env.", name)
		}
	}
	var blocks []string
	for _, b := range s.blocks {
		blocks = append(blocks, b.Type)
	}
	if summary == "Unsupported argument" && slices.Contains(blocks, name) {
		return fmt.Sprintf("It is a block, so write it without the equals sign: %s { … }.", name)
	}
	if summary == "Unsupported block type" && slices.Contains(s.attrs, name) {
		return fmt.Sprintf("It takes a value, so write %s = ….", name)
	}
	if near := nearest(name, append(slices.Clone(s.attrs), blocks...)); near != "" {
		l.meant[near] = true
		return fmt.Sprintf("Did you mean %q?", near)
	}
	if len(s.attrs)+len(blocks) == 0 {
		return "This block holds nothing."
	}
	known := slices.Clone(s.attrs)
	for _, b := range blocks {
		known = append(known, b+" { }")
	}
	slices.Sort(known)
	return "Known here: " + strings.Join(known, ", ") + "."
}

// nearest is the candidate that name is probably a misspelling of, or "".
func nearest(name string, candidates []string) string {
	best, limit := "", max(1, min(3, len(name)/2))
	for _, candidate := range candidates {
		if d := levenshtein.Distance(strings.ToLower(name), candidate, nil); d <= limit {
			best, limit = candidate, d-1
		}
	}
	return best
}

// source is the text at a place, "" if it is not known.
func (l *loader) source(at hcl.Range) string {
	text := l.parser.Sources()[at.Filename]
	if !at.CanSliceBytes(text) {
		return ""
	}
	return string(at.SliceBytes(text))
}

// one returns the block of a type that may stand once, or nil.
func (l *loader) one(content *hcl.BodyContent, kind string) *hcl.Block {
	blocks := content.Blocks.OfType(kind)
	if len(blocks) == 0 {
		return nil
	}
	return blocks[0]
}

// once reports every further block of a type that may stand once.
func (l *loader) once(content *hcl.BodyContent, kind string) {
	blocks := content.Blocks.OfType(kind)
	for i := 1; i < len(blocks); i++ {
		l.problem(blocks[i].DefRange, "Duplicate block", fmt.Sprintf(
			"%s %s block stands already at %s. Put both into one, or leave one out.", article(kind), kind, place(blocks[0].DefRange)))
	}
}

// article is what stands before a word at the beginning of a sentence.
func article(word string) string {
	if strings.ContainsAny(word[:1], "aeio") {
		return "An"
	}
	return "A"
}

// place is a position in a sentence.
func place(at hcl.Range) string { return fmt.Sprintf("%s:%d", at.Filename, at.Start.Line) }

// missing reports a key that a block needs.
func (l *loader) missing(block *hcl.Block, key, why string) {
	if l.meant[key] {
		return
	}
	l.problem(block.DefRange, "Missing "+key, why)
}

// needed reads a string that a block must have; "" after reporting that it has
// none or a wrong one.
func (l *loader) needed(block *hcl.Block, attr *hcl.Attribute, key, why string) string {
	before := len(l.diags)
	s := l.text(attr, "")
	if s == "" && len(l.diags) == before {
		l.missing(block, key, why)
	}
	return s
}
