package router

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// maxPage is the largest page that is asked of a backend; a client that wants
// larger ones gets these.
const maxPage = 1000

// values are the query's parameters. A pair that cannot be decoded is left out:
// unknown and odd parameters never fail a request.
func (x *exchange) values() url.Values {
	if x.r.URL.RawQuery == "" {
		return nil
	}
	return x.r.URL.Query()
}

// paging is what a listing request says about pages.
type paging struct {
	// one is set when the client goes page by page: pageToken is present, be it
	// empty. Without it everything belongs into one answer (rule R11).
	one   bool
	token string
	size  int // 0 where the client does not say
}

func readPaging(q url.Values) (paging, error) {
	p := paging{one: q.Has("pageToken"), token: q.Get("pageToken")}
	if !q.Has("pageSize") {
		return p, nil
	}
	text := q.Get("pageSize")
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return p, badField("the parameter pageSize", fmt.Sprintf("must be a whole number from 1 on, not %q", clip(text)))
	}
	p.size = int(min(n, maxPage))
	return p, nil
}

func readSnapshots(q url.Values) (mounts.Snapshots, error) {
	if !q.Has("snapshots") {
		return "", nil
	}
	switch mode := mounts.Snapshots(q.Get("snapshots")); mode {
	case mounts.SnapshotsAll, mounts.SnapshotsRefs:
		return mode, nil
	default:
		return "", badField("the parameter snapshots", fmt.Sprintf("must be all or refs, not %q", clip(string(mode))))
	}
}

// readPurge takes every spelling of a truth value that clients use (rule R26).
func readPurge(q url.Values) (bool, error) {
	text := q.Get("purgeRequested")
	if text == "" {
		return false, nil
	}
	purge, err := strconv.ParseBool(text)
	if err != nil {
		return false, badField("the parameter purgeRequested", fmt.Sprintf("must be true or false, not %q", clip(text)))
	}
	return purge, nil
}

// readParent is the namespace whose children are listed; the root if absent or
// empty.
func readParent(text string) (mounts.Namespace, error) {
	if text == "" {
		return nil, nil
	}
	parent := splitLevels(text)
	if flaw := namespaceFlaw(parent); flaw != "" {
		return nil, &mounts.Error{Kind: mounts.NoSuchNamespace, Ident: clipIdentifier(mounts.Identifier{Namespace: parent})}
	}
	return parent, nil
}

// decodeParent undoes the second encoding of a client that encodes the levels of
// `parent` before its HTTP library encodes the whole (PyIceberg). It reports
// false where there is nothing to undo.
func decodeParent(text string) (string, bool) {
	decoded, err := url.PathUnescape(text)
	return decoded, err == nil && decoded != text
}

// maxViews bounds the chain of views that a table may be reached through.
const maxViews = 64

// readReferencedBy reads the chain of views, outermost first, from the raw
// query: names are separated by literal commas, so that an encoded one is part
// of a name; in each, the last separator divides namespace and name. A client
// whose URL builder encodes the commas too has none that are literal, and is
// understood where the whole splits into valid names. A value that makes no
// sense is ignored: the parameter only adds to what a policy may know.
func readReferencedBy(rawQuery string) []mounts.Identifier {
	var raw string
	for pair := range strings.SplitSeq(rawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key == "referenced-by" {
			raw = value
			break
		}
	}
	if raw == "" {
		return nil
	}
	if strings.IndexByte(raw, ',') < 0 {
		decoded, err := url.QueryUnescape(raw)
		if err != nil {
			return nil
		}
		if strings.IndexByte(decoded, ',') >= 0 {
			if chain := viewChain(strings.SplitN(decoded, ",", maxViews+1)); chain != nil {
				return chain
			}
		}
		return viewChain([]string{decoded})
	}
	parts := strings.SplitN(raw, ",", maxViews+1)
	for i, part := range parts {
		decoded, err := url.QueryUnescape(part)
		if err != nil {
			return nil
		}
		parts[i] = decoded
	}
	return viewChain(parts)
}

func viewChain(parts []string) []mounts.Identifier {
	if len(parts) > maxViews {
		return nil
	}
	chain := make([]mounts.Identifier, 0, len(parts))
	for _, part := range parts {
		levels := splitLevels(part)
		if len(levels) < 2 {
			return nil
		}
		id := mounts.Identifier{Namespace: levels[:len(levels)-1], Name: levels[len(levels)-1]}
		if namespaceFlaw(id.Namespace) != "" || nameFlaw(id.Name) != "" {
			return nil
		}
		chain = append(chain, id)
	}
	return chain
}
