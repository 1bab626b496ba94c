package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
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
	address := serverFlag(cmd)
	format := outputFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		table, err := fetchMounts(cmd.Context(), *address)
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
func fetchMounts(ctx context.Context, address string) (*mountTable, error) {
	text, err := ask(ctx, address, "/admin/v1/mounts")
	if err != nil {
		return nil, err
	}
	var table mountTable
	if err := json.Unmarshal(text, &table); err != nil || table.Mounts == nil {
		return nil, fmt.Errorf("what answers at %s is no icefield", address)
	}
	return &table, nil
}

// serverFlag gives a command the flag --url.
func serverFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("url", "http://127.0.0.1:8181", "where the server is: an `URL`, or unix: and the path of its socket")
}

// maxAnswer bounds an answer, and askTimeout how long it may take: longer than
// the server gives its mounts.
const (
	maxAnswer  = 16 << 20
	askTimeout = 15 * time.Second
)

// ask reads a path of a running server's admin surface.
func ask(ctx context.Context, address, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client, base, err := clientFor(address)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%s is no address of a server: %w", address, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, fmt.Errorf("no icefield answers at %s: %w (is it running, and is --url its address?)", address, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer of %s broke off: %w", address, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s%s", address, resp.Status, spoken(text))
	}
	return text, nil
}

// clientFor returns a client that reaches an address, and the URL to use.
func clientFor(address string) (*http.Client, string, error) {
	transport := &http.Transport{}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		return &http.Client{Transport: transport}, "http://unix", nil
	}
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, "", fmt.Errorf(`%q is no address of a server; write "http://127.0.0.1:8181" or "unix:/run/icefield.sock"`, address)
	}
	return &http.Client{Transport: transport}, strings.TrimRight(address, "/"), nil
}

// spoken is the sentence in an error answer, after a colon.
func spoken(text []byte) string {
	var body struct{ Error struct{ Message string } }
	if json.Unmarshal(text, &body) != nil || body.Error.Message == "" {
		return ""
	}
	return ": " + printable(body.Error.Message)
}

// printable keeps what a server sent from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F || (r >= 0x80 && r < 0xA0) {
			return ' '
		}
		return r
	}, s)
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
