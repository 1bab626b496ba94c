package postgres

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/icefield/icefield/mounts"
)

// A path is stored as its depth and its levels, each ended by 0x00 0x01, with a
// 0x00 of the level itself written 0x00 0xFF. So paths sort by the number of
// levels and then by levels, bytewise, which is the order of an export.
const (
	levelEnd     = 0x01
	levelEscaped = 0xFF
)

func encodePath(path mounts.Namespace) []byte {
	out := binary.BigEndian.AppendUint16(nil, uint16(len(path))) // #nosec G115 -- native creates no namespace of more than 64 levels
	for _, level := range path {
		for i := range len(level) {
			out = append(out, level[i])
			if level[i] == 0 {
				out = append(out, levelEscaped)
			}
		}
		out = append(out, 0, levelEnd)
	}
	return out
}

func decodePath(path []byte) (mounts.Namespace, error) {
	if len(path) < 2 {
		return nil, errRecord
	}
	levels := make(mounts.Namespace, 0, binary.BigEndian.Uint16(path))
	var level []byte
	for rest := path[2:]; len(rest) > 0; {
		switch {
		case rest[0] != 0:
			level, rest = append(level, rest[0]), rest[1:]
			continue
		case len(rest) < 2:
			return nil, errRecord
		case rest[1] == levelEscaped:
			level = append(level, 0)
		default:
			levels, level = append(levels, string(level)), level[:0]
		}
		rest = rest[2:]
	}
	return levels, nil
}

// keyOf is the key of a namespace's row.
func keyOf(path mounts.Namespace) []byte {
	sum := sha256.Sum256(encodePath(path))
	return sum[:]
}

// maxFolder bounds what is indexed of a pointer's folder.
const maxFolder = 1024

// folderOf is a location up to its last slash, which is what pointers are
// indexed by.
func folderOf(location string) []byte {
	folder := []byte(location)
	folder = folder[:bytes.LastIndexByte(folder, '/')+1]
	return folder[:min(len(folder), maxFolder)]
}

// after is the smallest text that is greater than all that begin with prefix;
// nil if there is none.
func after(prefix []byte) []byte {
	for len(prefix) > 0 && prefix[len(prefix)-1] == 0xff {
		prefix = prefix[:len(prefix)-1]
	}
	if len(prefix) == 0 {
		return nil
	}
	out := bytes.Clone(prefix)
	out[len(out)-1]++
	return out
}
