package rest

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// place is a storage location taken apart: what can be compared segment by
// segment.
type place struct {
	scheme, bucket string
	segments       []string
}

var (
	errNoLocation    = errors.New("it is no storage location")
	errCrookedPath   = errors.New("it has an empty segment, a `.` or a `..`, or one of them in disguise")
	errLongLocation  = errors.New("it is too long")
	errBadCharacters = errors.New("it holds control characters")
)

// maxLocation bounds a location in bytes; object keys end at 1024.
const maxLocation = 4 << 10

// readPlace reads a location that is to be compared with others. One that could
// mean two places depending on who reads it is an error.
func readPlace(location string) (place, error) {
	switch {
	case len(location) > maxLocation:
		return place{}, errLongLocation
	case strings.ContainsFunc(location, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }):
		return place{}, errBadCharacters
	}
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		if rest, ok = strings.CutPrefix(location, "file:"); !ok || !strings.HasPrefix(rest, "/") {
			if rest = location; !strings.HasPrefix(location, "/") {
				return place{}, errNoLocation
			}
		}
		scheme = "file"
	}
	p := place{scheme: sameScheme(scheme)}
	var path string
	p.bucket, path, _ = strings.Cut(rest, "/")
	if p.scheme == "" || p.bucket == "" && p.scheme != "file" {
		return place{}, errNoLocation
	}
	if container, host, found := strings.Cut(p.bucket, "@"); found {
		p.bucket = container + "@" + strings.ToLower(host)
	}
	if path = strings.TrimSuffix(path, "/"); path != "" {
		p.segments = strings.Split(path, "/")
	}
	if slices.ContainsFunc(p.segments, crooked) || crooked(p.bucket) && p.scheme != "file" {
		return place{}, errCrookedPath
	}
	return p, nil
}

// crooked reports a segment that some reader of the location walks elsewhere by,
// as one that decodes it first.
func crooked(segment string) bool {
	if segment == "" || segment == "." || segment == ".." {
		return true
	}
	if !strings.Contains(segment, "%") {
		return false
	}
	decoded, err := url.PathUnescape(segment)
	if err != nil || decoded == segment {
		return false
	}
	for part := range strings.SplitSeq(decoded, "/") {
		if part == "" || part == "." || part == ".." {
			return true
		}
	}
	return false
}

// sameScheme gives the spellings of one store one name.
func sameScheme(scheme string) string {
	switch scheme = strings.ToLower(scheme); scheme {
	case "s3a", "s3n":
		return "s3"
	case "abfs":
		return "abfss"
	case "wasb":
		return "wasbs"
	case "gcs":
		return "gs"
	}
	return scheme
}

// holds reports whether other lies in p or is p.
func (p place) holds(other place) bool {
	return p.scheme == other.scheme && p.bucket == other.bucket &&
		len(other.segments) >= len(p.segments) && slices.Equal(p.segments, other.segments[:len(p.segments)])
}

// readPlaces reads the mount's allowed locations.
func readPlaces(locations []string) ([]place, error) {
	var out []place
	for _, location := range locations {
		p, err := readPlace(location)
		if err != nil {
			return nil, errors.New("allowed_locations holds " + strings.ToValidUTF8(location, "") + ", which cannot be used: " + err.Error())
		}
		out = append(out, p)
	}
	return out, nil
}

// outside says why a location that the remote names lies outside of the mount's
// allowed locations; nil if it does not, or if the mount sets none.
func (b *Backend) outside(location string) error {
	if len(b.config.AllowedLocations) == 0 {
		return nil
	}
	p, err := readPlace(location)
	if err != nil {
		return err
	}
	for _, allowed := range b.config.allowed {
		if allowed.holds(p) {
			return nil
		}
	}
	return errOutside
}

var errOutside = errors.New("it lies outside of them")

// ours reports a location in a warehouse that another mount of this server
// governs, also where detours in the path hide it.
func (b *Backend) ours(location string) bool {
	if b.config.Ours == nil || location == "" {
		return false
	}
	return b.config.Ours(location) || b.config.Ours(straight(location))
}

// straight walks the detours of a location's path.
func straight(location string) string {
	scheme, rest, ok := strings.Cut(location, "://")
	if !ok {
		return location
	}
	if decoded, err := url.PathUnescape(rest); err == nil {
		rest = decoded
	}
	bucket, path, _ := strings.Cut(rest, "/")
	var kept []string
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "", ".":
		case "..":
			if len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
		default:
			kept = append(kept, segment)
		}
	}
	return sameScheme(scheme) + "://" + strings.Join(append([]string{bucket}, kept...), "/")
}
