package router

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/icefield/icefield/mounts"
)

// The sizes of a page of a commit log, and how long a mount has to read it.
const (
	defaultCommits = 100
	maxCommits     = 1000
	commitsTimeout = 10 * time.Second
)

// commitStatus is one change in /admin/v1/commits.
type commitStatus struct {
	Generation     uint64 `json:"generation"`
	From           string `json:"from,omitempty"`
	To             string `json:"to,omitempty"`
	At             string `json:"at"`
	Principal      string `json:"principal,omitempty"`
	RequestID      string `json:"request_id,omitempty"`
	IdempotencyKey string `json:"idempotency_key,omitempty"`
}

// adminCommits shows the commit log of one table or view of ?mount=, the oldest
// change first: ?namespace= with ?table= or ?view=, in names relative to the
// mount, or ?object= with the id that an earlier answer had, which works after a
// rename or drop too. ?limit= bounds it, and ?after= is the generation behind
// which it begins: "next" is the one to go on from.
func (s *server) adminCommits(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	q, err := readLogQuery(query)
	if err != nil {
		return err
	}
	m, err := s.mountWithLog(r, query.Get("mount"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), commitsTimeout)
	defer cancel()
	log, err := m.Log(ctx, q)
	if err != nil {
		return err
	}
	out := struct {
		Mount   string         `json:"mount"`
		Object  string         `json:"object"`
		Commits []commitStatus `json:"commits"`
		Next    uint64         `json:"next,omitempty"`
	}{m.Name, log.ID, make([]commitStatus, len(log.Rows)), 0}
	for i, row := range log.Rows {
		out.Commits[i] = commitStatus{Generation: row.Generation, From: row.From, To: row.To, At: row.Time.UTC().Format(time.RFC3339Nano),
			Principal: row.Principal, RequestID: row.RequestID, IdempotencyKey: row.IdempotencyKey}
	}
	if n := len(log.Rows); n >= q.Limit {
		out.Next = log.Rows[n-1].Generation
	}
	return s.report(w, r, out)
}

func readLogQuery(query url.Values) (mounts.LogQuery, error) {
	q := mounts.LogQuery{ID: query.Get("object"), Limit: defaultCommits}
	if text := query.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxCommits {
			return q, badField("the parameter limit", fmt.Sprintf("must be a number from 1 to %d, not %q", maxCommits, clip(text)))
		}
		q.Limit = n
	}
	if text := query.Get("after"); text != "" {
		n, err := strconv.ParseUint(text, 10, 63)
		if err != nil {
			return q, badField("the parameter after", fmt.Sprintf("must be the generation of a commit, not %q", clip(text)))
		}
		q.After = n
	}
	table, view := query.Get("table"), query.Get("view")
	named := 0
	for _, text := range []string{table, view, q.ID} {
		if text != "" {
			named++
		}
	}
	if named != 1 {
		return q, badField("the query", "must have one of the parameters table and view, with namespace, or object")
	}
	if q.ID != "" {
		return q, nil
	}
	q.Kind, q.Object.Name = "table", table
	if view != "" {
		q.Kind, q.Object.Name = "view", view
	}
	q.Object.Namespace = splitLevels(query.Get("namespace"))
	if err := checkNamespace("the parameter namespace", q.Object.Namespace); err != nil {
		return q, err
	}
	return q, checkName("the parameter "+q.Kind, q.Object.Name)
}

// mountWithLog is the mount of that name, of those that the caller may see.
func (s *server) mountWithLog(r *http.Request, name string) (*mounts.Mount, error) {
	if name == "" {
		return nil, badField("the parameter mount", "is missing")
	}
	m, err := s.inspectMount(r, name)
	if err == nil && m.Log == nil {
		err = badField("the parameter mount", "names a mount that keeps no log of commits: "+quoted(name))
	}
	return m, err
}
