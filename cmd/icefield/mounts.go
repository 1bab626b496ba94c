package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// mountTable is what a running server says of its mounts. Mounts keeps every
// field that the server sent, for --output json.
type mountTable struct {
	Name       string            `json:"name"`
	Version    string            `json:"version"`
	Components []component       `json:"components"`
	Mounts     []json.RawMessage `json:"mounts"`
}

// component is a part of the server that is no mount.
type component struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Since  string `json:"since,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// mountLine is what the table shows of a mount.
type mountLine struct {
	Name         string  `json:"name"`
	View         string  `json:"view"`
	Driver       string  `json:"driver"`
	Owner        string  `json:"owner"`
	Required     bool    `json:"required"`
	ReadOnly     bool    `json:"read_only"`
	Profile      string  `json:"profile"`
	Credentials  string  `json:"credentials"`
	State        string  `json:"state"`
	Breaker      string  `json:"breaker"`
	InFlight     int     `json:"in_flight"`
	LatencyMS    float64 `json:"latency_ms"`
	CheckedAt    string  `json:"checked_at"`
	LastError    string  `json:"last_error"`
	Capabilities int     `json:"capabilities"`
	SettingsAt   string  `json:"settings_at"`
	Retries      int64   `json:"retries"`
	Refused      struct {
		Breaker  int64 `json:"breaker"`
		Limit    int64 `json:"limit"`
		ReadOnly int64 `json:"read_only"`
	} `json:"refused"`
	Cache *struct {
		Size        int64 `json:"size_bytes"`
		Held        int64 `json:"held_bytes"`
		Hits        int64 `json:"hits"`
		Revalidated int64 `json:"revalidated"`
		Misses      int64 `json:"misses"`
		Stale       int64 `json:"stale"`
		Coalesced   int64 `json:"coalesced"`
	} `json:"cache"`
}

func newMounts() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mounts",
		Short: "Show how the mounts of a running server are doing",
		Args:  cobra.NoArgs,
	}
	server := serverFlag(cmd)
	format := outputFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		table, err := fetchMounts(cmd.Context(), *server)
		if err != nil {
			return err
		}
		if *format == outputJSON {
			return writeJSON(cmd.OutOrStdout(), table)
		}
		return writeMounts(cmd.OutOrStdout(), table, time.Now())
	})
	cmd.AddCommand(newProbe())
	return cmd
}

// fetchMounts asks a running server.
func fetchMounts(ctx context.Context, at reach) (*mountTable, error) {
	text, err := ask(ctx, at, "/admin/v1/mounts")
	if err != nil {
		return nil, err
	}
	var table mountTable
	if err := json.Unmarshal(text, &table); err != nil || table.Mounts == nil {
		return nil, fmt.Errorf("what answers at %s is no icefield", at.address)
	}
	return &table, nil
}

func writeMounts(w io.Writer, table *mountTable, now time.Time) error {
	var b strings.Builder
	tabs := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tabs, "MOUNT\tBACKEND\tPROFILE\tWAREHOUSE\tOWNER\tREQUIRED\tACCESS\tCREDENTIALS\tSTATE\tBREAKER\tLATENCY\tIN FLIGHT\tOPERATIONS\tSETTINGS\tCACHE\tRETRIES\tREFUSED\tCHECKED\tLAST ERROR")
	for _, raw := range table.Mounts {
		var m mountLine
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("the server's answer is not understood; is it a newer icefield? %w", err)
		}
		required, access := "no", "read-write"
		if m.Required {
			required = "yes"
		}
		if m.ReadOnly {
			access = "read-only"
		}
		latency, settings := "-", "-"
		if m.LatencyMS > 0 {
			latency = fmt.Sprintf("%.1f ms", m.LatencyMS)
		}
		if m.SettingsAt != "" {
			settings = ago(m.SettingsAt, now)
		}
		fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%s\t%s\t%d\t%d\t%s\t%s\n", printable(m.Name), printable(m.Driver), dash(m.Profile),
			printable(m.View), dash(m.Owner), required, access, dash(m.Credentials), dash(m.State), dash(m.Breaker), latency, m.InFlight, m.Capabilities,
			settings, m.cached(), m.Retries, m.Refused.Breaker+m.Refused.Limit+m.Refused.ReadOnly, ago(m.CheckedAt, now), dash(m.LastError))
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	for _, c := range table.Components {
		if c.State != "ok" {
			fmt.Fprintf(&b, "\n%s %s %s: %s\n", printable(c.Name), printable(c.State), ago(c.Since, now), printable(c.Reason))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cached is what a mount's cache holds, and the share of the reads that had to do
// with it which the backend did not have to answer anew.
func (m *mountLine) cached() string {
	c := m.Cache
	if c == nil {
		return "-"
	}
	spared := c.Hits + c.Revalidated + c.Stale + c.Coalesced
	if all := spared + c.Misses; all > 0 {
		return fmt.Sprintf("%.1f MiB, %d%%", float64(c.Held)/(1<<20), 100*spared/all)
	}
	return fmt.Sprintf("%.1f MiB", float64(c.Held)/(1<<20))
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return printable(s)
}

// ago is a time as the server wrote it, seen from now.
func ago(stamp string, now time.Time) string {
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return "never"
	}
	return max(0, now.Sub(at)).Round(time.Second).String() + " ago"
}
