package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/migrate"
)

// moveReport is what is told of a move that succeeded.
type moveReport struct {
	From      string         `json:"from"`
	To        string         `json:"to"`
	Migration string         `json:"migration"`
	Counts    registryCounts `json:"counts"`
	// Digest is of all records, the same on both sides.
	Digest string `json:"digest"`
	// Already: an earlier run had done it. Resumed: an earlier run had begun it.
	Already bool    `json:"already"`
	Resumed bool    `json:"resumed"`
	Seconds float64 `json:"seconds"`

	rate int64
	to   registryArg
}

// registryCounts is how many records of each kind a registry holds.
type registryCounts struct {
	Namespaces int64 `json:"namespaces"`
	Objects    int64 `json:"tables_and_views"`
	Commits    int64 `json:"commits"`
	Receipts   int64 `json:"receipts"`
	Jobs       int64 `json:"jobs"`
}

func (c registryCounts) String() string {
	return fmt.Sprintf("%d namespaces, %d tables and views, %d commits, %d receipts, %d jobs", c.Namespaces, c.Objects, c.Commits, c.Receipts, c.Jobs)
}

func countsOf(c store.Counts) registryCounts { return registryCounts(c) }

func newMoveReport(from, to registryArg, r migrate.Result, took time.Duration) *moveReport {
	return &moveReport{
		From: from.place(), To: to.place(), Migration: r.Migration.String(), Counts: countsOf(r.Counts),
		Digest: "sha256:" + hex.EncodeToString(r.Digest[:]), Already: r.Already, Resumed: r.Resumed, Seconds: took.Seconds(),
		rate: int64(float64(r.Counts.Total()) / max(took.Seconds(), 1e-6)), to: to,
	}
}

// write says what was done, and what is to be done next.
func (r *moveReport) write(w io.Writer) error {
	var b strings.Builder
	switch {
	case r.Already:
		fmt.Fprintf(&b, "This was done before: %s was moved to %s, and nothing was changed now.\n", r.From, r.To)
	case r.Resumed:
		fmt.Fprintf(&b, "Moved %s to %s, which an earlier run had begun.\n", r.From, r.To)
	default:
		fmt.Fprintf(&b, "Moved %s to %s.\n", r.From, r.To)
	}
	fmt.Fprintf(&b, "  records    %s\n", r.Counts)
	if r.Already {
		fmt.Fprintf(&b, "  digest     %s (as they were moved)\n", r.Digest)
	} else {
		fmt.Fprintf(&b, "  digest     %s, the same on both sides\n", r.Digest)
		fmt.Fprintf(&b, "  took       %.1f s, %d records a second\n", r.Seconds, r.rate)
	}
	fmt.Fprintf(&b, "  migration  %s\n", r.Migration)
	fmt.Fprintf(&b, `
What is left to do:
  1. In the configuration, set catalog_url of the mount to %s
     and leave warehouse_location as it is.
  2. Start the servers with it, or restart those that run.
  3. %s is closed for good: a server that still uses it answers 503.
     Keep it until you trust the new one, then remove it.
`, r.catalogURL(), r.From)
	_, err := io.WriteString(w, b.String())
	return err
}

// catalogURL is what to write into the configuration.
func (r *moveReport) catalogURL() string {
	if name, ok := strings.CutPrefix(r.to.written, "env:"); ok {
		return fmt.Sprintf("env(%q)", name)
	}
	if r.to.Postgres != "" { // the user is missing here
		return "the URL that you gave as --to"
	}
	return fmt.Sprintf("%q", r.To)
}
