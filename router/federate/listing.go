package federate

import (
	"context"
	"fmt"
	"slices"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// listRoot lists the mounts' names, then the top level of the catalog
// underneath. Both come from one token: its source is the last mount listed, or
// the catalog underneath with that catalog's own cursor.
func (t *tree) listRoot(ctx context.Context, req *mounts.ListNamespacesRequest) (mounts.Response, error) {
	listing := t.listing(req.Op(), nil)
	position, resumed := t.ring.Open(listing, req.Page.Token)
	page := &pagination.Page[mounts.Namespace]{Items: []mounts.Namespace{}}
	under := t.table.Under()

	if !resumed || position.Source != mounts.UnderName {
		last := t.listMounts(page, position.Source, req.Page.Size)
		var err error
		switch {
		case last != "":
			page.Next, err = t.seal(listing, pagination.Position{Source: last})
			return page, err
		case under == nil:
			return page, nil
		case req.Page.Size > 0 && len(page.Items) == req.Page.Size:
			page.Next, err = t.seal(listing, pagination.Position{Source: mounts.UnderName})
			return page, err
		}
		position = pagination.Position{Source: mounts.UnderName}
	}
	if under == nil {
		return page, nil
	}

	inner := mounts.ListNamespacesRequest{Page: pagination.Request{Token: position.Cursor, Whole: req.Page.Whole}}
	if req.Page.Size > 0 {
		inner.Page.Size = req.Page.Size - len(page.Items)
	}
	below, err := under.Tree.ListNamespaces(ctx, &inner)
	if err != nil {
		return nil, err
	}
	for _, n := range below.Items {
		// A namespace that appeared underneath a mount after it was mounted, as
		// in a catalog that others write to, is hidden by the mount.
		if !t.isMountRoot(n) {
			page.Items = append(page.Items, n)
		}
	}
	if below.Next != "" {
		page.Next, err = t.seal(listing, pagination.Position{Source: mounts.UnderName, Cursor: below.Next})
	}
	return page, err
}

// listMounts adds the names after the mount `after` to the page, at most size
// of them (all if 0). If some are left it returns the last one added.
func (t *tree) listMounts(page *pagination.Page[mounts.Namespace], after string, size int) (last string) {
	named := t.table.Named()
	start, _ := slices.BinarySearchFunc(named, after, func(m *mounts.Mount, name string) int {
		if m.Name <= name {
			return -1
		}
		return 1
	})
	for _, m := range named[start:] {
		if size > 0 && len(page.Items) == size {
			return page.Items[size-1][0]
		}
		page.Items = append(page.Items, mounts.Namespace{m.Name})
	}
	return ""
}

// list calls a listing of one mount with the page token opened, and seals the
// mount's own cursor. A token that is not of this listing starts it again.
func list[T any](t *tree, mount *mounts.Mount, op capabilities.Op, parent mounts.Namespace,
	page *pagination.Request, call func() (*pagination.Page[T], error)) (mounts.Response, error) {
	listing := t.listing(op, parent)
	position, ok := t.ring.Open(listing, page.Token)
	page.Token = ""
	if ok && position.Source == mount.Name {
		page.Token = position.Cursor
	}
	answer, err := call()
	if err != nil {
		return nil, err
	}
	if answer.Next == "" {
		return answer, nil
	}
	next, err := t.seal(listing, pagination.Position{Source: mount.Name, Cursor: answer.Next})
	if err != nil {
		return nil, err
	}
	return &pagination.Page[T]{Items: answer.Items, Next: next}, nil
}

func (t *tree) listing(op capabilities.Op, parent mounts.Namespace) pagination.Listing {
	return pagination.Listing{Scope: t.scope, Kind: op.String(), Parent: parent}
}

func (t *tree) seal(listing pagination.Listing, position pagination.Position) (string, error) {
	token, err := t.ring.Seal(listing, position)
	if err != nil {
		return "", &mounts.Error{Kind: mounts.BadGateway, Mount: position.Source,
			Msg: "its page token cannot be passed on", Err: fmt.Errorf("seal a page token: %w", err)}
	}
	return token, nil
}
