package native

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// A table or view has its location for itself: whoever may read or write it is
// handed keys to everything below. So none is created at, registered from, or
// moved to, a location that equals that of another one, encloses it, or lies
// inside it. Locations are not what the store knows, which are the pointers:
//
//   - What lies below the new location is found by its pointer, which lies there
//     too.
//   - What encloses it is found at the usual place of metadata files, the folder
//     metadata of each enclosing location, and its own metadata says where it
//     really lies.
//
// So an object is not found that keeps its metadata files outside of its
// location (write.metadata.path), or one that was registered from a file
// elsewhere and not changed since; nor are the files that stayed behind when an
// object moved. In a shared registry none of that reaches another tenant: see
// home.

// ground is what a change wants to make an object's own.
type ground struct {
	id mounts.Identifier
	// self is the object's identity in the registry; zero for a new one.
	self uuid.UUID
	// own is where it lies now; nil for nowhere.
	own *warehouse.Location
	// place is its new location; nil if it stays. fresh says that it was made up
	// here, so that nothing is below it.
	place *warehouse.Location
	fresh bool
	// named is all that the request names, folders those where engines, or this
	// server, will write.
	named   []commit.Named
	folders []warehouse.Location
	// known are the neighbours that turned out to lie elsewhere, by their pointers.
	known map[uuid.UUID]string
}

// addFolders takes the folders from what is named, which are properties.
func (g *ground) addFolders(named []commit.Named) error {
	for _, n := range named {
		if !strings.Contains(n.Where, "write.") {
			continue
		}
		l, err := warehouse.Parse(n.Location)
		if err != nil {
			return err
		}
		if g.own == nil || !l.Within(*g.own) {
			g.folders = append(g.folders, l)
		}
	}
	return nil
}

const (
	// maxSurveys bounds how often neighbours are looked at, maxNeighbours how many
	// pointers of one folder are, maxFolders how deep a location may lie.
	maxSurveys    = 4
	maxNeighbours = 64
	maxFolders    = 100
)

// survey looks at the ground before anything is written: it refuses what is
// another's, and gets to know neighbours that are in nobody's way.
func (b *Backend) survey(ctx context.Context, g *ground) error {
	g.known = map[uuid.UUID]string{}
	for range maxSurveys {
		var near []store.Object
		err := b.store.View(ctx, func(tx store.Tx) (err error) {
			near, err = b.neighbours(tx, g)
			return err
		})
		if err != nil || len(near) == 0 {
			return err
		}
		for _, o := range near {
			lies, err := b.liesAt(ctx, o)
			if err != nil {
				return err
			}
			if g.meets(lies) {
				return g.taken()
			}
			g.known[o.ID] = o.Location
		}
	}
	return nil
}

// claim is the same question in the transaction that makes the change, without a
// look at any file: a neighbour that came, or moved, since the survey is in the
// way.
func (b *Backend) claim(tx store.Tx, g *ground) error {
	near, err := b.neighbours(tx, g)
	if err == nil && len(near) > 0 {
		return g.taken()
	}
	return err
}

// taken does not say by whom: that may be something the caller must not know of.
func (g *ground) taken() error {
	where := "a location that the request names"
	if g.place != nil {
		where = fmt.Sprintf("the location %q", g.place.String())
	}
	return refuse(mounts.BadRequest, g.id, where+" equals, encloses or lies inside that of another table or view, and each has its own; leave it out, or choose another one")
}

// meets reports whether the ground and an object that lies there are in each
// other's way.
func (g *ground) meets(lies warehouse.Location) bool {
	if g.place != nil && (g.place.Within(lies) || lies.Within(*g.place)) {
		return true
	}
	for _, folder := range g.folders {
		if folder.Within(lies) {
			return true
		}
	}
	return false
}

// neighbours returns the objects whose files may enclose the ground and that are
// not known. It is an error if another's lie below it.
func (b *Backend) neighbours(tx store.Tx, g *ground) (near []store.Object, err error) {
	if err := b.atHome(tx, g.id.Namespace, g.own, g.named); err != nil {
		return nil, err
	}
	around := func(l warehouse.Location) error {
		root := b.warehouse.Root()
		for depth := 0; l.Within(root) && !root.Within(l); l, depth = l.Parent(), depth+1 {
			if depth == maxFolders {
				return refuse(mounts.BadRequest, g.id, fmt.Sprintf("a location may lie %d folders below the warehouse", maxFolders))
			}
			found, err := keptAt(tx, l)
			if err != nil {
				return err
			}
			for _, o := range found {
				if o.ID != g.self && g.known[o.ID] != o.Location {
					near = append(near, o)
				}
			}
		}
		return nil
	}
	if g.place != nil {
		if !g.fresh {
			for _, folder := range g.place.Spellings() {
				// The object itself, and one more.
				holders, err := tx.Holders(folder+"/", 2)
				if err != nil {
					return nil, err
				}
				for _, o := range holders {
					if o.ID != g.self {
						return nil, g.taken()
					}
				}
			}
		}
		if err := around(g.place.Parent()); err != nil {
			return nil, err
		}
	}
	for _, folder := range g.folders {
		if err := around(folder); err != nil {
			return nil, err
		}
	}
	return near, nil
}

// keptAt returns the objects whose pointers are where an object keeps its
// metadata files that lies at l.
func keptAt(tx store.Tx, l warehouse.Location) (found []store.Object, err error) {
	for _, folder := range l.Join(metadataFolder).Spellings() {
		holders, err := tx.Holders(folder+"/", maxNeighbours)
		if err != nil {
			return nil, err
		}
		for _, o := range holders {
			if !strings.Contains(o.Location[len(folder)+1:], "/") {
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// liesAt is the location of an object, as its metadata says. One whose metadata
// is lost lies where such a metadata file usually belongs.
func (b *Backend) liesAt(ctx context.Context, o store.Object) (warehouse.Location, error) {
	usual, err := warehouse.Parse(o.Location)
	if err != nil {
		return warehouse.Location{}, err
	}
	usual = usual.Parent().Parent()
	doc, err := b.document(ctx, o, mounts.SnapshotsAll)
	if errors.Is(err, mounts.MetadataMissing) || errors.Is(err, errDamaged) {
		return usual, nil
	}
	if err != nil {
		return warehouse.Location{}, about(o.Identifier(), err)
	}
	summary, err := inspect(o.Kind, doc)
	if err != nil {
		return usual, nil
	}
	l, err := warehouse.Parse(summary.Location)
	if err != nil {
		return usual, nil
	}
	return l, nil
}
