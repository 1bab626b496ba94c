package vend

import (
	"context"
	"errors"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// create makes a table whose creator gets credentials for it.
//
// The credentials come first: a table that exists although its create failed
// cannot be created again, and the engine that asked does not know that. Where
// the table will lie is found out by staging it, which stores nothing and makes
// the same checks; then it is made at that place.
func (v *vendor) create(ctx context.Context, r *mounts.CreateTableRequest, next mounts.Handler) (mounts.Response, error) {
	if r.StageCreate {
		t, err := tableOf(next(ctx, r))
		if err != nil {
			return nil, err
		}
		return answer(v.grantFirst(ctx, r, t, nil))
	}
	staged, err := v.stage(ctx, r, next)
	if err != nil {
		// The request itself says what is wrong with it, or that it was answered
		// before under the same key.
		return v.made(ctx, r, next, nil)
	}
	at, err := v.locate(staged)
	if err != nil {
		return nil, unreadable(r, err)
	}
	if !at.covered {
		return next(ctx, r)
	}
	ready, err := v.mint(ctx, r, at.location)
	if err != nil {
		return nil, nothingMade(err, "; the table was not created")
	}
	placed := *r
	placed.Location = at.location
	return v.made(ctx, &placed, next, ready)
}

// stage asks what a create would make. It is not the client's request, so it
// takes no part in what its idempotency key is bound to.
func (v *vendor) stage(ctx context.Context, r *mounts.CreateTableRequest, next mounts.Handler) (*mounts.Table, error) {
	c := mounts.CallerFrom(ctx)
	c.Once = nil
	rehearsal := *r
	rehearsal.StageCreate, rehearsal.Delegation = true, ""
	return tableOf(next(mounts.WithCaller(ctx, c), &rehearsal))
}

// made passes a change on and adds credentials to the table that came of it.
func (v *vendor) made(ctx context.Context, req mounts.Request, next mounts.Handler, ready *Minted) (mounts.Response, error) {
	t, err := tableOf(next(ctx, req))
	if err != nil {
		return nil, err
	}
	granted, err := v.grantFirst(ctx, req, t, ready)
	if err != nil {
		return nil, afterwards(err)
	}
	return granted, nil
}

// grantFirst is grant for the answer of a create or register. One with an
// Idempotency-Key may be an answer of long ago, which was given again: policy let
// the caller make a table of that name, and by now the one that was made may be
// called another, whose keys that caller may not have. Then it is the answer alone.
func (v *vendor) grantFirst(ctx context.Context, req mounts.Request, t *mounts.Table, ready *Minted) (*mounts.Table, error) {
	registry, knows := mounts.As[mounts.Locating](v.next)
	if mounts.CallerFrom(ctx).Once == nil || !knows {
		return v.grant(ctx, req, t, ready)
	}
	at, err := v.locate(t)
	if err != nil || !at.covered {
		return v.grant(ctx, req, t, ready)
	}
	now, err := registry.TableAt(ctx, at.location)
	switch {
	case errors.Is(err, mounts.NoSuchTable):
		if t.MetadataLocation != "" { // else it is staged, and there is no table yet
			return t, nil
		}
	case err != nil:
		e := *mounts.AsError(err)
		e.Op, e.Ident = req.Op(), req.Object()
		return nil, &e
	case !now.Equal(req.Object()):
		return t, nil
	}
	return v.grant(ctx, req, t, ready)
}

// metadataFolder is where a table's metadata files lie in its location, unless
// write.metadata.path says otherwise.
const metadataFolder = "metadata"

// register makes a table of a metadata file. Where the table lies stands in the
// file, which nobody has read yet; in all likelihood it is where the file's
// folder is. If so its credentials exist before the table does.
func (v *vendor) register(ctx context.Context, r *mounts.RegisterTableRequest, next mounts.Handler) (mounts.Response, error) {
	var ready *Minted
	if location, ok := above(r.MetadataLocation); ok && v.covers(location) {
		var err error
		if ready, err = v.mint(ctx, r, location); err != nil {
			return nil, nothingMade(err, "; the table was not registered")
		}
	}
	return v.made(ctx, r, next, ready)
}

// above is the location of a table whose metadata file this is, if it lies where
// it usually does.
func above(file string) (string, bool) {
	end := strings.LastIndexByte(file, '/')
	if end < 0 {
		return "", false
	}
	return strings.CutSuffix(file[:end], "/"+metadataFolder)
}
