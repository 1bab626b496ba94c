package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

const upperHex = "0123456789ABCDEF"

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// segment encodes one path segment or query value: every byte that is not
// unreserved (RFC 3986, 2.3), so that a server that reads "+" as a blank and
// one that does not see the same name. A segment that would be taken for a step
// in the path has its dots encoded.
func segment(s string) string {
	if s == "." || s == ".." {
		return strings.ReplaceAll(s, ".", "%2E")
	}
	return escape(s, unreserved)
}

func escape(s string, keep func(byte) bool) string {
	n := 0
	for i := range len(s) {
		if !keep(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		if c := s[i]; keep(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

// raw encodes only what cannot stand in a URL's path (RFC 3986, pchar and "/")
// and leaves percent-encoding that is there already.
func raw(s string) string {
	return escape(s, func(c byte) bool { return unreserved(c) || strings.IndexByte("/%!$&'()*+,;=:@", c) >= 0 })
}

// address is where the remote's catalog is and how it spells names. It is
// immutable.
type address struct {
	// base is the URL in front of "/v1", root the one up to and with the prefix,
	// without a slash at the end.
	base, root string
	// separator stands between levels in a path, between as decoded in a query.
	separator, between string
}

// namespace encodes a namespace as one path segment.
func (a *address) namespace(n mounts.Namespace, c call) (string, error) {
	if err := a.check(n, c); err != nil {
		return "", err
	}
	if len(n) == 1 {
		return segment(n[0]), nil
	}
	levels := make([]string, len(n))
	for i, level := range n {
		levels[i] = escape(level, unreserved)
	}
	return strings.Join(levels, a.separator), nil
}

// parent encodes a namespace as the value of the parent parameter.
func (a *address) parent(n mounts.Namespace, c call) (string, error) {
	if err := a.check(n, c); err != nil {
		return "", err
	}
	return escape(strings.Join(n, a.between), unreserved), nil
}

// check refuses names that the remote would take for others.
func (a *address) check(n mounts.Namespace, c call) error {
	refuse := func(msg string) error {
		return &mounts.Error{Kind: mounts.BadRequest, Op: c.op, Ident: c.object, Msg: msg}
	}
	for _, level := range n {
		if level == "" || strings.ContainsRune(level, 0x1f) {
			return refuse("a namespace level cannot be empty or hold the character 0x1F")
		}
	}
	if !slices.Equal(strings.Split(strings.Join(n, a.between), a.between), n) {
		return refuse(fmt.Sprintf("{object} cannot be addressed in the remote catalog, "+
			"which separates namespace levels by %q: no level may hold that", a.between))
	}
	return nil
}

// namespaces is the URL of the namespace collection.
func (a *address) namespaces() string { return a.root + "/namespaces" }

// within is the URL of something in a namespace.
func (a *address) within(n mounts.Namespace, c call, words ...string) (string, error) {
	encoded, err := a.namespace(n, c)
	if err != nil {
		return "", err
	}
	return a.namespaces() + "/" + encoded + strings.Join(append([]string{""}, words...), "/"), nil
}

// object is the URL of a table ("tables") or view ("views").
func (a *address) object(id mounts.Identifier, collection string, c call) (string, error) {
	return a.within(id.Namespace, c, collection, segment(id.Name))
}

// newAddress builds the address from the merged settings of a remote.
func newAddress(base, prefix, separator string) (*address, error) {
	a := &address{base: base, root: base + "/v1"}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		if err := checkPrefix(prefix); err != nil {
			return nil, err
		}
		a.root += "/" + raw(prefix)
	}
	if separator == "" {
		separator = "%1F"
	}
	decoded, err := url.PathUnescape(separator)
	if err != nil || len(separator) > 32 {
		return nil, fmt.Errorf("its namespace-separator %.32q cannot be used", separator)
	}
	a.separator, a.between = strings.ReplaceAll(raw(separator), "/", "%2F"), decoded
	return a, nil
}

func checkPrefix(prefix string) error {
	for _, word := range strings.Split(prefix, "/") {
		decoded, err := url.PathUnescape(word)
		if err != nil || decoded == "." || decoded == ".." || decoded == "" || len(prefix) > 2<<10 {
			return fmt.Errorf("its prefix %.100q cannot stand in a path", prefix)
		}
	}
	return nil
}

// forwarded are the operations that this backend has methods for.
func forwarded() capabilities.Set {
	return capabilities.Of(capabilities.ListNamespaces, capabilities.LoadNamespace, capabilities.NamespaceExists,
		capabilities.ListTables, capabilities.LoadTable, capabilities.TableExists,
		capabilities.ListViews, capabilities.LoadView, capabilities.ViewExists)
}
