package warehouse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ConfineFile reads the name of a file as it stands in a table's metadata and
// refuses it, with a *BadLocation, unless it lies inside the warehouse. "%", "?"
// and "#" are allowed, other than in Confine, and stand for themselves: engines
// encode partition values in names, as in region=a%2Fb, and write those names as
// they are. It is for files that are there; nothing new is put at such a place.
func (w *Warehouse) ConfineFile(text string) (Location, error) {
	problem := ""
	switch {
	case text == "":
		problem = "is empty"
	case len(text) > maxLocation:
		problem = fmt.Sprintf("is longer than %d bytes", maxLocation)
	case !utf8.ValidString(text):
		problem = "is not valid UTF-8"
	case strings.Contains(text, `\`), strings.ContainsFunc(text, unicode.IsControl):
		problem = `holds a \ or a control character`
	case strings.HasSuffix(text, "/"):
		problem = "names a folder"
	}
	if problem != "" {
		return Location{}, &BadLocation{text, problem}
	}
	l, err := parse(text)
	if err != nil {
		return Location{}, err
	}
	if !l.Within(w.root) || len(l.segments) == len(w.root.segments) {
		return Location{}, &BadLocation{text, fmt.Sprintf("lies outside the warehouse %s", w.root)}
	}
	return l, nil
}

// Spellings are all texts that mean the location, its own first: file:///path
// and file:/path; s3, s3a and s3n; the schemes and hosts of Azure.
func (l Location) Spellings() []string {
	prefixes := map[string]bool{}
	if l.scheme == "file" {
		prefixes["file://"], prefixes["file:"] = true, true
	}
	for spelled, kind := range objectSchemes {
		if kind.scheme != l.scheme {
			continue
		}
		prefixes[spelled+"://"+l.authority] = true
		if kind == azureScheme {
			prefixes[spelled+"://"+strings.Replace(l.authority, ".dfs.", ".blob.", 1)] = true
		}
	}
	delete(prefixes, l.prefix)
	texts := []string{l.String()}
	for _, prefix := range slices.Sorted(maps.Keys(prefixes)) {
		other := l
		other.prefix = prefix
		texts = append(texts, other.String())
	}
	return texts
}
