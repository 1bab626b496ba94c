package middleware

import (
	"log/slog"
	"net/http"
	"time"
)

// LogAccess writes one line for a finished call: what was asked, by whom and from
// where, what was answered and how long it took. The query is left out, since
// tokens and names of credentials may stand in it, and so is every credential.
// The text of an error goes here and nowhere else; 5xx answers are warnings,
// quiet calls are for debugging.
func LogAccess(logger *slog.Logger, call *Call, r *http.Request) {
	level := slog.LevelInfo
	switch {
	case call.Status() >= 500:
		level = slog.LevelWarn
	case call.Quiet:
		level = slog.LevelDebug
	}
	if !logger.Enabled(r.Context(), level) {
		return
	}
	var room [20]slog.Attr
	attrs := append(room[:0],
		slog.String("request_id", call.RequestID),
		slog.String("method", r.Method),
		slog.String("path", clip(call.Path, 512)),
		slog.Int("status", call.Status()),
		slog.Int64("bytes", call.Bytes()),
		slog.Duration("duration", time.Since(call.Started)),
		slog.String("client", client(call, r)),
		slog.String("agent", clip(r.UserAgent(), 128)),
	)
	if call.Principal != nil {
		attrs = append(attrs, slog.String("principal", clip(call.Principal.ID, 512)))
		if call.Principal.Tenant != "" {
			attrs = append(attrs, slog.String("tenant", clip(call.Principal.Tenant, 128)))
		}
	}
	if call.Operation != 0 {
		attrs = append(attrs, slog.String("operation", call.Operation.String()), slog.String("catalog", call.Catalog))
	}
	if !call.Object.IsZero() {
		attrs = append(attrs, slog.String("object", clip(call.Object.String(), 512)))
	}
	if len(call.Via) > 0 {
		attrs = append(attrs, slog.Any("via", call.Via))
	}
	if call.TraceParent != "" {
		attrs = append(attrs, slog.String("traceparent", call.TraceParent))
	}
	if call.Err != nil {
		attrs = append(attrs, slog.String("error", clip(call.Err.Error(), 4096)))
	}
	// Not by way of the logger, which looks for the line of code every time.
	record := slog.NewRecord(time.Now(), level, "request", 0)
	record.AddAttrs(attrs...)
	_ = logger.Handler().Handle(r.Context(), record) // there is nobody to tell
}

// client is where a call comes from: with trusted proxies looked through where
// that gives another address than the connection's own, which has the port.
func client(call *Call, r *http.Request) string {
	if call.Client.Addr.IsValid() && call.Client.Addr != PeerAddr(r) {
		return call.Client.Addr.String()
	}
	return r.RemoteAddr
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
