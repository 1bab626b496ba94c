package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// jobTable is what a running server says of its background jobs. Jobs keeps
// every field that the server sent, for --output json.
type jobTable struct {
	Jobs        []json.RawMessage `json:"jobs"`
	Next        string            `json:"next,omitempty"`
	Unavailable []struct {
		Mount string `json:"mount"`
		Error string `json:"error"`
	} `json:"unavailable"`
}

// jobLine is what the table shows of a job.
type jobLine struct {
	Mount  string `json:"mount"`
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Object struct {
		Namespace []string `json:"namespace"`
		Name      string   `json:"name"`
	} `json:"object"`
	State         string `json:"state"`
	Phase         string `json:"phase"`
	Found         int64  `json:"found"`
	Deleted       int64  `json:"deleted"`
	Skipped       int64  `json:"skipped"`
	Attempts      int    `json:"attempts"`
	LastError     string `json:"last_error"`
	Note          string `json:"note"`
	CreatedAt     string `json:"created_at"`
	UpdatedAt     string `json:"updated_at"`
	NextAttemptAt string `json:"next_attempt_at"`
	Principal     string `json:"principal"`
}

func newJobs() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jobs",
		Short: "Show what a running server does in the background, as deleting the files of dropped tables",
		Long: `Show what a running server does in the background: the files of a table that
was dropped with purge are deleted by a job. The newest jobs come first.

A job that fails is tried again, at last once an hour, for a week; then it has
failed for good. Finished jobs are forgotten after a week.`,
		Args: cobra.NoArgs,
	}
	server := serverFlag(cmd)
	mount := cmd.Flags().String("mount", "", "only the jobs of the mount of that `name`")
	limit := cmd.Flags().Int("limit", 100, "how many jobs to show, at most 1000")
	before := cmd.Flags().String("before", "", "only jobs older than the one with that `id`")
	format := outputFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		table, err := fetchJobs(cmd.Context(), *server, *mount, *before, *limit)
		if err != nil {
			return err
		}
		if *format == outputJSON {
			err = writeJSON(cmd.OutOrStdout(), table)
		} else {
			err = writeJobs(cmd.OutOrStdout(), table, time.Now())
		}
		return errors.Join(err, table.silent())
	})
	return cmd
}

// fetchJobs asks a running server.
func fetchJobs(ctx context.Context, at reach, mount, before string, limit int) (*jobTable, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if mount != "" {
		query.Set("mount", mount)
	}
	if before != "" {
		query.Set("before", before)
	}
	text, err := ask(ctx, at, "/admin/v1/jobs?"+query.Encode())
	if err != nil {
		return nil, err
	}
	var table jobTable
	if err := json.Unmarshal(text, &table); err != nil || table.Jobs == nil {
		return nil, fmt.Errorf("what answers at %s is no icefield, or an older one", at.address)
	}
	return &table, nil
}

// silent is the error of mounts whose jobs could not be read.
func (t *jobTable) silent() error {
	var failed []error
	for _, u := range t.Unavailable {
		failed = append(failed, fmt.Errorf("the jobs of the mount %q could not be read: %s", printable(u.Mount), printable(u.Error)))
	}
	return errors.Join(failed...)
}

func writeJobs(w io.Writer, table *jobTable, now time.Time) error {
	var b strings.Builder
	tabs := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tabs, "ID\tMOUNT\tKIND\tOBJECT\tSTATE\tPHASE\tFOUND\tDELETED\tSKIPPED\tATTEMPTS\tCREATED\tUPDATED\tBY\tREMARK")
	for _, raw := range table.Jobs {
		var j jobLine
		if err := json.Unmarshal(raw, &j); err != nil {
			return fmt.Errorf("the server's answer is not understood; is it a newer icefield? %w", err)
		}
		object := strings.Join(append(j.Object.Namespace, j.Object.Name), ".")
		fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\n", printable(j.ID), printable(j.Mount), printable(j.Kind), dash(object),
			dash(j.State), dash(j.Phase), j.Found, j.Deleted, j.Skipped, j.Attempts, ago(j.CreatedAt, now), ago(j.UpdatedAt, now), dash(j.Principal), dash(j.remark(now)))
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	if table.Next != "" {
		fmt.Fprintf(&b, "There are older ones: --before %s\n", printable(table.Next))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// remark says what else there is to know of a job.
func (j *jobLine) remark(now time.Time) string {
	if j.LastError == "" {
		return j.Note
	}
	if at, err := time.Parse(time.RFC3339Nano, j.NextAttemptAt); err == nil && at.After(now) {
		return fmt.Sprintf("%s (tried again in %s)", j.LastError, at.Sub(now).Round(time.Second))
	}
	return j.LastError
}
