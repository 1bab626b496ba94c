package rest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// A mount with allowed_locations governs no other place: what a request would
// put elsewhere is refused before anything is sent. The remote might well do it,
// and then there would be a table that nobody gets access to through here.
//
// Looked at is what the REST spec calls a location, and the properties that tell
// engines where to write; not the files of a snapshot, which an engine can only
// have written with the access that it got. A place that this server does not
// know to be one is the remote's matter.

// supplied is a location that a client sent, and where in its request.
type supplied struct{ field, location string }

// confined refuses a request that carries a location outside of the mount's
// allowed locations. Locations that are empty are none.
func (b *Backend) confined(c call, all ...supplied) error {
	for _, s := range all {
		if s.location == "" {
			continue
		}
		if why := b.outside(s.location); why != nil {
			return &mounts.Error{Kind: mounts.BadRequest, Op: c.op, Ident: c.object, Err: why,
				Msg: fmt.Sprintf("%s of {object} is %s, which is not inside this mount's allowed_locations; nothing was sent", s.field, spelled(s.location))}
		}
	}
	return nil
}

// writePaths are the properties of a table by which engines are told where to
// write.
var writePaths = [...]string{"write.data.path", "write.folder-storage.path", "write.metadata.path", "write.object-storage.path"} // read only

// pathsIn are the locations among the properties of a table or view.
func pathsIn(properties map[string]string) (all []supplied) {
	for _, name := range writePaths {
		all = append(all, supplied{name, properties[name]})
	}
	return all
}

// confinedUpdates is confined for the updates of a commit. What cannot be read
// as an update is the remote's to refuse.
func (b *Backend) confinedUpdates(c call, updates []json.RawMessage) error {
	if len(b.config.AllowedLocations) == 0 {
		return nil
	}
	for _, update := range updates {
		if err := b.confined(c, locationsIn(update)...); err != nil {
			return err
		}
	}
	return nil
}

// locationsIn are the locations of a set-location or set-properties update,
// whatever its action is called: each member that could be one counts, in any case
// (catalogs in Go read it so), and each time that it stands there.
func locationsIn(update []byte) (all []supplied) {
	_ = eachMember(update, func(name string, value jsontext.Value) error {
		switch {
		case strings.EqualFold(name, "location"):
			text, _ := stringValue(value)
			all = append(all, supplied{"set-location", text})
		case strings.EqualFold(name, "updates"), strings.EqualFold(name, "updated"): // the second is an older name
			_ = eachMember(value, func(name string, value jsontext.Value) error {
				if text, ok := stringValue(value); ok && slices.Contains(writePaths[:], name) {
					all = append(all, supplied{name, text})
				}
				return nil
			})
		}
		return nil
	})
	return all
}
