package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// origin is where a configuration comes from, to be read from there again.
type origin struct {
	path  string
	every time.Duration // how often its files are looked at

	mu       sync.Mutex
	included []string
	last     config.Fingerprint
}

func newOrigin(path string) *origin { return &origin{path: path, every: watchEvery} }

// read reads the configuration, and remembers what it was made of. What changes
// while it is read counts as changed afterwards.
func (o *origin) read() (*config.Config, *config.Report) {
	files := config.Look(o.path, nil)
	cfg, report := config.Load(o.path, config.Options{})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.included, o.last = report.Included(), files.With(report)
	return cfg, report
}

// look is what the files are now, and whether that is what was read last.
func (o *origin) look() (now config.Fingerprint, read bool) {
	o.mu.Lock()
	included, last := o.included, o.last
	o.mu.Unlock()
	now = config.Look(o.path, included)
	return now, now.Same(last)
}

// reloader reads a server's configuration again when it is told to, one time
// after the other. However often it is told while it is at it, it reads once more
// afterwards.
type reloader struct {
	server *server
	read   func() (*config.Config, *config.Report)
	// told holds a wish that was not taken up yet.
	told chan struct{}
}

func newReloader(s *server, read func() (*config.Config, *config.Report)) *reloader {
	return &reloader{server: s, read: read, told: make(chan struct{}, 1)}
}

// tell asks for a reload and waits for nothing.
func (r *reloader) tell() {
	select {
	case r.told <- struct{}{}:
	default: // the one that is still to come sees what there is to see now
	}
}

// run reloads whenever it is told, until ctx ends. A reload that is under way
// then is given up.
func (r *reloader) run(ctx context.Context) {
	for {
		select {
		case <-r.told:
			r.reload(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// reload puts the configuration as it is now into effect, or says why not: then
// the one before serves on as if nothing had been asked.
func (r *reloader) reload(ctx context.Context) {
	s := r.server
	cfg, report := r.read()
	logFindings(s.logger, report)
	before := s.catalogs.current.Load()
	var err error
	var what changes
	switch {
	case report.HasErrors():
		err = mistakes(report)
	default:
		if names := before.cfg.Server.NeedsRestart(cfg.Server); len(names) > 0 {
			text := fmt.Sprintf("%s cannot change while the server runs: set it back, or restart the server", strings.Join(names, ", "))
			err = safe{text, errors.New(text)}
			break
		}
		what, err = s.catalogs.replace(ctx, cfg)
	}
	settings := s.catalogs.settings
	switch {
	case ctx.Err() != nil:
		s.logger.Info("the configuration that was being read is given up: the server is being shut down")
	case err != nil:
		settings.refused(reasonOf(err))
		s.logger.Error("the configuration is refused, and the one before serves on", "error", err)
	case s.catalogs.current.Load() == before:
		settings.accepted(reloadUnchanged)
		s.logger.Info("the configuration was read again and means the same as before")
	default:
		settings.accepted(reloadApplied)
		s.logger.Info("the configuration was read again and is in effect", append([]any{"added", strings.Join(what.added, ", "),
			"changed", strings.Join(what.changed, ", "), "removed", strings.Join(what.removed, ", "), "unchanged", len(what.kept)}, s.catalogs.callers()...)...)
	}
}

// mistakes is the error of a configuration that is not valid.
func mistakes(report *config.Report) error {
	n := report.More
	var first string
	for _, f := range report.Findings {
		if f.Severity == "error" {
			if n++; first == "" {
				first = f.Summary
			}
		}
	}
	text := fmt.Sprintf("the configuration has %d mistakes, the first of them: %s; \"icefield check\" and the server's log say where", n, first)
	if n == 1 {
		text = fmt.Sprintf("the configuration has a mistake: %s; \"icefield check\" and the server's log say where", first)
	}
	return safe{text, errors.New(text)}
}

// reasonOf is an error in words for everybody.
func reasonOf(err error) string {
	var s safe
	if errors.As(err, &s) {
		return s.reason
	}
	return "it cannot be put into effect; the server's log says why"
}

// logFindings writes what is wrong with a configuration into the log.
func logFindings(logger *slog.Logger, report *config.Report) {
	for _, f := range report.Findings {
		level := slog.LevelWarn
		if f.Severity == "error" {
			level = slog.LevelError
		}
		attrs := []slog.Attr{slog.String("detail", f.Detail)}
		if f.File != "" {
			attrs = append(attrs, slog.String("file", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)), slog.String("block", f.Block),
				slog.String("source", strings.TrimSpace(f.Source)))
		}
		logger.LogAttrs(context.Background(), level, "configuration: "+f.Summary, attrs...)
	}
}
