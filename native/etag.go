package native

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// tagger makes entity tags. A tag stands for one representation of one value of
// a table's pointer: the mode it was loaded in, and the storage hints that go
// with it, which an operator may change. The table and its generation count
// because a file that is registered again may be another one of the same name.
type tagger struct{ hints string }

func newTagger(hints map[string]string) tagger {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(hints)) {
		b.WriteString(key + "\x00" + hints[key] + "\x00")
	}
	return tagger{b.String()}
}

func (t tagger) tag(table store.Object, mode mounts.Snapshots) string {
	text := make([]byte, 0, 512)
	text = append(append(append(text, mode...), 0), table.ID[:]...)
	text = binary.BigEndian.AppendUint64(text, table.Generation)
	text = append(append(append(text, table.Location...), 0), t.hints...)
	sum := sha256.Sum256(text)
	var quoted [34]byte
	quoted[0], quoted[33] = '"', '"'
	hex.Encode(quoted[1:33], sum[:16])
	return string(quoted[:])
}

// matches reports whether an If-None-Match holds the tag or "*". The comparison
// is weak (RFC 9110, 13.1.2), and a malformed list ends at its fault.
func matches(ifNoneMatch, tag string) bool {
	rest := ifNoneMatch
	for {
		rest = strings.TrimLeft(rest, " \t,")
		if rest == "" {
			return false
		}
		if rest[0] == '*' {
			return strings.Trim(rest[1:], " \t") == ""
		}
		rest = strings.TrimPrefix(rest, "W/")
		if rest == "" || rest[0] != '"' {
			return false
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			return false
		}
		if rest[:end+2] == tag {
			return true
		}
		rest = rest[end+2:]
	}
}
