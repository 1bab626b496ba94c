package main

import (
	"context"
	"io"
	"log/slog"
	"os"
	"time"
)

// newLogger logs text where people read it, on a terminal, and JSON elsewhere.
func newLogger(w io.Writer) *slog.Logger {
	if isTerminal(w) {
		return slog.New(discreet{slog.NewTextHandler(w, nil)})
	}
	return slog.New(discreet{inMilliseconds{slog.NewJSONHandler(w, nil)}})
}

// inMilliseconds gives durations a unit that their key says, where slog's JSON
// would be a bare number of nanoseconds. It is no ReplaceAttr, which would make
// each line of the access log cost twice as much.
type inMilliseconds struct{ slog.Handler }

// Handle implements slog.Handler.
func (h inMilliseconds) Handle(ctx context.Context, r slog.Record) error {
	durations := false
	r.Attrs(func(a slog.Attr) bool {
		durations = durations || timed(a)
		return !durations
	})
	if durations {
		var room [24]slog.Attr
		attrs := room[:0]
		r.Attrs(func(a slog.Attr) bool {
			attrs = append(attrs, milliseconds(a))
			return true
		})
		r = slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
		r.AddAttrs(attrs...)
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h inMilliseconds) WithAttrs(attrs []slog.Attr) slog.Handler {
	changed := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		changed[i] = milliseconds(a)
	}
	return inMilliseconds{h.Handler.WithAttrs(changed)}
}

// WithGroup implements slog.Handler.
func (h inMilliseconds) WithGroup(name string) slog.Handler {
	return inMilliseconds{h.Handler.WithGroup(name)}
}

// timed reports an attribute that may hold a duration.
func timed(a slog.Attr) bool {
	switch a.Value.Kind() {
	case slog.KindDuration, slog.KindGroup, slog.KindLogValuer:
		return true
	}
	return false
}

func milliseconds(a slog.Attr) slog.Attr {
	switch a.Value = a.Value.Resolve(); a.Value.Kind() {
	case slog.KindDuration:
		return slog.Float64(a.Key+"_ms", float64(a.Value.Duration())/float64(time.Millisecond))
	case slog.KindGroup:
		members := a.Value.Group()
		changed := make([]slog.Attr, len(members))
		for i, member := range members {
			changed[i] = milliseconds(member)
		}
		a.Value = slog.GroupValue(changed...)
	}
	return a
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
