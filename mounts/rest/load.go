package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// loaded is the part of a LoadTableResult or LoadViewResult that is passed on.
type loaded struct {
	location string
	metadata json.RawMessage
	config   map[string]string
	extra    map[string]json.RawMessage
}

// maxExtra bounds the members of an answer that nobody here knows.
const maxExtra = 64

// readLoaded finds the parts of a load's answer. The metadata stays the bytes it
// came as.
func readLoaded(body []byte) (*loaded, error) {
	l := &loaded{}
	err := members(body, func(name string, value jsontext.Value) error {
		switch name {
		case "metadata-location":
			l.location, _ = stringValue(value)
		case "metadata":
			if value.Kind() != '{' {
				return fmt.Errorf("%s: %w", name, errWrongType)
			}
			l.metadata = json.RawMessage(value)
		case "config":
			config, err := stringMap(value)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			l.config = storageHints(config)
		case "storage-credentials", "remote-signing-config":
			// Withheld: they are rights to the storage.
		default:
			if len(l.extra) == maxExtra {
				return errors.New("too many members")
			}
			if l.extra == nil {
				l.extra = map[string]json.RawMessage{}
			}
			l.extra[name] = json.RawMessage(value)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case l.metadata == nil:
		return nil, errors.New("the metadata is missing")
	case l.location == "":
		return nil, errors.New("the metadata-location is missing or no string")
	}
	return l, nil
}

// entityTag is the answer's ETag, empty for one that cannot be sent on.
func entityTag(h http.Header) string {
	if tag := h.Get("ETag"); headerValue(tag) {
		return tag
	}
	return ""
}
