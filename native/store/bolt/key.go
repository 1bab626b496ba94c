package bolt

import (
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// Inside a key a level ends with 0x00 0x01, and a 0x00 byte of the level itself
// is written 0x00 0xFF. So no level's bytes reach into the next, and the order
// of keys is the bytewise order of names.
const (
	levelEnd     = 0x01
	levelEscaped = 0xFF
)

// namespaceKey is unique for each path. No namespace's key is a prefix of
// another's at the same depth.
func namespaceKey(path mounts.Namespace) []byte {
	return appendLevels(depthPrefix(len(path), path), path)
}

// childrenPrefix begins the keys of exactly the direct children of parent.
func childrenPrefix(parent mounts.Namespace) []byte {
	return appendLevels(depthPrefix(len(parent)+1, parent), parent)
}

func depthPrefix(depth int, path mounts.Namespace) []byte {
	size := 2
	for _, level := range path {
		size += len(level) + 2
	}
	return binary.BigEndian.AppendUint16(make([]byte, 0, size+64), uint16(depth)) // #nosec G115 -- native creates no namespace of more than 64 levels; this is one more at most
}

func appendLevels(key []byte, levels mounts.Namespace) []byte {
	for _, level := range levels {
		key = append(appendEscaped(key, level), 0, levelEnd)
	}
	return key
}

func appendEscaped(key []byte, level string) []byte {
	for i := range len(level) {
		key = append(key, level[i])
		if level[i] == 0 {
			key = append(key, levelEscaped)
		}
	}
	return key
}

// lastLevel reads what follows a children prefix: one escaped level.
func lastLevel(rest []byte) string {
	level := make([]byte, 0, len(rest))
	for i := 0; i < len(rest); i++ {
		if rest[i] == 0 {
			if i+1 < len(rest) && rest[i+1] == levelEnd {
				break
			}
			i++
			level = append(level, 0)
			continue
		}
		level = append(level, rest[i])
	}
	return string(level)
}

// objectKey is the namespace's key followed by the plain name: the namespace
// part is self-delimiting, so the name needs no escaping.
func objectKey(id mounts.Identifier) []byte {
	return append(namespaceKey(id.Namespace), id.Name...)
}

// parseObjectKey reads the names in an object's key.
func parseObjectKey(key []byte) (mounts.Identifier, bool) {
	path, rest, ok := parseLevels(key)
	return mounts.Identifier{Namespace: path, Name: string(rest)}, ok
}

// parseLevels reads a namespace's key and returns what follows it.
func parseLevels(key []byte) (path mounts.Namespace, rest []byte, ok bool) {
	if len(key) < 2 {
		return nil, nil, false
	}
	depth, rest := int(binary.BigEndian.Uint16(key)), key[2:]
	for range depth {
		end := levelLength(rest)
		if end < 0 {
			return nil, nil, false
		}
		path = append(path, lastLevel(rest[:end]))
		rest = rest[end:]
	}
	return path, rest, true
}

// levelLength is how many bytes the first level takes with its end, -1 if it has
// none.
func levelLength(rest []byte) int {
	for i := 0; i+1 < len(rest); i++ {
		if rest[i] != 0 {
			continue
		}
		if rest[i+1] == levelEnd {
			return i + 2
		}
		i++
	}
	return -1
}

func commitKey(object uuid.UUID, generation uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 24), object[:]...), generation)
}
