package native

import (
	"encoding/json"
	"errors"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
)

// Tables and views go through one protocol and share their names. What they
// differ in is here.

// absence is how an object that is not there is told.
func absence(kind store.Kind) mounts.Kind {
	if kind == store.View {
		return mounts.NoSuchView
	}
	return mounts.NoSuchTable
}

// objectIn is the pointer of an object of that kind. An object of the other
// kind counts as absent.
func objectIn(tx store.Tx, id mounts.Identifier, kind store.Kind) (store.Object, error) {
	o, err := tx.Object(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && o.Kind != kind {
		return store.Object{}, refuse(absence(kind), id, "")
	}
	return o, err
}

// free is nil if an object of that kind and name can be created, or why not.
func free(tx store.Tx, id mounts.Identifier, kind store.Kind) error {
	if err := exists(tx, id.Namespace); err != nil {
		return err
	}
	taken, err := tx.Object(id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case taken.Kind == kind:
		return refuse(mounts.AlreadyExists, id, "")
	case taken.Kind == store.View:
		return refuse(mounts.AlreadyExists, id, viewHasName)
	}
	return refuse(mounts.AlreadyExists, id, tableHasName)
}

// inspect reads a metadata document; one of the other kind is refused.
func inspect(kind store.Kind, doc json.RawMessage) (*commit.Summary, error) {
	if kind == store.View {
		return commit.InspectView(doc)
	}
	return commit.Inspect(doc)
}

// compressed reports whether the properties ask for a compressed metadata file.
// Without a word in them a view's file is compressed and a table's is not, as
// the configuration pages of Iceberg have it.
func compressed(kind store.Kind, properties map[string]string) bool {
	codec, ok := properties[propertyMetadataCodec]
	return codec == "gzip" || !ok && kind == store.View
}
