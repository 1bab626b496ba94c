package router

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/icefield/icefield/mounts"
)

// The sizes of a page of jobs, and how long mounts have to list theirs.
const (
	defaultJobs = 100
	maxJobs     = 1000
	jobsTimeout = 10 * time.Second
)

// jobStatus is one job in /admin/v1/jobs. Names are relative to the mount.
type jobStatus struct {
	Mount  string `json:"mount"`
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Object struct {
		Kind      string   `json:"kind"`
		Namespace []string `json:"namespace"`
		Name      string   `json:"name"`
	} `json:"object"`
	State         string `json:"state"`
	Phase         string `json:"phase,omitempty"`
	Found         int64  `json:"found"`
	Deleted       int64  `json:"deleted"`
	Skipped       int64  `json:"skipped"`
	Bytes         int64  `json:"bytes"`
	Attempts      int    `json:"attempts"`
	LastError     string `json:"last_error,omitempty"`
	Note          string `json:"note,omitempty"`
	CreatedAt     string `json:"created_at"`
	UpdatedAt     string `json:"updated_at"`
	NextAttemptAt string `json:"next_attempt_at,omitempty"`
	Principal     string `json:"principal,omitempty"`
	RequestID     string `json:"request_id,omitempty"`
	Runner        string `json:"runner,omitempty"`
}

// silentMount is a mount whose jobs could not be read: they may well exist.
type silentMount struct {
	Mount string `json:"mount"`
	Error string `json:"error"`
}

// adminJobs lists the background jobs of all mounts, or of ?mount=, the newest
// first, as far as the caller may see them: ?limit= of them, and with ?before= those older than that id. "next" is
// the id to go on from.
func (s *server) adminJobs(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	limit := defaultJobs
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxJobs {
			return badField("the parameter limit", fmt.Sprintf("must be a number from 1 to %d, not %q", maxJobs, clip(text)))
		}
		limit = n
	}
	asked, err := s.mountsWithJobs(r, query.Get("mount"))
	if err != nil {
		return err
	}
	out := struct {
		Jobs        []jobStatus   `json:"jobs"`
		Next        string        `json:"next,omitempty"`
		Unavailable []silentMount `json:"unavailable"`
	}{[]jobStatus{}, "", []silentMount{}}
	before, more := query.Get("before"), false
	for _, a := range listJobs(r.Context(), asked, before, limit) {
		if a.err != nil {
			e := mounts.AsError(a.err)
			if e.Kind == mounts.BadRequest {
				return badField("the parameter before", "must be the id of a job")
			}
			out.Unavailable = append(out.Unavailable, silentMount{a.mount.Name, e.Message()})
		}
		more = more || len(a.jobs) == limit
		for _, j := range a.jobs {
			out.Jobs = append(out.Jobs, describe(a.mount.Name, j))
		}
	}
	slices.SortFunc(out.Jobs, func(a, b jobStatus) int {
		return cmp.Or(cmp.Compare(b.ID, a.ID), cmp.Compare(a.Mount, b.Mount))
	})
	if len(out.Jobs) > limit {
		out.Jobs, more = out.Jobs[:limit], true
	}
	if more {
		out.Next = out.Jobs[len(out.Jobs)-1].ID
	}
	return s.report(w, r, out)
}

// mountsWithJobs are the mounts that have jobs, or the named one, of those that
// the caller may see.
func (s *server) mountsWithJobs(r *http.Request, name string) ([]*mounts.Mount, error) {
	var seen []*mounts.Mount
	if name != "" {
		m, err := s.inspectMount(r, name)
		if err != nil {
			return nil, err
		}
		seen = []*mounts.Mount{m}
	} else {
		in, err := s.inspect(r)
		if err != nil {
			return nil, err
		}
		seen = in.mounts
	}
	return slices.DeleteFunc(seen, func(m *mounts.Mount) bool { return m.Jobs == nil }), nil
}

// jobsOf is what one mount answered.
type jobsOf struct {
	mount *mounts.Mount
	jobs  []mounts.Job
	err   error
}

// listJobs asks all mounts at once.
func listJobs(ctx context.Context, asked []*mounts.Mount, before string, limit int) []jobsOf {
	ctx, cancel := context.WithTimeout(ctx, jobsTimeout)
	defer cancel()
	answers := make([]jobsOf, len(asked))
	var group sync.WaitGroup
	for i, m := range asked {
		group.Go(func() {
			list, err := m.Jobs(ctx, before, limit)
			answers[i] = jobsOf{m, list, err}
		})
	}
	group.Wait()
	return answers
}

func describe(mount string, j mounts.Job) jobStatus {
	stamp := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339Nano)
	}
	one := jobStatus{
		Mount: mount, ID: j.ID, Kind: j.Kind, State: j.State, Phase: j.Phase,
		Found: j.Found, Deleted: j.Deleted, Skipped: j.Skipped, Bytes: j.Bytes, Attempts: j.Attempts,
		LastError: j.LastError, Note: j.Note, CreatedAt: stamp(j.Created), UpdatedAt: stamp(j.Updated), NextAttemptAt: stamp(j.NextAttempt),
		Principal: j.Principal, RequestID: j.RequestID, Runner: j.Runner,
	}
	one.Object.Kind, one.Object.Name = j.ObjectKind, j.Object.Name
	one.Object.Namespace = append([]string{}, j.Object.Namespace...)
	return one
}
