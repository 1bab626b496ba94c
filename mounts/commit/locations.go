package commit

import (
	"encoding/json"
	"strconv"
)

// Named is a location and the place in a request where it stands.
type Named struct {
	// Where is for messages: "add-snapshot: manifest-list".
	Where    string
	Location string
}

// locationProperties are the properties by which a table tells engines where to
// write.
var locationProperties = [...]string{
	"write.data.path", "write.folder-storage.path", "write.metadata.path", "write.object-storage.path",
}

// Locations returns every location that a list of table or view updates carries,
// in their order: what a registry that confines tables to a place has to look at.
// It does not say whether the updates fit a table. Errors are *mounts.Error of
// kind BadRequest, as in Table.
func Locations(updates []json.RawMessage) ([]Named, error) {
	if len(updates) > maxSent {
		return nil, tooMany(0, len(updates))
	}
	var all []Named
	for i, raw := range updates {
		value, err := compact(raw)
		if err != nil {
			return nil, notJSON("updates", err)
		}
		u, f, err := readUpdate(i, value, func(action string) bool { return known(action) || knownOfView(action) })
		if err != nil {
			return nil, err
		}
		found, err := u.locations(f)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

func (u *update) locations(f *updateFields) ([]Named, error) {
	switch u.action {
	case "set-location":
		if f.Location != nil {
			return []Named{{"set-location: location", *f.Location}}, nil
		}
	case "set-properties":
		if updates := f.updates(); updates != nil {
			named := PropertyLocations(*updates)
			for i := range named {
				named[i].Where = "set-properties: " + named[i].Where
			}
			return named, nil
		}
	case "add-snapshot":
		return u.strings(f.Snapshot, "manifest-list", "manifests")
	case "set-statistics":
		return u.strings(f.Statistics, "statistics-path")
	case "set-partition-statistics":
		return u.strings(f.PartitionStat, "statistics-path")
	}
	return nil, nil
}

// strings returns members of an object that are a string or a list of strings.
func (u *update) strings(raw []byte, keys ...string) ([]Named, error) {
	if isNull(raw) {
		return nil, nil
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, notJSON(u.what, err)
	}
	var all []Named
	for _, key := range keys {
		value := o.get(key)
		if isNull(value) {
			continue
		}
		if value[0] == '"' {
			text, err := unquote(value)
			if err != nil {
				return nil, notJSON(u.what, err)
			}
			all = append(all, Named{u.action + ": " + key, text})
			continue
		}
		list, err := elements(value)
		for i, value := range list {
			var text string
			if text, err = unquote(value); err != nil {
				break
			}
			all = append(all, Named{u.action + ": " + key + "[" + strconv.Itoa(i) + "]", text})
		}
		if err != nil {
			return nil, badRequest("%s: %q does not have the type that the REST specification gives it", u.what, key)
		}
	}
	return all, nil
}

// PropertyLocations returns the properties of a table that are locations, in the
// order of their names: for requests that carry properties outside of updates.
func PropertyLocations(properties map[string]string) []Named {
	var all []Named
	for _, key := range locationProperties {
		if location, ok := properties[key]; ok {
			all = append(all, Named{key, location})
		}
	}
	return all
}
