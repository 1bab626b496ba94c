package commit

import (
	"encoding/json"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// InspectView is Inspect for a view's document: UUID, Location, FormatVersion,
// LastUpdatedMS (the log's last time) and Properties of the Summary are filled
// in. A table's document is refused. Errors are *mounts.Error of kind
// ValidationFailed that say what is wrong.
func InspectView(metadata json.RawMessage) (*Summary, error) {
	if jsonDepth(metadata) > maxDepth || !jsontext.Value(metadata).IsValid() {
		return nil, invalid("the file is not Iceberg view metadata: it is not valid JSON, has a name twice in one object, or is nested deeper than %d levels", maxDepth)
	}
	v, err := loadView(metadata, Options{})
	if err != nil {
		return nil, notViewMetadata(err)
	}
	sum := &Summary{FormatVersion: v.version, Properties: map[string]string{}}
	for _, step := range []func(*Summary) error{v.inspectTop, v.inspectVersions, v.inspectLog, v.inspectProperties} {
		if err := step(sum); err != nil {
			return nil, notViewMetadata(err)
		}
	}
	return sum, nil
}

// notViewMetadata turns what View would call broken, or a bad request, into a
// complaint about the document at hand.
func notViewMetadata(err error) error {
	e := mounts.AsError(err)
	switch {
	case e.Kind == mounts.Internal && errors.Is(e.Err, errNotView):
		return invalid("the file is not the metadata of a view: it has no \"view-uuid\", or it is a table's")
	case e.Kind == mounts.Internal && e.Err != nil:
		return invalid("the file is not Iceberg view metadata: %s", library(e.Err))
	}
	return &mounts.Error{Kind: mounts.ValidationFailed, Msg: e.Msg, Err: e.Err}
}

func (v *viewState) inspectTop(sum *Summary) error {
	var err error
	if sum.UUID, err = v.text("view-uuid"); err != nil {
		return err
	}
	if _, err := uuid.Parse(sum.UUID); err != nil {
		return broken("view-uuid", errors.New("is not a UUID"))
	}
	location, err := v.text("location")
	if err != nil {
		return err
	}
	if sum.Location = trimSlash(location); sum.Location == "" {
		return broken("location", errors.New("is missing or empty"))
	}
	return nil
}

// inspectVersions checks that every version has what readers require and names a
// schema that is there.
func (v *viewState) inspectVersions(*Summary) error {
	known := map[int64]bool{}
	of, err := v.list(schemas)
	if err != nil {
		return err
	}
	for _, e := range of.entries {
		if known[e.id] {
			return broken(schemas.name, errors.New("has an id twice"))
		}
		known[e.id] = true
	}
	l, err := v.list(versions)
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	for _, e := range l.entries {
		if seen[e.id] {
			return broken(versions.name, errors.New("has an id twice"))
		}
		seen[e.id] = true
		f, err := readVersion("a version of the view", e.raw)
		if err != nil {
			return err
		}
		if !known[*f.Schema] {
			return broken(versions.name, errDangling)
		}
		for _, raw := range f.Representations {
			if _, err := readRepresentation("a representation of the view", raw); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *viewState) inspectLog(sum *Summary) error {
	if !v.doc.has("version-log") {
		return broken("version-log", errors.New("is required and missing"))
	}
	log, err := elements(v.doc.get("version-log"))
	if err != nil {
		return broken("version-log", err)
	}
	for _, raw := range log {
		if sum.LastUpdatedMS, err = idOf(raw, "timestamp-ms"); err != nil {
			return broken("version-log", err)
		}
		if _, err := idOf(raw, versions.id); err != nil {
			return broken("version-log", err)
		}
	}
	return nil
}
