package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/router/middleware"
)

// opening answers while the mounts are being opened. The process is alive, so
// that whoever watches it does not end it; everything else, readiness included,
// is refused with 503, so that nobody's request hangs. It already refuses what
// came through this server before, which is how a mount that leads back here is
// noticed while it is being opened.
func opening(instanceID string, logger *slog.Logger) http.Handler {
	refuse := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/health" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			writeOpening(w, http.StatusOK, map[string]any{"status": "alive", "version": thisBuild().Version})
			return
		}
		failOpening(w, r, &mounts.Error{Kind: mounts.Unavailable})
	}
	return middleware.Begin(failOpening, logger, func(*middleware.Call, *http.Request) {},
		middleware.Loop(failOpening, instanceID, http.HandlerFunc(refuse)))
}

// failOpening answers in the spec's error shape.
func failOpening(w http.ResponseWriter, _ *http.Request, err error) {
	status, kind, message := http.StatusServiceUnavailable, "ServiceUnavailableException", "the server is starting: its mounts are being opened; try again in a moment"
	switch {
	case errors.Is(err, mounts.Loop):
		status, kind, message = http.StatusLoopDetected, "LoopDetectedException", mounts.AsError(err).Message()
	case errors.Is(err, mounts.BadRequest):
		status, kind, message = http.StatusBadRequest, "BadRequestException", mounts.AsError(err).Message()
	default:
		w.Header().Set("Retry-After", "1")
	}
	body := map[string]any{"message": message, "type": kind, "code": status}
	writeOpening(w, status, map[string]any{"error": body})
}

func writeOpening(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A client that has left is no concern of ours.
	_ = json.NewEncoder(w).Encode(body)
}
