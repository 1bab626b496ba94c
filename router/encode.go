package router

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// Answers are written by appending to a buffer: metadata goes in as the bytes it
// is, lists and maps are never null, and nothing is escaped that JSON does not
// ask for, so that the SQL of a view arrives as it was stored.

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // invalid UTF-8 becomes U+FFFD; names with it are refused on the way in
	return b
}

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// appendMap writes the keys in order, so that equal maps are equal bytes.
func appendMap(b []byte, m map[string]string) []byte {
	var room [16]string
	keys := room[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, k)
		b = append(b, ':')
		b = appendString(b, m[k])
	}
	return append(b, '}')
}

func appendIdentifier(b []byte, id mounts.Identifier) []byte {
	b = append(b, `{"namespace":`...)
	b = appendStrings(b, id.Namespace)
	b = append(b, `,"name":`...)
	b = appendString(b, id.Name)
	return append(b, '}')
}

func appendCredentials(b []byte, list []mounts.StorageCredential) []byte {
	b = append(b, '[')
	for i, c := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"prefix":`...)
		b = appendString(b, c.Prefix)
		b = append(b, `,"config":`...)
		b = appendMap(b, c.Config)
		b = append(b, '}')
	}
	return append(b, ']')
}

// known are the fields of a load result that are written from their own place.
func known(field string) bool {
	switch field {
	case "metadata-location", "metadata", "config", "storage-credentials":
		return true
	}
	return false
}

func appendExtra(b []byte, extra map[string]json.RawMessage) []byte {
	if len(extra) == 0 {
		return b
	}
	for _, k := range slices.Sorted(maps.Keys(extra)) {
		if known(k) || len(extra[k]) == 0 {
			continue
		}
		b = append(b, ',')
		b = appendString(b, k)
		b = append(b, ':')
		b = append(b, extra[k]...)
	}
	return b
}

// appendHead opens a load result up to where the metadata goes. A staged table
// has no location yet, and then the field is left out: some clients refuse a
// null there, and none misses it.
func appendHead(b []byte, location string) []byte {
	b = append(b, '{')
	if location != "" {
		b = append(b, `"metadata-location":`...)
		b = appendString(b, location)
		b = append(b, ',')
	}
	return append(b, `"metadata":`...)
}

// appendTableTail closes a LoadTableResult behind the metadata.
func appendTableTail(b []byte, t *mounts.Table) []byte {
	b = append(b, `,"config":`...)
	b = appendMap(b, t.Config)
	if len(t.StorageCredentials) > 0 {
		b = append(b, `,"storage-credentials":`...)
		b = appendCredentials(b, t.StorageCredentials)
	}
	return append(appendExtra(b, t.Extra), '}')
}

func appendNamespaceInfo(b []byte, n *mounts.NamespaceInfo) []byte {
	b = append(b, `{"namespace":`...)
	b = appendStrings(b, n.Namespace)
	b = append(b, `,"properties":`...)
	b = appendMap(b, n.Properties)
	return append(b, '}')
}

func appendUpdatedProperties(b []byte, u *mounts.UpdatedProperties) []byte {
	b = append(b, `{"updated":`...)
	b = appendStrings(b, u.Updated)
	b = append(b, `,"removed":`...)
	b = appendStrings(b, u.Removed)
	b = append(b, `,"missing":`...)
	b = appendStrings(b, u.Missing)
	return append(b, '}')
}

func appendError(b []byte, a answer, text string) []byte {
	b = append(b, `{"error":{"message":`...)
	b = appendString(b, text)
	b = append(b, `,"type":`...)
	b = appendString(b, a.name)
	b = append(b, `,"code":`...)
	b = appendInt(b, a.status)
	return append(b, "}}"...)
}
