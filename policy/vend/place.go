package vend

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// place is a location in an object store, free of everything that readers could
// understand differently.
type place struct {
	// scheme is "s3", "gs" or "abfss"; bucket the bucket, or container@host of an
	// Azure account in its dfs spelling.
	scheme, bucket string
	segments       []string
}

// maxLocation bounds a location in bytes; keys of objects end at 1024.
const maxLocation = 2048

var schemes = map[string]string{ // read only
	"s3": "s3", "s3a": "s3", "s3n": "s3",
	"gs": "gs", "gcs": "gs",
	"abfss": "abfss", "abfs": "abfss", "wasb": "abfss", "wasbs": "abfss",
}

var (
	errNotStore = errors.New("it is no location in S3, Google Cloud Storage or Azure")
	errCrooked  = errors.New("it could mean different places to different readers")
)

// readPlace reads a location. One that some reader could decode or resolve into
// another is an error, as native/warehouse has it.
func readPlace(location string) (place, error) {
	scheme, rest, ok := strings.Cut(location, "://")
	p := place{scheme: schemes[scheme]}
	switch {
	case !ok || p.scheme == "":
		return place{}, errNotStore
	case len(location) > maxLocation, !utf8.ValidString(location), strings.ContainsAny(location, `\?#`),
		strings.ContainsFunc(location, unicode.IsControl):
		return place{}, errCrooked
	}
	bucket, path, _ := strings.Cut(rest, "/")
	if p.bucket, ok = readBucket(p.scheme, bucket); !ok {
		return place{}, errNotStore
	}
	if path = strings.TrimRight(path, "/"); path == "" {
		return p, nil
	}
	p.segments = strings.Split(path, "/")
	if slices.ContainsFunc(p.segments, crooked) {
		return place{}, errCrooked
	}
	return p, nil
}

// crooked reports a segment that somebody walks elsewhere by, maybe after
// decoding it.
func crooked(segment string) bool {
	switch segment {
	case "", ".", "..":
		return true
	}
	for i := range len(segment) {
		if segment[i] != '%' || i+3 > len(segment) {
			continue
		}
		decoded, err := url.PathUnescape(segment[i : i+3])
		if err == nil && (decoded < " " || strings.Contains("./\\%?#\x7f", decoded)) {
			return true
		}
	}
	return false
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyz"
	upper   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// madeOf reports whether a text is not empty and holds nothing but these.
func madeOf(text, characters string) bool { return text != "" && strings.Trim(text, characters) == "" }

// readBucket checks what stands between the scheme and the path. Nothing that
// means something in a policy is in a bucket's name.
func readBucket(scheme, text string) (string, bool) {
	switch scheme {
	case "s3":
		return text, madeOf(text, letters+upper+digits+"-._")
	case "gs":
		return text, madeOf(text, letters+digits+"-._")
	}
	container, host, _ := strings.Cut(text, "@")
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if !madeOf(label, letters+digits+"-") {
			return "", false
		}
	}
	if len(labels) < 3 || labels[1] != "dfs" && labels[1] != "blob" || !madeOf(labels[0], letters+digits) ||
		!madeOf(container, letters+digits+"-") {
		return "", false
	}
	labels[1] = "dfs" // both lead to the same files
	return container + "@" + strings.Join(labels, "."), true
}

// encloses reports whether other lies in p and is not p itself.
func (p place) encloses(other place) bool {
	return p.scheme == other.scheme && p.bucket == other.bucket && len(other.segments) > len(p.segments) &&
		slices.Equal(p.segments, other.segments[:len(p.segments)])
}

// key is the path without slashes around it: what the keys of its objects begin
// with, before a slash.
func (p place) key() string { return strings.Join(p.segments, "/") }

// folder reads a location that a provider is to give access below: one of its
// scheme, and not a whole bucket.
func folder(location, scheme string) (place, error) {
	p, err := readPlace(location)
	switch {
	case err != nil:
		return place{}, err
	case p.scheme != scheme:
		return place{}, errNotStore
	case len(p.segments) == 0:
		return place{}, errors.New("it is a whole bucket")
	}
	return p, nil
}

// covers is Provider.Covers for all locations of a scheme.
func covers(location, scheme string) bool {
	p, err := readPlace(location)
	return err == nil && p.scheme == scheme
}
