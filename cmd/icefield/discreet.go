package main

import (
	"context"
	"log/slog"
	"regexp"
	"strings"
)

// discreet takes logins out of what is logged. The errors of the libraries that
// reach object stores hold what a store answered, and one that repeats the headers
// it was sent would put its keys into the log.
type discreet struct{ slog.Handler }

var loginText = regexp.MustCompile(`(?i)\b(bearer|basic)((?:\\?["\s:=+]|%20)+)[a-z0-9._~+/=%-]{8,}|(x-amz-security-token|x-api-key|x-ms-authorization-auxiliary)((?:\\?["\s:=])+)[^\s"\\,;&]+|(credential=)[^\s"\\,;&]+`)

// Handle implements slog.Handler.
func (h discreet) Handle(ctx context.Context, r slog.Record) error {
	found := false
	r.Attrs(func(a slog.Attr) bool {
		_, found = withoutLogin(a)
		return !found
	})
	if !found {
		return h.Handler.Handle(ctx, r)
	}
	changed := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		b, _ := withoutLogin(a)
		changed = append(changed, b)
		return true
	})
	clean := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	clean.AddAttrs(changed...)
	return h.Handler.Handle(ctx, clean)
}

// WithAttrs implements slog.Handler.
func (h discreet) WithAttrs(attrs []slog.Attr) slog.Handler {
	return discreet{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h discreet) WithGroup(name string) slog.Handler { return discreet{h.Handler.WithGroup(name)} }

func withoutLogin(a slog.Attr) (slog.Attr, bool) {
	var text string
	switch a.Value.Kind() {
	case slog.KindString:
		text = a.Value.String()
	case slog.KindAny:
		err, ok := a.Value.Any().(error)
		if !ok || err == nil {
			return a, false
		}
		text = err.Error()
	default:
		return a, false
	}
	// Most texts are short and have none of these, which is quicker to see.
	if !strings.Contains(text, "earer") && !strings.Contains(text, "asic") && !strings.Contains(text, "redential=") &&
		!strings.Contains(text, "oken") && !strings.Contains(text, "-Key") && !strings.Contains(text, "uthorization") {
		return a, false
	}
	clean := loginText.ReplaceAllString(text, "$1$2$3$4$5<redacted>")
	return slog.String(a.Key, clean), clean != text
}
