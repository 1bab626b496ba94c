package vend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// version identifies one metadata document: a strong tag of the registry says
// which generation of which table it is, also where a file of the same name was
// written anew.
type version struct{ etag, metadata string }

// lies is where a table lies.
type lies struct {
	// location is as the metadata has it, without trailing slashes.
	location string
	// covered: credentials are given for it.
	covered bool
}

// locate finds out where a table lies, and whether credentials are given for
// that. It remembers it where the answer says by a tag what it is of.
func (v *vendor) locate(t *mounts.Table) (lies, error) {
	of := version{t.ETag, t.MetadataLocation}
	known := of.etag != "" && of.metadata != "" && !strings.HasPrefix(of.etag, "W/")
	if known {
		if at, ok := v.where.Get(of); ok {
			return at, nil
		}
	}
	location, err := readLocation(t.Metadata)
	if err != nil {
		return lies{}, err
	}
	at := lies{location: strings.TrimRight(location, "/")}
	at.covered = v.covers(at.location) && vouched(t.MetadataLocation, at.location)
	if known {
		v.where.Add(of, at)
	}
	return at, nil
}

// vouched reports whether the registry's pointer says too that a table lies there:
// that it leads into the folder metadata of the location. The metadata says so by
// itself, but it is a file that whoever has a key to write the table's data can
// write anew. A table that is staged has no pointer, nor such a file.
func vouched(pointer, location string) bool {
	if pointer == "" {
		return true
	}
	usual, ok := above(pointer)
	if !ok {
		return false
	}
	said, err := readPlace(location)
	if err != nil {
		return false
	}
	known, err := readPlace(usual)
	return err == nil && known.scheme == said.scheme && known.bucket == said.bucket && slices.Equal(known.segments, said.segments)
}

// covers reports whether credentials are given for a location: it lies inside
// the warehouse, which itself is no table's, and the provider serves it.
func (v *vendor) covers(location string) bool {
	if !v.confines {
		return false
	}
	p, err := readPlace(location)
	return err == nil && v.root.encloses(p) && v.opt.Provider.Covers(location)
}

// readLocation finds the location in a table's metadata by its top-level names;
// no value but that is read. Two of them are an error: what one reader confined
// another would open.
func readLocation(metadata []byte) (location string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(metadata), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return "", errors.Join(errors.New("the metadata is no JSON object"), err)
	}
	found := false
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return "", fmt.Errorf("the metadata cannot be read: %w", err)
		}
		if !strings.EqualFold(name.String(), "location") {
			if err := d.SkipValue(); err != nil {
				return "", fmt.Errorf("the metadata cannot be read: %w", err)
			}
			continue
		}
		exact := name.String() == "location"
		value, err := d.ReadToken()
		switch {
		case err != nil:
			return "", fmt.Errorf("the metadata cannot be read: %w", err)
		case found || !exact || value.Kind() != '"':
			return "", errors.New("the metadata does not say one location")
		}
		location, found = value.String(), true
	}
	if _, err := d.ReadToken(); err != nil {
		return "", fmt.Errorf("the metadata cannot be read: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return "", errors.New("the metadata goes on behind its end")
	}
	if !found {
		return "", errors.New("the metadata has no location")
	}
	return location, nil
}
