package warehouse

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLocation bounds a location in bytes; an S3 key has at most 1024.
const maxLocation = 2048

// Location is a place in storage, free of everything that readers understand
// differently. The zero Location is none.
type Location struct {
	// prefix is scheme and authority as they were written, up to the path's
	// slash: "file://", "file:", "s3a://bucket".
	prefix string
	// scheme is "file", "s3", "gs" or "abfss", authority the bucket, or container
	// and host of an Azure account, in the one spelling they are compared by.
	scheme, authority string
	segments          []string
}

// BadLocation says why a text is not a location that may be used.
type BadLocation struct {
	Text string
	// Problem completes the sentence "the location …".
	Problem string
}

// Error implements error; the text may be shown to a client.
func (e *BadLocation) Error() string {
	text := e.Text
	if len(text) > 256 {
		text = text[:256] + "…"
	}
	return fmt.Sprintf("the location %q %s", text, e.Problem)
}

// Parse reads a location: file:///path, file:/path or an absolute path, which
// becomes file:///path; s3://, s3a:// or s3n://bucket/key; gs://bucket/key;
// abfss://container@account.dfs.core.windows.net/key, and abfs, wasb and wasbs
// likewise. Trailing slashes are dropped, the rest stays as it is written. The
// error is a *BadLocation.
func Parse(text string) (Location, error) {
	if problem := suspicious(text); problem != "" {
		return Location{}, &BadLocation{text, problem}
	}
	return parse(text)
}

func parse(text string) (Location, error) {
	bad := func(problem string) (Location, error) { return Location{}, &BadLocation{text, problem} }
	var l Location
	var path string
	scheme, rest, isURI := strings.Cut(text, ":")
	switch {
	case strings.HasPrefix(text, "/"):
		l, path = Location{prefix: "file://", scheme: "file"}, text
	case !isURI || strings.Contains(scheme, "/"):
		return bad("is relative; give it a scheme and an absolute path")
	case scheme == "file":
		l, path = Location{prefix: "file:", scheme: "file"}, rest
		if host, isHierarchical := strings.CutPrefix(rest, "//"); isHierarchical {
			// Not even localhost: PyIceberg takes it for the first folder of a
			// relative path, Hadoop for another file system.
			if !strings.HasPrefix(host, "/") {
				return bad("names a host; a file location has none, as in file:///path")
			}
			l.prefix, path = "file://", host
		}
	case objectSchemes[scheme] != nil:
		rest, isHierarchical := strings.CutPrefix(rest, "//")
		written, _, _ := strings.Cut(rest, "/")
		kind := objectSchemes[scheme]
		authority, ok := kind.authority(written)
		if !isHierarchical || !ok {
			return bad("names no " + kind.needs)
		}
		l, path = Location{prefix: scheme + "://" + written, scheme: kind.scheme, authority: authority}, rest[len(written):]
	default:
		return bad("has a scheme that is not supported here; use file, s3, gs or abfss")
	}
	if l.scheme == "file" && !strings.HasPrefix(path, "/") {
		return bad("is relative; give it an absolute path")
	}
	path = strings.TrimPrefix(strings.TrimRight(path, "/"), "/")
	if path == "" {
		return l, nil
	}
	l.segments = strings.Split(path, "/")
	for _, segment := range l.segments {
		switch segment {
		case "":
			return bad("has an empty path segment")
		case ".", "..":
			return bad(fmt.Sprintf("has the path segment %q", segment))
		}
		if l.scheme == "abfss" && strings.HasSuffix(segment, ".") {
			return bad("has a path segment that ends in a dot, which Azure drops")
		}
	}
	return l, nil
}

// suspicious says what in a text could lead two readers to two places, or "".
func suspicious(text string) string {
	switch {
	case text == "":
		return "is empty"
	case len(text) > maxLocation:
		return fmt.Sprintf("is longer than %d bytes", maxLocation)
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case strings.ContainsAny(text, `\?#`):
		return `holds one of \ ? #, which readers understand differently`
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return "holds a control character"
	}
	for i := range len(text) {
		if text[i] != '%' || i+2 >= len(text) {
			continue
		}
		high, ok1 := hexDigit(text[i+1])
		low, ok2 := hexDigit(text[i+2])
		if c := high<<4 | low; ok1 && ok2 && (c < 0x20 || c == 0x7f || strings.IndexByte(`./\%?#`, c) >= 0) {
			return fmt.Sprintf("holds %s, which some readers decode", text[i:i+3])
		}
	}
	return ""
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// String is the location as it was written, without trailing slashes; a plain
// path as file:///path.
func (l Location) String() string {
	if len(l.segments) == 0 {
		return l.prefix + "/"
	}
	return l.prefix + "/" + l.path()
}

// path is the path without its leading slash: an object key.
func (l Location) path() string { return strings.Join(l.segments, "/") }

// canonical gives the location the spelling of its scheme that every reader
// knows: file:///path, s3://bucket/key, gs://bucket/key and
// abfss://container@account.dfs.core.windows.net/key.
func (l Location) canonical() Location {
	l.prefix = l.scheme + "://" + l.authority
	return l
}

// Within reports whether l is parent or lies inside it.
func (l Location) Within(parent Location) bool {
	return l.scheme == parent.scheme && l.authority == parent.authority && len(l.segments) >= len(parent.segments) &&
		slices.Equal(l.segments[:len(parent.segments)], parent.segments)
}

// Join appends path segments, which must be plain (see Segment).
func (l Location) Join(segments ...string) Location {
	l.segments = append(slices.Clip(slices.Clone(l.segments)), segments...)
	return l
}

// Parent is the enclosing folder, and Base the last segment.
func (l Location) Parent() Location {
	if n := len(l.segments); n > 0 {
		l.segments = l.segments[: n-1 : n-1]
	}
	return l
}

// Base is the last segment; empty for a root.
func (l Location) Base() string {
	if len(l.segments) == 0 {
		return ""
	}
	return l.segments[len(l.segments)-1]
}
