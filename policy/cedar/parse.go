package cedar

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	cedar "github.com/cedar-policy/cedar-go"

	"github.com/icefield/icefield/policy"
)

// statement is one policy as it was read.
type statement struct {
	id     string
	tenant string
	policy *cedar.Policy
	at     Finding // File, Line, Column and Policy
}

// parse reads the policies of a file.
func parse(f file, problems *Problems) []statement {
	whole := Finding{File: f.path}
	if f.problem != "" {
		whole.Problem = f.problem
		problems.add(whole)
		return nil
	}
	if found := tooMuch(f.text); found != nil {
		found.File = f.path
		problems.add(*found)
		return nil
	}
	list, err := cedar.NewPolicyListFromBytes(f.path, f.text)
	if err != nil {
		whole.Line, whole.Column, whole.Problem = syntax(err)
		problems.add(whole)
		return nil
	}
	statements := make([]statement, 0, len(list))
	for _, p := range list {
		pos := p.Position()
		s := statement{tenant: f.tenant, policy: p, at: Finding{File: f.path, Line: pos.Line, Column: pos.Column}}
		var err error
		if s.id, err = identify(p, f); err != nil {
			at := s.at
			at.Problem = err.Error()
			problems.add(at)
			continue
		}
		s.at.Policy = s.id
		statements = append(statements, s)
	}
	return statements
}

// Operator is what decides for operators, in place of the id of a policy.
const Operator = "operator"

const builtinPrefix = "builtin-"

const maxID = 200

// identify names a policy: by its @id, or else by its place. The policies of a
// tenant bear the tenant's name in front, so that tenants need not know of each
// other's ids.
func identify(p *cedar.Policy, f file) (string, error) {
	pos := p.Position()
	id := fmt.Sprintf("%s:%d:%d", f.path, pos.Line, pos.Column)
	if given, ok := p.Annotations()["id"]; ok {
		id = string(given)
		switch {
		case id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, func(c rune) bool { return c < ' ' || c == 0x7f }):
			return "", fmt.Errorf("its @id must be of 1 to %d bytes, without control characters", maxID)
		case f.path != builtinFile && (id == Operator || strings.HasPrefix(id, builtinPrefix)):
			return "", fmt.Errorf("its @id %q is kept for the server's own: %q and what begins with %q", id, Operator, builtinPrefix)
		}
	}
	if f.tenant != "" {
		id = policy.EntityID(f.tenant) + "/" + id
	}
	return id, nil
}

var place = regexp.MustCompile(`(parse error at )?<input>:(\d+):(\d+)[: ]*`)

// syntax takes the place out of an error of the reader of policies.
func syntax(err error) (line, column int, problem string) {
	problem = err.Error()
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		if place.MatchString(inner.Error()) {
			problem = inner.Error()
		}
	}
	if m := place.FindStringSubmatch(problem); m != nil {
		line, _ = strconv.Atoi(m[2])
		column, _ = strconv.Atoi(m[3])
		near := ""
		if m[1] != "" {
			near = "at "
		}
		problem = strings.Replace(problem, m[0], near, 1)
	}
	return line, column, "cannot be read as Cedar: " + problem
}

// tooMuch looks at a text before it is read: the reader goes as deep as the
// brackets do, and later checks as deep as a policy is long.
func tooMuch(text []byte) *Finding {
	if !utf8.Valid(text) {
		return &Finding{Problem: "is not UTF-8"}
	}
	line, start, depth := 1, 0, 0
	begin := -1 // of the policy; -1 between two
	newline := func(i int) { line, start = line+1, i+1 }
	for i := 0; i < len(text); i++ {
		c := text[i]
		if begin < 0 && c > ' ' && c != '/' {
			begin = i
		}
		if begin >= 0 && i-begin >= maxPolicy {
			return &Finding{Line: line, Column: column(text, start, i), Problem: fmt.Sprintf("a policy is longer than %d KiB: split it", maxPolicy>>10)}
		}
		switch c {
		case '\n':
			newline(i)
		case '/':
			if i+1 < len(text) && text[i+1] == '/' {
				for i+1 < len(text) && text[i+1] != '\n' {
					i++
				}
			}
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' && i+1 < len(text) {
					i++
				}
				if text[i] == '\n' {
					newline(i)
				}
			}
		case '(', '[', '{':
			if depth++; depth > maxDepth {
				return &Finding{Line: line, Column: column(text, start, i), Problem: fmt.Sprintf("more than %d brackets are open here", maxDepth)}
			}
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case ';':
			begin = -1
		}
	}
	return nil
}

// column is that of a place in the line that begins at start.
func column(text []byte, start, i int) int { return utf8.RuneCount(text[start:i]) + 1 }
