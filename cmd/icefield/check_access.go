package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/policy/authn"
	"github.com/icefield/icefield/policy/cedar"
)

// triedPart is how trying a part of the server went.
func triedPart(name string, work func() error) connected {
	start := time.Now()
	one := connected{Name: name}
	one.settle(work(), time.Since(start))
	return one
}

// tryRules loads the policies, if there are any but the built-in ones.
func tryRules(cfg *config.Config) []connected {
	if len(cfg.Policy.Files)+len(cfg.Tenants) == 0 {
		return nil
	}
	return []connected{triedPart("policies", func() error {
		_, err := cedar.Load(ruleSource(cfg))
		return err
	})}
}

// tryAccess asks every issuer, and looks whether the audit trail's file could be
// written. What is not configured is not among the results.
func tryAccess(ctx context.Context, cfg *config.Config) []connected {
	var results []connected
	try := func(name string, work func() error) { results = append(results, triedPart(name, work)) }
	if cfg.Auth != nil {
		try("authentication", func() error {
			ctx, cancel := context.WithTimeout(ctx, cfg.Server.RequestTimeout)
			defer cancel()
			opened, err := authn.Open(ctx, loginConfig(cfg))
			if err != nil {
				return err
			}
			return opened.Close()
		})
	}
	if cfg.Audit.Sink == config.SinkFile {
		try("audit", func() error { return writable(cfg.Audit.Path) })
	}
	return results
}

// writable looks whether a file could be written, and leaves nothing behind.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0) // #nosec G304 -- audit.path of the operator's configuration; nothing is written
		if err != nil {
			return err
		}
		return f.Close()
	} else if err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder; path names a file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".icefield-check-*")
	if err != nil {
		return fmt.Errorf("no file can be made in %s: %w", filepath.Dir(path), errors.Unwrap(err))
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
