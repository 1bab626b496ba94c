package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

// Options says what a configuration is read with. The zero value is right for
// a command.
type Options struct {
	// LookupEnv is os.LookupEnv if nil.
	LookupEnv func(string) (string, bool)
}

// Load reads, evaluates and checks a file or folder. The Config is nil if the
// report has errors. The report is never nil.
func Load(path string, opt Options) (*Config, *Report) {
	l := newLoader(opt)
	files, names, diags := sources(l.parser, path)
	l.add(diags...)
	return l.load(files, names)
}

// Parse is Load for a text that is no file. Its relative paths start at the
// folder of name, whose suffix decides the syntax.
func Parse(name string, text []byte, opt Options) (*Config, *Report) {
	l := newLoader(opt)
	file, diags := parse(l.parser, name, text)
	l.add(diags...)
	var files []*hcl.File
	if file != nil {
		files = append(files, file)
	}
	return l.load(files, []string{name})
}

// loader collects the mistakes of one configuration while it is read.
type loader struct {
	parser   *hclparse.Parser
	lookup   func(string) (string, bool)
	contexts map[string]*hcl.EvalContext
	diags    hcl.Diagnostics
	// meant holds, for the mount at hand, the keys that unknown ones were probably
	// meant to be: those are not reported as missing too.
	meant map[string]bool
	// secret holds places whose text no report may show.
	secret []hcl.Range
	// values holds the files that values came from, as they were.
	values map[string]seen
}

func newLoader(opt Options) *loader {
	lookup := opt.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	return &loader{parser: hclparse.NewParser(), lookup: lookup, contexts: map[string]*hcl.EvalContext{},
		meant: map[string]bool{}, values: map[string]seen{}}
}

func (l *loader) load(files []*hcl.File, names []string) (*Config, *Report) {
	// A file that did not parse is only half there: what it seems to lack would be
	// reported for nothing. A key that stands twice does no such harm.
	half := func(d *hcl.Diagnostic) bool { return d.Summary != "Attribute redefined" }
	if !slices.ContainsFunc(l.diags, half) {
		if cfg := l.root(files); !l.diags.HasErrors() {
			cfg.Files = names
			return cfg, l.report()
		}
	}
	return nil, l.report()
}

var rootShape = shape{blocks: []hcl.BlockHeaderSchema{
	{Type: "server"}, {Type: "auth"}, {Type: "policy"}, {Type: "tenant", LabelNames: []string{"name"}}, {Type: "audit"},
	{Type: "mount", LabelNames: []string{"name"}},
}}

// root reads the files as one.
func (l *loader) root(files []*hcl.File) *Config {
	content := l.content(hcl.MergeFiles(files), rootShape)
	for _, kind := range []string{"server", "auth", "policy", "audit"} {
		l.once(content, kind)
	}
	cfg := &Config{Server: l.server(l.one(content, "server"))}
	cfg.Auth = l.authentication(l.one(content, "auth"))
	cfg.Policy = l.policies(l.one(content, "policy"))
	cfg.Tenants = l.tenants(content.Blocks.OfType("tenant"))
	cfg.Audit = l.audit(l.one(content, "audit"))
	var rows []row
	for _, block := range content.Blocks.OfType("mount") {
		rows = append(rows, l.mount(block, &cfg.Server))
	}
	if len(rows) == 0 && !l.diags.HasErrors() {
		l.problem(files[0].Body.MissingItemRange(), "No mounts",
			"The configuration has no mount, so there would be nothing to serve. Write at least one block mount \"NAME\" { backend = … }.")
	}
	l.across(rows, &cfg.Server, l.one(content, "server"))
	for _, r := range rows {
		cfg.Mounts = append(cfg.Mounts, r.Mount)
	}
	l.together(cfg, content, rows)
	return cfg
}

// scope is what the expression of an attribute can use.
func (l *loader) scope(attr *hcl.Attribute) *hcl.EvalContext {
	dir := dirOf(attr)
	if l.contexts[dir] == nil {
		l.contexts[dir] = functions(dir, l.lookup, l.include)
	}
	return l.contexts[dir]
}

// include reads a file that a value comes from.
func (l *loader) include(path string) ([]byte, error) {
	text, err := readBounded(path, maxIncluded)
	l.values[path] = see(text, err)
	return text, err
}

// dirOf is the absolute folder of the file that an attribute stands in.
func dirOf(attr *hcl.Attribute) string {
	dir := filepath.Dir(attr.Range.Filename)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

func (l *loader) add(diags ...*hcl.Diagnostic) { l.diags = append(l.diags, diags...) }

// problem reports a mistake at a place.
func (l *loader) problem(at hcl.Range, summary, detail string) {
	l.add(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &at})
}

// refuse reports a mistake in the value of an attribute.
func (l *loader) refuse(attr *hcl.Attribute, summary, detail string) {
	l.problem(attr.Expr.Range(), summary, detail)
}

// warn reports what works and is probably not meant.
func (l *loader) warn(attr *hcl.Attribute, summary, detail string) {
	l.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: summary, Detail: detail, Subject: attr.Expr.Range().Ptr()})
}

// hide keeps the value that is written for an attribute out of every report.
func (l *loader) hide(attr *hcl.Attribute) {
	if literal(attr.Expr) {
		l.secret = append(l.secret, attr.Expr.Range())
	}
}

// show is a value in a sentence: itself if the file says it literally, which the
// reader sees anyway, and not if it came from the environment or another file.
func (l *loader) show(attr *hcl.Attribute, value string) string {
	if !literal(attr.Expr) {
		return "set to something"
	}
	if len(value) > 80 {
		value = value[:80] + "…"
	}
	return strconv.Quote(value)
}

// literal reports whether an expression calls no function.
func literal(expr hcl.Expression) bool {
	_, diags := expr.Value(&hcl.EvalContext{})
	return !diags.HasErrors()
}
