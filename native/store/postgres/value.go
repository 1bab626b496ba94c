package postgres

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// Arguments in binary format. None of them is ever null.

func text(s string) []byte       { return append([]byte{}, s...) }
func blob(b []byte) []byte       { return append([]byte{}, b...) }
func id(u uuid.UUID) []byte      { return u[:] }
func number(n int64) []byte      { return binary.BigEndian.AppendUint64(nil, uint64(n)) } // #nosec G115 -- a bigint is sent as its 64 bits, two's complement
func short(n uint8) []byte       { return []byte{0, n} }
func moment(t time.Time) []byte  { return number(t.UnixMicro()) }
func count(n int) []byte         { return number(int64(n)) }
func generation(n uint64) []byte { return number(int64(n)) } // #nosec G115 -- generations count commits from 1; the column is a bigint
func byArgs(by store.By) [][]byte {
	return [][]byte{moment(by.Time), text(by.Principal), text(by.RequestID), text(by.IdempotencyKey)}
}

// byteaOID is the type of the elements of the arrays here.
const byteaOID = 17

// texts is a bytea[].
func texts(list []string) []byte {
	be := binary.BigEndian
	if len(list) == 0 {
		return be.AppendUint32(make([]byte, 8, 12), byteaOID) // no dimension
	}
	out := be.AppendUint32([]byte{0, 0, 0, 1, 0, 0, 0, 0}, byteaOID)
	out = be.AppendUint32(be.AppendUint32(out, uint32(len(list))), 1) // #nosec G115 -- pgproto3 refuses to send a message of 1 GiB, and an element takes four bytes
	for _, s := range list {
		out = append(be.AppendUint32(out, uint32(len(s))), s...) // #nosec G115 -- pgproto3 refuses to send a message of 1 GiB
	}
	return out
}

// properties are two arrays, names in order and their values.
func properties(m map[string]string) (names, values []byte) {
	keys := slices.Sorted(maps.Keys(m))
	list := make([]string, len(keys))
	for i, key := range keys {
		list[i] = m[key]
	}
	return texts(keys), texts(list)
}

var errRecord = errors.New("postgres: a record is damaged")

// columns reads a row from left to right. The first mistake sticks.
type columns struct {
	rest [][]byte
	err  error
}

func (c *columns) next() []byte {
	if len(c.rest) == 0 || c.rest[0] == nil {
		c.rest, c.err = nil, errRecord
		return nil
	}
	value := c.rest[0]
	c.rest = c.rest[1:]
	return value
}

func (c *columns) sized(size int) []byte {
	value := c.next()
	if len(value) != size {
		c.rest, c.err = nil, errRecord
		return make([]byte, size)
	}
	return value
}

func (c *columns) text() string       { return string(c.next()) }
func (c *columns) blob() []byte       { return c.next() }
func (c *columns) number() int64      { return int64(binary.BigEndian.Uint64(c.sized(8))) } // #nosec G115 -- a bigint comes as its 64 bits, two's complement
func (c *columns) generation() uint64 { return uint64(c.number()) }                         // #nosec G115 -- written by generation, so never negative
func (c *columns) moment() time.Time  { return time.UnixMicro(c.number()).UTC() }
func (c *columns) short() uint8       { return uint8(binary.BigEndian.Uint16(c.sized(2))) } // #nosec G115 -- written by short, from one byte
func (c *columns) id() uuid.UUID      { return uuid.UUID(c.sized(16)) }
func (c *columns) digest() [32]byte   { return [32]byte(c.sized(32)) }

func (c *columns) by() store.By {
	return store.By{Time: c.moment(), Principal: c.text(), RequestID: c.text(), IdempotencyKey: c.text()}
}

func (c *columns) texts() []string {
	value, be := c.next(), binary.BigEndian
	take := func(size uint32) []byte {
		if uint64(size) > uint64(len(value)) {
			c.rest, c.err = nil, errRecord
			return make([]byte, min(size, 4))
		}
		taken := value[:size]
		value = value[size:]
		return taken
	}
	dimensions := be.Uint32(take(4))
	take(8)
	list := []string{}
	if dimensions != 1 || c.err != nil {
		if dimensions > 1 {
			c.err = errRecord
		}
		return list
	}
	size := be.Uint32(take(4))
	take(4)
	for ; size > 0 && c.err == nil; size-- {
		list = append(list, string(take(be.Uint32(take(4)))))
	}
	return list
}

func (c *columns) properties() map[string]string {
	names, values := c.texts(), c.texts()
	m := make(map[string]string, len(names))
	if len(names) != len(values) {
		c.err = errRecord
		return m
	}
	for i, name := range names {
		m[name] = values[i]
	}
	return m
}
