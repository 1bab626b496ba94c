package remote

import "strings"

// dressTag writes a tag as this remote does; plainTag reads what came back.
func (q Quirks) dressTag(tag string) string {
	switch {
	case q.WeakETag && !strings.HasPrefix(tag, "W/"):
		return "W/" + tag
	case q.RawETag:
		return strings.Trim(tag, `"`)
	}
	return tag
}

func (q Quirks) plainTag(tag string) string {
	switch {
	case q.WeakETag:
		return strings.TrimPrefix(tag, "W/")
	case q.RawETag:
		return `"` + strings.Trim(tag, `"`) + `"`
	}
	return tag
}
