package config

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Finding is one mistake, or one warning.
type Finding struct {
	// Severity is "error" or "warning".
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	// Detail says what is wrong and what to do.
	Detail string `json:"detail"`
	// File is empty for what has no place.
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	EndColumn int    `json:"end_column,omitempty"`
	// Block names the block it is in, as `mount "prod"`.
	Block string `json:"block,omitempty"`
	// Source is the line, with secrets masked, and Caret points into it.
	Source string `json:"source,omitempty"`
	Caret  string `json:"-"`

	offset int
}

// Report is what reading a configuration found, in the order of the files.
type Report struct {
	Findings []Finding
	// More counts findings that were left out because there are too many.
	More int

	// values are the files that values came from, or should have.
	values map[string]seen
}

// Included are the files that values came from, or should have: those of file("…"),
// certificates, and what proves who somebody is at this server. Secrets for
// remotes are not among them, since they are read when they are needed.
func (r *Report) Included() []string { return slices.Sorted(maps.Keys(r.values)) }

const maxFindings = 100

// HasErrors reports whether the configuration cannot be used.
func (r *Report) HasErrors() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity == "error" })
}

// WriteText writes the findings for people:
//
//	error: Unknown key
//	  --> icefield.hcl:3:3, in mount "prod"
//	   |
//	 3 |   ownr = "acme"
//	   |   ^^^^
//	  There is no key "ownr" here. Did you mean "owner"?
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s\n", f.Severity, f.Summary)
		if f.File != "" {
			fmt.Fprintf(&b, "  --> %s:%d:%d", f.File, f.Line, f.Column)
			if f.Block != "" {
				fmt.Fprintf(&b, ", in %s", f.Block)
			}
			number := fmt.Sprint(f.Line)
			margin := strings.Repeat(" ", len(number))
			fmt.Fprintf(&b, "\n %s |\n %s | %s\n %s | %s\n", margin, number, f.Source, margin, f.Caret)
		}
		fmt.Fprintf(&b, "  %s\n\n", f.Detail)
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %d more\n", r.More)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// report turns what was collected into a Report. After this point the text of
// the files is not needed, and nothing unmasked of it is kept.
func (l *loader) report() *Report {
	masked := map[string][]byte{}
	for name, text := range l.parser.Sources() {
		masked[name] = l.mask(name, text)
	}
	r := &Report{values: l.values}
	for _, d := range l.diags {
		f := Finding{Severity: "error", Summary: d.Summary, Detail: d.Detail}
		if d.Severity == hcl.DiagWarning {
			f.Severity = "warning"
		}
		if d.Subject != nil {
			l.locate(&f, *d.Subject, masked[d.Subject.Filename])
		}
		r.Findings = append(r.Findings, f)
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.offset, b.offset))
	})
	r.Findings = slices.Compact(r.Findings)
	if n := len(r.Findings); n > maxFindings {
		r.Findings, r.More = r.Findings[:maxFindings], n-maxFindings
	}
	return r
}

func (l *loader) locate(f *Finding, at hcl.Range, text []byte) {
	f.File, f.offset = at.Filename, at.Start.Byte
	f.Line, f.Column, f.EndLine, f.EndColumn = at.Start.Line, at.Start.Column, at.End.Line, at.End.Column
	if file := l.parser.Files()[at.Filename]; file != nil {
		if nav, ok := file.Nav.(interface{ ContextString(offset int) string }); ok {
			f.Block = nav.ContextString(at.Start.Byte)
		}
	}
	if at.Start.Byte > len(text) {
		return
	}
	begin := bytes.LastIndexByte(text[:at.Start.Byte], '\n') + 1
	end := len(text)
	if n := bytes.IndexByte(text[at.Start.Byte:], '\n'); n >= 0 {
		end = at.Start.Byte + n
	}
	line := string(bytes.TrimRight(text[begin:end], "\r"))
	f.Source, f.Caret = excerpt(line, at.Start.Byte-begin, max(at.End.Byte, at.Start.Byte)-begin)
}

// maxLine is how much of a line is shown, in bytes: generated JSON is often one
// line.
const maxLine = 160

// excerpt is a line, or the part of a long one around from, and carets below
// the bytes from…to of it.
func excerpt(line string, from, to int) (source, caret string) {
	from, to = min(from, len(line)), min(to, len(line))
	lead, tail := "", ""
	if len(line) > maxLine {
		start := max(0, from-maxLine/3)
		stop := min(len(line), start+maxLine)
		if start > 0 {
			lead = "…"
		}
		if stop < len(line) {
			tail = "…"
		}
		to = min(to, stop)
		line, from, to = line[start:stop], from-start, to-start
	}
	// Tabs stay tabs, so that the carets stand below whatever width they have.
	under := func(s string, mark rune) string {
		return strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return mark
		}, strings.ToValidUTF8(s, "?"))
	}
	marks := strings.ReplaceAll(under(line[from:to], '^'), "\t", "^")
	if marks == "" {
		marks = "^"
	}
	return strings.ToValidUTF8(lead+line+tail, "?"), under(lead+line[:from], ' ') + marks
}

var (
	// secretKey recognises the name of a key whose value is a secret.
	secretKey = regexp.MustCompile(`(?i)(^key$|secret|token|password|passwd|credential|access-key|access_key|account[.-]key|api_?key|jsonkey|connection-string)`)
	// secretName recognises the name of a key that names one.
	secretName = regexp.MustCompile(`(?i)(_env|_file|_url|-uri|_id|\.region|-expires-at)$`)
	keyValue   = regexp.MustCompile(`(?m)("?[A-Za-z_][\w.-]*"?)\s*[=:]\s*"((?:[^"\\\n]|\\.)*)"`)
	userInfo   = regexp.MustCompile(`([A-Za-z]*)://([^/@\s"]+)@`)
	// container recognises the schemes of Azure, where a container stands before
	// the @ and nobody's name and password.
	container = regexp.MustCompile(`^(abfs|wasb)s?$`)
)

// isSecret recognises a key whose value is a secret.
func isSecret(key string) bool { return secretKey.MatchString(key) && !secretName.MatchString(key) }

// mask returns a copy of a file's text of the same length, in which everything
// that may be a secret is stars: places that were marked, the part of a URL
// before the @, and the values of keys that sound like a secret. Calls such as
// env("…") stay.
func (l *loader) mask(name string, text []byte) []byte {
	out := bytes.Clone(text)
	star := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '"' {
				out[i] = '*'
			}
		}
	}
	for _, at := range l.secret {
		if at.Filename == name && at.CanSliceBytes(text) {
			star(at.Start.Byte, at.End.Byte)
		}
	}
	for _, m := range userInfo.FindAllSubmatchIndex(text, -1) {
		if !container.Match(text[m[2]:m[3]]) {
			star(m[4], m[5])
		}
	}
	for _, m := range keyValue.FindAllSubmatchIndex(text, -1) {
		key, value := strings.Trim(string(text[m[2]:m[3]]), `"`), string(text[m[4]:m[5]])
		// Where a variable is to be named, what cannot be one's name may be the
		// secret itself; a file with a mistake in its syntax is shown before that is
		// looked at.
		misplaced := strings.HasSuffix(key, "_env") && value != strings.ToUpper(value)
		if (isSecret(key) || misplaced) && !strings.HasPrefix(value, "${") {
			star(m[4], m[5])
		}
	}
	return out
}
