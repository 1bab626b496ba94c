package native

import (
	"context"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

var (
	_ mounts.Locating = (*Backend)(nil)
	_ mounts.Locating = keyed{}
)

// TableAt implements mounts.Locating, by the rules of ground: a table is found at
// the usual place of its metadata files, and lies where those say.
func (b *Backend) TableAt(ctx context.Context, location string) (mounts.Identifier, error) {
	place, err := b.warehouse.ConfineFile(location)
	if err != nil {
		return mounts.Identifier{}, fault(err)
	}
	var found []store.Object
	err = b.store.View(ctx, func(tx store.Tx) error {
		found = nil
		root := b.warehouse.Root()
		l := place
		for depth := 0; depth < maxFolders && l.Within(root) && !root.Within(l); l, depth = l.Parent(), depth+1 {
			kept, err := keptAt(tx, l)
			if err != nil {
				return err
			}
			found = append(found, kept...)
		}
		return nil
	})
	if err != nil {
		return mounts.Identifier{}, fault(err)
	}
	var best warehouse.Location
	var id mounts.Identifier
	for _, o := range found {
		if o.Kind != store.Table {
			continue
		}
		lies, err := b.liesAt(ctx, o)
		if err != nil {
			return id, err
		}
		if place.Within(lies) && (id.IsZero() || lies.Within(best)) {
			best, id = lies, o.Identifier()
		}
	}
	if id.IsZero() {
		return id, &mounts.Error{Kind: mounts.NoSuchTable, Msg: "no table lies there"}
	}
	return id, nil
}

// TableAt implements mounts.Locating.
func (k keyed) TableAt(ctx context.Context, location string) (mounts.Identifier, error) {
	return k.registry.TableAt(ctx, location)
}
