package warehouse

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxSegment bounds a path segment that is made of a name; file systems allow
// 255 bytes, and the name of a table gets a suffix.
const maxSegment = 64

// Segment makes a path segment of a namespace level or table name. Names of
// letters, digits, "-", "_" and inner dots stay as they are. Any other is
// shortened, what is unsafe in it becomes "_", and a hash of the name keeps it
// apart from others. A segment never begins with "." or "_", which Hadoop takes
// for hidden.
func Segment(name string) string {
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < maxSegment; i++ {
		if c := name[i]; safe(c) {
			b.WriteByte(c)
		} else if s := b.String(); !strings.HasSuffix(s, "_") {
			b.WriteByte('_')
		}
	}
	if name != "" && b.String() == name && name[0] != '.' && name[0] != '_' && name[len(name)-1] != '.' {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	plain := strings.Trim(b.String(), "._")
	if plain == "" {
		plain = "n"
	}
	return plain + "-" + hex.EncodeToString(sum[:6])
}

func safe(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}
