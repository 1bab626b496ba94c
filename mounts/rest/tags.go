package rest

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

// rewriting is the version of what this package does to the answers that tags
// are for. It changes whenever the same answer of a remote would become another
// one here.
const rewriting = 1

// tags makes the remote's entity tags ours: an answer here is not the remote's,
// and changes with the rules and with the mount. A tag that does not come from
// here, or that comes from under other rules, is never asked the remote about.
type tags string

// newTags is the mark of a mount as it is configured.
func newTags(c Config) tags {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\n%q\n%q\n%v\n%q\n%+v\n%q", rewriting, c.URL, c.Warehouse, c.Withhold, c.AllowedLocations, c.Profile, c.Headers))
	return tags(strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5])) + ".")
}

// of is the mark of a call's answer. A load of the referenced snapshots only has
// a mark of its own: remotes that make their tags of the metadata's location
// (Polaris) give both kinds of load the same, and "not modified" would leave a
// client with too few snapshots.
func (t tags) of(c call) tags {
	if !c.refs {
		return t
	}
	return tags(strings.TrimSuffix(string(t), ".") + "r.")
}

// bare marks a tag that the remote sent without quotes, as some do, and is asked
// with again so.
const bare = "u!"

// seal makes a tag of the remote's one of ours; empty for what is no tag.
func (t tags) seal(tag string) string {
	weak, opaque, ok := cutTag(tag)
	if !ok {
		if tag == "" || strings.ContainsAny(tag, "\" ,") {
			return ""
		}
		opaque = bare + tag
	}
	return weak + `"` + string(t) + opaque + `"`
}

// open is what is the remote's of the tags that a client has; empty if none is.
func (t tags) open(ifNoneMatch string) string {
	if !strings.Contains(ifNoneMatch, string(t)) {
		return ""
	}
	var kept []string
	for _, tag := range splitTags(ifNoneMatch) {
		weak, opaque, ok := cutTag(tag)
		remote, is := strings.CutPrefix(opaque, string(t))
		if !ok || !is {
			continue
		}
		if unquoted, is := strings.CutPrefix(remote, bare); is {
			kept = append(kept, unquoted)
		} else {
			kept = append(kept, weak+`"`+remote+`"`)
		}
	}
	return strings.Join(kept, ", ")
}
