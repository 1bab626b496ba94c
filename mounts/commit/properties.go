package commit

import (
	"slices"
	"strings"
)

// reserved reports property names that stand for parts of the metadata itself.
// They are never stored; clients that send them mean what other updates do.
func reserved(key string) bool {
	switch key {
	case "format-version", "uuid", "snapshot-count", "current-snapshot-id", "current-snapshot-summary",
		"current-snapshot-timestamp-ms", "current-schema", "default-partition-spec", "default-sort-order":
		return true
	}
	return false
}

// properties decodes the properties once; absent ones are empty.
func (s *state) properties() (*object, error) {
	if s.attached != nil {
		return s.attached, nil
	}
	o := newObject()
	if raw := s.doc.get("properties"); !isNull(raw) {
		var err error
		if o, err = parseObject(raw); err != nil {
			return nil, broken("properties", err)
		}
	}
	s.attached = o
	return o, nil
}

// property reads one property; empty if absent.
func (s *state) property(key string) (string, error) {
	o, err := s.properties()
	if err != nil || !o.has(key) {
		return "", err
	}
	value, err := unquote(o.get(key))
	if err != nil {
		return "", broken("properties", err)
	}
	return value, nil
}

// setProperties sets properties, in the order of their names, but for those
// that leave says.
func (s *state) setProperties(updates map[string]string, leave func(string) bool) error {
	o, err := s.properties()
	if err != nil {
		return err
	}
	keys := make([]string, 0, len(updates))
	for key := range updates {
		if len(key) > maxName {
			return invalid("a property name is over %d bytes: %q", maxName, clip(key))
		}
		if !leave(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if o.has(key) {
			if before, err := unquote(o.get(key)); err == nil && before == updates[key] {
				continue
			}
		}
		o.set(key, quote(updates[key]))
		s.changed, s.tagged = true, true
	}
	return nil
}

// removeProperties removes properties; missing ones are no error.
func (s *state) removeProperties(keys []string) error {
	o, err := s.properties()
	if err != nil {
		return err
	}
	for _, key := range keys {
		if o.remove(key) {
			s.changed, s.tagged = true, true
		}
	}
	return nil
}

// setLocation moves the base location.
func (s *state) setLocation(location string) error {
	location = trimSlash(location)
	if location == "" {
		return invalid("the location of {object} cannot be empty")
	}
	before, err := s.text("location")
	if err != nil {
		return err
	}
	if before != location {
		s.doc.set("location", quote(location))
		s.changed = true
	}
	return nil
}

// trimSlash takes trailing slashes off, but for those of a bare scheme.
func trimSlash(location string) string {
	for strings.HasSuffix(location, "/") && !strings.HasSuffix(location, "://") {
		location = location[:len(location)-1]
	}
	return location
}
