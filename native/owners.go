package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

var (
	_ mounts.Owning = (*Backend)(nil)
	_ mounts.Owning = keyed{}
)

// Owners implements mounts.Owning: the tenants that the namespaces were created
// for.
func (b *Backend) Owners(ctx context.Context, levels []string) (map[string]string, error) {
	var owners map[string]string
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		owners, err = tx.Owners(levels)
		return err
	})
	if err != nil {
		return nil, fault(err)
	}
	return owners, nil
}

// Owners implements mounts.Owning.
func (k keyed) Owners(ctx context.Context, levels []string) (map[string]string, error) {
	return k.registry.Owners(ctx, levels)
}

// In a shared registry the top-level namespaces are of different tenants, and no
// request may lay hands on the files of another's: whoever may create a table
// somewhere is handed keys to that place. So everything that a request names in
// a top-level namespace lies in a folder that is that namespace's alone. What the
// registry cannot see is what stands inside the files that metadata leads to: a
// manifest may name any file. Keys and signatures are given for the location of
// a table only, so such a file is reached by nobody through it.

// home is that folder. It has the namespace's identity in its name, so that a
// namespace that was dropped and created again, by another tenant perhaps, never
// meets the old one's files, and no two names can lead to one folder.
func (b *Backend) home(top store.Namespace) warehouse.Location {
	return b.warehouse.Root().Join(warehouse.Segment(top.Path[0]) + "-" + top.ID.String())
}

// homeOf is the home of what lies in a namespace.
func (b *Backend) homeOf(tx store.Tx, path mounts.Namespace) (warehouse.Location, error) {
	top, err := tx.Namespace(path[:1])
	if errors.Is(err, store.ErrNotFound) {
		return warehouse.Location{}, noNamespace(path)
	}
	if err != nil {
		return warehouse.Location{}, err
	}
	return b.home(top), nil
}

// outsideHome refuses a location in a shared registry.
func outsideHome(text string, home warehouse.Location) error {
	return &warehouse.BadLocation{Text: text, Problem: fmt.Sprintf("lies outside the folder of its top-level namespace; leave it out, or choose one below %s", home)}
}

// atHome refuses, in a shared registry, what a request names for an object in a
// namespace unless it lies in that one's home, or in the object's own location
// as it is (nil for none), which it keeps when it is renamed from elsewhere.
func (b *Backend) atHome(tx store.Tx, namespace mounts.Namespace, own *warehouse.Location, named []commit.Named) error {
	if !b.shared || len(named) == 0 {
		return nil
	}
	home, err := b.homeOf(tx, namespace)
	if err != nil {
		return err
	}
	for _, n := range named {
		l, err := b.lies(n)
		if err != nil {
			return err
		}
		if own != nil && l.Within(*own) || l.Within(home) && !home.Within(l) {
			continue
		}
		err = outsideHome(n.Location, home)
		if n.Where != "" {
			return &mounts.Error{Kind: mounts.BadRequest, Msg: n.Where + ": " + err.Error()}
		}
		return err
	}
	return nil
}
