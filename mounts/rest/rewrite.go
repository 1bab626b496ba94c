package rest

import (
	"strings"

	"github.com/icefield/icefield/mounts"
)

// maxChain bounds the views that a load is said to have come through, and
// maxChainText what it takes to say so: it stands in the request line.
const (
	maxChain     = 32
	maxChainText = 4 << 10
)

// referencedBy spells a chain of views as the value of the parameter of that
// name: the outermost view first, commas between them, and in each the levels of
// its namespace and its name, joined by the remote's separator (REST spec,
// referenced-by). A chain with a view in it that cannot be spelled so that the
// remote reads the same is not sent at all: a shorter one would speak of a read
// by somebody else. Then the remote decides as if the table were read directly.
func referencedBy(at *settings, chain []mounts.Identifier) string {
	if len(chain) > maxChain {
		return ""
	}
	between := escape(at.between, unreserved)
	var b strings.Builder
	for i, view := range chain {
		if nowhere(view) || strings.Contains(view.Name, at.between) || at.check(view.Namespace, call{}) != nil {
			return ""
		}
		if i > 0 {
			b.WriteByte(',')
		}
		for _, level := range view.Namespace {
			b.WriteString(escape(level, unreserved))
			b.WriteString(between)
		}
		b.WriteString(escape(view.Name, unreserved))
		if b.Len() > maxChainText {
			return ""
		}
	}
	if len(chain) == 1 && strings.Contains(b.String(), "%2C") {
		// Readers that see no comma take encoded ones for those of the list, since
		// some clients encode them.
		return ""
	}
	return b.String()
}

// queried adds parameters, which are encoded, to a URL; empty ones are left out.
func queried(url string, parameters ...string) string {
	mark := "?"
	for _, p := range parameters {
		if name, value, _ := strings.Cut(p, "="); name != "" && value != "" {
			url += mark + p
			mark = "&"
		}
	}
	return url
}
