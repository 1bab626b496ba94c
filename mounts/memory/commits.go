package memory

import (
	"context"
	"encoding/json"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
)

// CommitTable implements mounts.Backend.
func (b *Backend) CommitTable(ctx context.Context, req *mounts.CommitTableRequest) (*mounts.Table, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next, err := b.prepare(req, req)
	if err != nil {
		return nil, err
	}
	b.find(req.Table.Namespace).tables.put(req.Table.Name, next)
	return answer(next), nil
}

// CommitTransaction implements mounts.Backend.
func (b *Backend) CommitTransaction(ctx context.Context, req *mounts.CommitTransactionRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	for i, change := range req.Changes {
		for _, earlier := range req.Changes[:i] {
			if earlier.Table.Equal(change.Table) {
				return refuse(req, mounts.BadRequest, change.Table,
					"the transaction changes {object} twice; put its updates into one change")
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	prepared := make([]*object, len(req.Changes))
	for i := range req.Changes {
		var err error
		if prepared[i], err = b.prepare(req, &req.Changes[i]); err != nil {
			return err
		}
	}
	for i, change := range req.Changes {
		b.find(change.Table.Namespace).tables.put(change.Table.Name, prepared[i])
	}
	return nil
}

// prepare works out the state that one change leads to, without storing it. The
// lock must be held.
func (b *Backend) prepare(req mounts.Request, change *mounts.CommitTableRequest) (*object, error) {
	id := change.Table
	current := b.table(id)
	var base *commit.Base
	if current != nil {
		base = &commit.Base{Metadata: current.metadata, Location: current.location}
	}
	result, err := commit.Table(base, change, b.commitOptions())
	if err != nil {
		return nil, about(req, id, err)
	}
	if current != nil && !result.Changed {
		return current, nil
	}
	if current == nil {
		if problem := checkObject(id.Namespace, id.Name); problem != "" {
			return nil, refuse(req, mounts.BadRequest, id, problem)
		}
		if _, err := b.free(req, id); err != nil {
			return nil, err
		}
	}
	if err := b.confine(req, id, result.TableLocation); err != nil && (current == nil || moved(current, result, commit.Inspect)) {
		return nil, err
	}
	version := 0
	if current != nil {
		version = current.version + 1
	}
	return &object{metadata: result.Metadata, location: b.file(result.TableLocation, version), version: version}, nil
}

// moved reports whether a commit changed the location of what it changed: only
// then it is confined, so that content put in for a test may lie anywhere.
func moved(current *object, result *commit.Result, inspect func(json.RawMessage) (*commit.Summary, error)) bool {
	before, err := inspect(current.metadata)
	return err != nil || before.Location != result.TableLocation
}
