package rest

import "strings"

// Entity tags and access to storage. A client that is told "not modified" goes
// on with the credentials that it has, and these end while the table stays as it
// is; nor may a client without credentials be told so when it asks for some. So
// the tag of an answer to somebody who asked for access says what came of it,
// and only a tag of the same kind is asked the remote about: never one that
// came with access.
const (
	tagGranted = "g!" // access was granted with it
	tagNone    = "n!" // access was asked for, and there was none
)

// marked is the remote's tag as the client gets it.
func marked(tag, delegation string, granted bool) string {
	weak, opaque, ok := cutTag(tag)
	switch {
	case delegation == "" || tag == "":
		return tag
	case !ok:
		return ""
	case granted:
		return weak + `"` + tagGranted + opaque + `"`
	}
	return weak + `"` + tagNone + opaque + `"`
}

// conditional is what the remote is asked with of the tags that a client has.
func conditional(ifNoneMatch, delegation string) string {
	if delegation == "" && !strings.Contains(ifNoneMatch, `"`+tagGranted) && !strings.Contains(ifNoneMatch, `"`+tagNone) {
		return ifNoneMatch
	}
	var kept []string
	for _, tag := range splitTags(ifNoneMatch) {
		weak, opaque, ok := cutTag(tag)
		none, isNone := strings.CutPrefix(opaque, tagNone)
		switch {
		case !ok:
		case delegation != "" && isNone:
			kept = append(kept, weak+`"`+none+`"`)
		case delegation == "" && !isNone && !strings.HasPrefix(opaque, tagGranted):
			kept = append(kept, tag)
		}
	}
	return strings.Join(kept, ", ")
}

// cutTag takes an entity tag apart (RFC 9110, section 8.8.3).
func cutTag(tag string) (weak, opaque string, ok bool) {
	rest := tag
	if strings.HasPrefix(rest, "W/") {
		weak, rest = "W/", rest[2:]
	}
	if len(rest) < 2 || rest[0] != '"' || rest[len(rest)-1] != '"' || strings.Contains(rest[1:len(rest)-1], `"`) {
		return "", "", false
	}
	return weak, rest[1 : len(rest)-1], true
}

// splitTags splits a list of tags, which may hold commas themselves.
func splitTags(list string) []string {
	var tags []string
	for list != "" {
		list = strings.TrimLeft(list, " \t,")
		open := strings.IndexByte(list, '"')
		if open < 0 {
			break
		}
		length := strings.IndexByte(list[open+1:], '"')
		if length < 0 {
			break
		}
		end := open + 1 + length + 1
		tags, list = append(tags, list[:end]), list[end:]
	}
	return tags
}
