package router

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

const (
	// maxName bounds a name or level, in bytes; maxLevels a namespace.
	maxName   = 1024
	maxLevels = 64
	// levelSeparator stands between the levels of a namespace in a path or query.
	levelSeparator = "\x1f"
)

// nameFlaw says why a string can be neither a name nor a level; empty if it can.
// Everything else is a name: blanks, dots, slashes, quotes, any script.
func nameFlaw(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	}
	ascii := true
	for i := range len(name) {
		if c := name[i]; c < 0x20 || c == 0x7f {
			return "holds a control character"
		} else if c >= utf8.RuneSelf {
			ascii = false
		}
	}
	switch {
	case ascii:
		return ""
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	}
	return ""
}

func namespaceFlaw(ns mounts.Namespace) string {
	switch {
	case len(ns) == 0:
		return "is empty"
	case len(ns) > maxLevels:
		return fmt.Sprintf("has more than %d levels", maxLevels)
	}
	for i, level := range ns {
		if flaw := nameFlaw(level); flaw != "" {
			return fmt.Sprintf("is not valid: its level %d %s", i+1, flaw)
		}
	}
	return ""
}

// badField is the refusal of a field of a body or of the query.
func badField(field, flaw string) error {
	return &mounts.Error{Kind: mounts.BadRequest, Msg: plainText(field + " " + flaw)}
}

// quoted repeats a part of a request in a message.
func quoted(text string) string { return fmt.Sprintf("%q", clip(text)) }

// plainText keeps a message from being read as a template.
func plainText(s string) string { return strings.NewReplacer("{", "(", "}", ")").Replace(s) }

// checkNamespace refuses a namespace of a body, checkName a name, and
// checkIdentifier both.
func checkNamespace(field string, ns mounts.Namespace) error {
	if flaw := namespaceFlaw(ns); flaw != "" {
		return badField(field, flaw)
	}
	return nil
}

func checkName(field, name string) error {
	if flaw := nameFlaw(name); flaw != "" {
		return badField(field, flaw)
	}
	return nil
}

func checkIdentifier(field string, id mounts.Identifier) error {
	if err := checkNamespace(field+".namespace", id.Namespace); err != nil {
		return err
	}
	return checkName(field+".name", id.Name)
}

// splitLevels takes a decoded namespace apart. The empty string has no levels.
func splitLevels(decoded string) mounts.Namespace {
	if decoded == "" {
		return nil
	}
	if strings.Count(decoded, levelSeparator) > maxLevels {
		return make(mounts.Namespace, maxLevels+1) // too many to be one; namespaceFlaw says so
	}
	return strings.Split(decoded, levelSeparator)
}

// pathFlaw is the answer to a name in the path that no object can have. Asked
// for, it is an absence like any other (an empty namespace is a 404
// about the table); a change that would need the name to be
// legal is a bad request, unless the name is just missing.
func (x *exchange) pathFlaw(absent mounts.Kind, what, flaw string, id mounts.Identifier) error {
	if x.row.Class == capabilities.Read || flaw == "is empty" {
		return &mounts.Error{Kind: absent, Op: x.row.Op, Ident: clipIdentifier(id)}
	}
	return badField("the "+what+" in the path", flaw)
}

func clipIdentifier(id mounts.Identifier) mounts.Identifier {
	out := mounts.Identifier{Name: clip(id.Name)}
	for i, level := range id.Namespace {
		if i == 4 {
			out.Namespace = append(out.Namespace, "…")
			break
		}
		out.Namespace = append(out.Namespace, clip(level))
	}
	return out
}

// namespace is the namespace of the path.
func (x *exchange) namespace() (mounts.Namespace, error) {
	ns, err := x.levels()
	if err != nil {
		return nil, err
	}
	if flaw := namespaceFlaw(ns); flaw != "" {
		return nil, x.pathFlaw(mounts.NoSuchNamespace, "namespace", flaw, mounts.Identifier{Namespace: ns})
	}
	return ns, nil
}

func (x *exchange) levels() (mounts.Namespace, error) {
	decoded, err := x.segment("namespace")
	if err != nil {
		return nil, badField("the namespace in the path", "is not percent-encoded as it should be")
	}
	return splitLevels(decoded), nil
}

// table and view are the object of the path.
func (x *exchange) table() (mounts.Identifier, error) {
	return x.object("table", mounts.NoSuchTable)
}

func (x *exchange) view() (mounts.Identifier, error) {
	return x.object("view", mounts.NoSuchView)
}

func (x *exchange) object(variable string, absent mounts.Kind) (mounts.Identifier, error) {
	ns, err := x.levels()
	if err != nil {
		return mounts.Identifier{}, err
	}
	name, err := x.segment(variable)
	if err != nil {
		return mounts.Identifier{}, badField("the "+variable+" in the path", "is not percent-encoded as it should be")
	}
	id := mounts.Identifier{Namespace: ns, Name: name}
	if flaw := namespaceFlaw(ns); flaw != "" {
		return id, x.pathFlaw(absent, "namespace", flaw, id)
	}
	if flaw := nameFlaw(name); flaw != "" {
		return id, x.pathFlaw(absent, variable, flaw, id)
	}
	return id, nil
}
