package sign

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// version identifies one metadata document: a strong tag says which generation
// of which table it is, also where a file of the same name was written anew.
type version struct{ etag, metadata string }

// locate finds out where a table lies. It is an error if that is not strictly
// inside the warehouse.
func (g *signing) locate(t *mounts.Table) (prefix, error) {
	of := version{t.ETag, t.MetadataLocation}
	known := of.etag != "" && of.metadata != "" && !strings.HasPrefix(of.etag, "W/")
	if known {
		if at, ok := g.where.Get(of); ok {
			return at, nil
		}
	}
	location, err := locationOf(t.Metadata)
	if err != nil {
		return prefix{}, err
	}
	at, err := readLocation(location)
	if err != nil {
		return prefix{}, err
	}
	if at.bucket != g.root.bucket || at.key == "" || g.root.key != "" && !g.root.holds(at.key) {
		return prefix{}, errors.New("sign: the table lies outside of the warehouse")
	}
	if !vouched(t.MetadataLocation, at) {
		return prefix{}, errors.New("sign: the table's metadata file is not in the folder metadata of the location that it names")
	}
	if known {
		g.where.Add(of, at)
	}
	return at, nil
}

// vouched reports whether the registry's pointer says too that a table lies there:
// that it leads into the folder metadata of the location. The metadata says so by
// itself, but it is a file that whoever gets writes of the table signed can write
// anew.
func vouched(pointer string, at prefix) bool {
	end := strings.LastIndexByte(pointer, '/')
	if end < 0 {
		return false
	}
	usual, ok := strings.CutSuffix(pointer[:end], "/metadata")
	if !ok {
		return false
	}
	known, err := readLocation(usual)
	return err == nil && known == at
}

// readLocation reads "s3://bucket/path" in any of its three schemes.
func readLocation(location string) (prefix, error) {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok || scheme != "s3" && scheme != "s3a" && scheme != "s3n" {
		return prefix{}, errors.New("it is no location in S3")
	}
	bucket, key, _ := strings.Cut(rest, "/")
	key = strings.TrimRight(key, "/")
	if bucket == "" || strings.Trim(bucket, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._") != "" {
		return prefix{}, errors.New("it names no bucket")
	}
	if key != "" && checkKey(key) != nil || strings.ContainsAny(key, "?#") {
		return prefix{}, errors.New("it could mean different places to different readers")
	}
	return prefix{bucket, key}, nil
}

// locationOf finds the location in a table's metadata, by its top-level names.
// Two of them are an error: what one reader confined another would open.
func locationOf(metadata []byte) (location string, err error) {
	d := jsontext.NewDecoder(bytes.NewReader(metadata), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if token, err := d.ReadToken(); err != nil || token.Kind() != '{' {
		return "", errors.New("sign: the metadata is no JSON object")
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return "", err
		}
		name := token.String()
		if !strings.EqualFold(name, "location") {
			if err := d.SkipValue(); err != nil {
				return "", err
			}
			continue
		}
		value, err := d.ReadToken()
		if err != nil || value.Kind() != '"' || name != "location" || location != "" {
			return "", errors.New("sign: the metadata does not say one location")
		}
		location = value.String()
	}
	if token, err := d.ReadToken(); err != nil || token.Kind() != '}' || location == "" {
		return "", errors.New("sign: the metadata has no location")
	}
	return location, nil
}
