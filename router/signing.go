package router

import (
	"context"
	"errors"
	"fmt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy/sign"
)

// maxToSign bounds a request to sign: a thousand keys of a kilobyte each, to be
// deleted together, in XML that is a string in JSON, fit into it.
const maxToSign = 4 << 20

// signWithoutTable answers the route that old clients have storage requests
// signed at, which names no table: the one is asked that holds the object. It is
// then asked as any other, so that the same policies decide. What is not found is
// answered like what the caller may not know of, and as a store does: Forbidden.
// So nobody finds out here where tables lie, or that they are there.
func signWithoutTable(ctx context.Context, x *exchange) error {
	x.maxBody = min(x.maxBody, maxToSign)
	toSign, err := x.raw(ctx)
	if err != nil {
		return err
	}
	places, err := sign.Locations(toSign)
	if err != nil {
		return err
	}
	id, err := x.tableAt(ctx, places)
	if err != nil {
		return err
	}
	signed, err := ask[*mounts.Document](ctx, x, &mounts.SignStorageRequest{Table: id, Body: toSign})
	if errors.Is(err, mounts.NoSuchTable) || errors.Is(err, mounts.NoSuchNamespace) {
		return nothingToSign(err)
	}
	if err != nil {
		return err
	}
	return x.passOn(signed)
}

// nothingToSign is one answer for every object that the caller gets nothing
// signed for, as long as nothing else may be said of its table.
func nothingToSign(cause error) error {
	return &mounts.Error{Kind: mounts.Forbidden, Err: cause,
		Msg: "this object is in no table that you may use here, so that nothing is signed for it; clients that follow the signer endpoint of a loaded table name the table"}
}

// tableAt is the table that lies at the first of the places at which one does, in
// the names of the catalog. Whether the caller may know of it is decided later.
func (x *exchange) tableAt(ctx context.Context, places []string) (mounts.Identifier, error) {
	var failed error
	for _, place := range places {
		for _, m := range x.allMounts() {
			if m.TableAt == nil || x.catalog != &x.Tree && m.ViewName != x.catalog.Prefix {
				continue
			}
			id, err := m.TableAt(ctx, place)
			switch {
			case err == nil:
				if x.catalog == &x.Tree && m.Name != mounts.UnderName {
					id.Namespace = append(mounts.Namespace{m.Name}, id.Namespace...)
				}
				return id, nil
			case errors.Is(err, mounts.NoSuchTable), errors.Is(err, mounts.BadRequest):
			case failed == nil:
				failed = fmt.Errorf("mount %q: %w", m.Name, err)
			}
		}
	}
	if failed != nil {
		return mounts.Identifier{}, &mounts.Error{Kind: mounts.Unavailable, Err: failed,
			Msg: "which table holds this object cannot be looked up right now; nothing was signed, try again later"}
	}
	return mounts.Identifier{}, nothingToSign(nil)
}
