package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/router/federate"
)

// checked is what was found out about one configuration.
type checked struct {
	Path     string           `json:"path"`
	OK       bool             `json:"ok"`
	Findings []config.Finding `json:"findings"`
	// Mounts is what opening them gave; absent without --connect.
	Mounts []connected `json:"mounts,omitempty"`
	// Access is what loading the policies gave and, with --connect, trying the
	// logins and the audit trail.
	Access []connected `json:"access,omitempty"`

	report *config.Report
}

// connected is how opening one mount, or another part of the server, went.
type connected struct {
	Name         string  `json:"name"`
	Backend      string  `json:"backend,omitempty"`
	OK           bool    `json:"ok"`
	Error        string  `json:"error,omitempty"`
	Milliseconds float64 `json:"milliseconds"`
}

func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR…]",
		Short: "Say what is wrong with a configuration, and what to do about it",
		Long: `Say what is wrong with a configuration, and what to do about it.

Each argument is a configuration of its own: a file, or a folder with *.hcl and
*.hcl.json files. Without one it is the current folder. The files that it names,
of certificates and policies, are read; nothing is opened and nothing is sent,
unless --connect asks for it.`,
	}
	connect := cmd.Flags().Bool("connect", false, "open each mount, ask each issuer and try the audit file too, and say how it went")
	format := outputFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, paths []string) error {
		if len(paths) == 0 {
			paths = []string{"."}
		}
		all := make([]checked, len(paths))
		for i, path := range paths {
			all[i] = check(cmd.Context(), path, *connect)
		}
		return writeChecked(cmd.OutOrStdout(), cmd.ErrOrStderr(), *format, all)
	})
	return cmd
}

// check reads one configuration with its policies and, if it is asked to, opens
// its mounts.
func check(ctx context.Context, path string, connect bool) checked {
	cfg, report := config.Load(path, config.Options{})
	c := checked{Path: path, OK: !report.HasErrors(), Findings: report.Findings, report: report}
	if c.Findings == nil {
		c.Findings = []config.Finding{}
	}
	if c.OK {
		c.Access = tryRules(cfg)
		if connect {
			c.Access, c.Mounts = append(c.Access, tryAccess(ctx, cfg)...), tryMounts(ctx, cfg)
		}
		for _, m := range slices.Concat(c.Access, c.Mounts) {
			c.OK = c.OK && m.OK
		}
	}
	return c
}

// tryMounts opens every mount, required or not, and closes it again. If all of
// them open it also looks for namespaces that a mount would hide.
func tryMounts(ctx context.Context, cfg *config.Config) []connected {
	around := surroundings{instanceID: cfg.InstanceID(), logger: slog.New(slog.DiscardHandler)}
	results := make([]connected, len(cfg.Mounts))
	var open []*placed
	for i, m := range cfg.Mounts {
		start := time.Now()
		results[i] = connected{Name: m.Name, Backend: m.Kind}
		backend, err := tryMount(ctx, cfg, m, around)
		if err == nil {
			mounted := stack(m, backend, around)
			open = append(open, &placed{config: m, mounted: mounted, row: mounted.Mount()})
		}
		results[i].settle(err, time.Since(start))
	}
	if len(open) == len(cfg.Mounts) {
		if err := shadows(ctx, open); err != nil {
			for i, m := range cfg.Mounts {
				if m.Name == mounts.UnderName {
					results[i].settle(err, 0)
				}
			}
		}
	}
	if err := closeMounts(open); err != nil {
		results[0].settle(err, 0)
	}
	return results
}

func (c *connected) settle(err error, took time.Duration) {
	c.OK = err == nil
	c.Milliseconds += float64(took.Microseconds()) / 1000
	if err != nil {
		c.Error = err.Error()
	}
}

func tryMount(ctx context.Context, cfg *config.Config, m config.Mount, around surroundings) (mounts.Backend, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.Server.RequestTimeout)
	defer cancel()
	backend, err := openMount(ctx, m, around)
	if err != nil {
		return nil, err
	}
	if err := backend.Health(ctx); err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return backend, nil
}

func shadows(ctx context.Context, open []*placed) error {
	table, err := mounts.NewMap(rows(open)...)
	if err != nil {
		return err
	}
	return federate.CheckShadows(ctx, table)
}

func writeChecked(stdout, stderr io.Writer, format outputFormat, all []checked) error {
	failed := false
	for _, c := range all {
		failed = failed || !c.OK
	}
	if format == outputJSON {
		if err := writeJSON(stdout, map[string]any{"ok": !failed, "configurations": all}); err != nil {
			return err
		}
	} else if err := writeCheckedText(stdout, stderr, all); err != nil {
		return err
	}
	if failed {
		return reported
	}
	return nil
}

func writeCheckedText(stdout, stderr io.Writer, all []checked) error {
	for _, c := range all {
		if err := c.report.WriteText(stderr); err != nil {
			return err
		}
		if !c.report.HasErrors() {
			if _, err := fmt.Fprintf(stdout, "ok     %s\n", c.Path); err != nil {
				return err
			}
		}
		for _, m := range slices.Concat(c.Access, c.Mounts) {
			what := m.Name
			if m.Backend != "" {
				what = fmt.Sprintf("mount %q (%s)", m.Name, m.Backend)
			}
			if m.OK {
				if _, err := fmt.Fprintf(stdout, "ok     %s, %.1f ms\n", what, m.Milliseconds); err != nil {
					return err
				}
				continue
			}
			for line := range strings.SplitSeq(m.Error, "\n") {
				fmt.Fprintf(stderr, "error: %s: %s\n", what, printable(line))
			}
		}
	}
	return nil
}
