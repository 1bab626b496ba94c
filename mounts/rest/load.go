package rest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// loaded is what stands in a LoadTableResult, a LoadViewResult or a
// CommitTableResponse, apart from what is dropped. It depends on the body alone
// and is never changed.
type loaded struct {
	location string
	metadata json.RawMessage
	// config holds the storage hints.
	config map[string]string
	extra  map[string]json.RawMessage

	// What gives access to storage, as it came: it leaves only through grant.
	said        map[string]string // config, with everything in it
	credentials jsontext.Value    // storage-credentials
	signing     jsontext.Value    // remote-signing-config
}

// maxExtra bounds the members of an answer that nobody here knows.
const maxExtra = 64

var (
	errNoMetadata = errors.New("the metadata is missing")
	errNoPointer  = errors.New("the metadata-location is missing or no string")
)

// readLoaded finds the parts of an answer. The metadata stays the bytes it came
// as.
func readLoaded(body []byte) (*loaded, error) {
	l, err := readKnowing(body, nil)
	if err == nil && l.location == "" {
		err = errNoPointer
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// readKnowing is readLoaded for a table that may be staged and have no location,
// and whose metadata may be known already (see knowing).
func readKnowing(body, known []byte) (*loaded, error) {
	l := &loaded{}
	err := knowing(body, known, func(name string, value jsontext.Value) error {
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
			l.said, l.config = config, storageHints(config)
		case "storage-credentials":
			l.credentials = value
		case "remote-signing-config":
			l.signing = value
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
		return nil, errNoMetadata
	}
	return l, nil
}

// tableLocation is the location in the metadata; empty if it has none. One that
// stands there twice could be read as either, and is an error.
func (l *loaded) tableLocation() (string, error) {
	var location string
	found := false
	err := eachMember(l.metadata, func(name string, value jsontext.Value) error {
		if name != "location" {
			return nil
		}
		if found {
			return errors.New("the metadata has two locations")
		}
		found = true
		location, _ = stringValue(value)
		return nil
	})
	return location, err
}

// readTable makes the answer to a load, a create or a register a table, with the
// access to storage that the call asked for.
func (b *Backend) readTable(c call, a *answer) (*mounts.Table, error) {
	var known json.RawMessage
	if c.op == capabilities.LoadTable {
		known = b.memo.recall(c.url)
	}
	l, err := readKnowing(a.body, known)
	if err == nil && l.location == "" && !c.staged {
		err = errNoPointer
	}
	if err != nil {
		return nil, broken(c, err)
	}
	l.detach(len(a.body))
	if c.op == capabilities.LoadTable && !same(l.metadata, known) {
		b.memo.remember(c.url, l.metadata, l.secret())
	}
	t, err := b.grant(c, l)
	if err != nil {
		return nil, err
	}
	t.ETag = b.tags.of(c).seal(marked(entityTag(a.header), c.delegation, len(t.StorageCredentials) > 0 || t.Signing != nil))
	return t, nil
}

// detach copies what is passed on out of a body most of which is something else,
// so that whoever keeps the metadata does not keep that too.
func (l *loaded) detach(body int) {
	passed := len(l.metadata)
	for _, value := range l.extra {
		passed += len(value)
	}
	if passed >= body/2 {
		return
	}
	l.metadata = bytes.Clone(l.metadata)
	for name, value := range l.extra {
		l.extra[name] = bytes.Clone(value)
	}
}

// entityTag is the answer's ETag, empty for one that cannot be sent on.
func entityTag(h http.Header) string {
	if tag := h.Get("ETag"); headerValue(tag) {
		return tag
	}
	return ""
}

// eachMember visits the members of a JSON object, each as often as it stands
// there.
func eachMember(object []byte, visit func(name string, value jsontext.Value) error) error {
	dec := decoder(object)
	if open, err := dec.ReadToken(); err != nil || open.Kind() != '{' {
		return errWrongType
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if err := visit(name, value); err != nil {
			return err
		}
	}
	return nil
}

// secret reports an answer that holds access to storage: nobody may remember it.
func (l *loaded) secret() bool {
	if len(l.credentials) > 0 || len(l.signing) > 0 {
		return true
	}
	for name := range l.said {
		if _, access := knownAccessKey(name); access {
			return true
		}
	}
	return false
}
