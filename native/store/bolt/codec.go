package bolt

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// Records are a sequence of fields without names, because the pointer record is
// read by every loadTable. The file's format version says which sequence; a
// field added later goes to the end, and readers take a missing one as empty (the
// commits of format 1 have no idempotency key).

var errRecord = errors.New("bolt: a record is damaged")

type encoder []byte

func (e *encoder) text(s string) {
	*e = append(binary.AppendUvarint(*e, uint64(len(s))), s...)
}

func (e *encoder) number(n uint64)  { *e = binary.AppendUvarint(*e, n) }
func (e *encoder) time(t time.Time) { *e = binary.AppendVarint(*e, t.UnixMicro()) }
func (e *encoder) id(id uuid.UUID)  { *e = append(*e, id[:]...) }
func (e *encoder) by(b store.By)    { e.time(b.Time); e.text(b.Principal); e.text(b.RequestID) }
func (e *encoder) raw(b []byte)     { *e = append(binary.AppendUvarint(*e, uint64(len(b))), b...) }
func (e *encoder) bytes() []byte    { return *e }
func sortedKeys(m map[string]string) []string {
	return slices.Sorted(maps.Keys(m))
}

type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail() { d.rest, d.err = nil, errRecord }

func (d *decoder) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) time() time.Time {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.fail()
		return time.Time{}
	}
	d.rest = d.rest[size:]
	return time.UnixMicro(n).UTC()
}

func (d *decoder) text() string {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) raw() []byte { return []byte(d.text()) }

// added reads a text that records of an older format end without.
func (d *decoder) added() string {
	if len(d.rest) == 0 {
		return ""
	}
	return d.text()
}

func (d *decoder) id() (id uuid.UUID) {
	if len(d.rest) < len(id) {
		d.fail()
		return id
	}
	copy(id[:], d.rest)
	d.rest = d.rest[len(id):]
	return id
}

func (d *decoder) by() store.By {
	return store.By{Time: d.time(), Principal: d.text(), RequestID: d.text()}
}

func encodeNamespace(n store.Namespace) []byte {
	var e encoder
	e.id(n.ID)
	e.time(n.Created)
	e.time(n.Updated)
	e.text(n.Owner)
	e.number(uint64(len(n.Properties)))
	for _, key := range sortedKeys(n.Properties) {
		e.text(key)
		e.text(n.Properties[key])
	}
	return e.bytes()
}

func decodeNamespace(path mounts.Namespace, record []byte) (store.Namespace, error) {
	d := decoder{rest: record}
	n := store.Namespace{Path: slices.Clone(path), ID: d.id(), Created: d.time(), Updated: d.time(), Owner: d.text(),
		Properties: map[string]string{}}
	for left := d.number(); left > 0 && d.err == nil; left-- {
		key := d.text()
		n.Properties[key] = d.text()
	}
	return n, d.err
}

func encodeObject(o store.Object) []byte {
	e := make(encoder, 0, 64+len(o.Location)+len(o.Previous))
	e.id(o.ID)
	e.number(o.Generation)
	e.time(o.Created)
	e.time(o.Updated)
	e.text(o.Location)
	e.text(o.Previous)
	return e.bytes()
}

func decodeObject(id mounts.Identifier, kind store.Kind, record []byte) (store.Object, error) {
	d := decoder{rest: record}
	o := store.Object{Namespace: id.Namespace, Name: id.Name, Kind: kind, ID: d.id(), Generation: d.number(),
		Created: d.time(), Updated: d.time(), Location: d.text(), Previous: d.text()}
	return o, d.err
}

func encodeCommit(c store.Commit) []byte {
	var e encoder
	e.by(c.By)
	e.text(c.From)
	e.text(c.To)
	e.text(c.IdempotencyKey)
	return e.bytes()
}

func decodeCommit(key, record []byte) (store.Commit, error) {
	k, d := decoder{rest: key}, decoder{rest: record}
	c := store.Commit{Object: k.id(), By: d.by(), From: d.text(), To: d.text()}
	c.IdempotencyKey = d.added()
	if len(k.rest) != 8 {
		return c, errRecord
	}
	c.Generation = binary.BigEndian.Uint64(k.rest)
	return c, d.err
}

func encodeReceipt(r store.Receipt) []byte {
	e := make(encoder, 0, 64+len(r.Outcome))
	e = append(e, r.Fingerprint[:]...)
	e.time(r.Created)
	e.time(r.Expires)
	e.raw(r.Outcome)
	return e.bytes()
}

func decodeReceipt(key store.ReceiptKey, record []byte) (store.Receipt, error) {
	r := store.Receipt{Key: key}
	if copy(r.Fingerprint[:], record) < len(r.Fingerprint) {
		return r, errRecord
	}
	d := decoder{rest: record[len(r.Fingerprint):]}
	r.Created, r.Expires, r.Outcome = d.time(), d.time(), d.raw()
	return r, d.err
}

func encodeJob(j store.Job) []byte {
	e := make(encoder, 0, 256+len(j.Progress))
	e.text(j.Kind)
	e.id(j.Object)
	e.number(uint64(len(j.Ident.Namespace)))
	for _, level := range j.Ident.Namespace {
		e.text(level)
	}
	e.text(j.Ident.Name)
	e.number(uint64(j.ObjectKind))
	e.text(j.Location)
	e.number(uint64(j.State))
	e.raw(j.Progress)
	e.number(uint64(j.Attempts)) // #nosec G115 -- a count, which starts at 0 and only grows
	e.text(j.LastError)
	e.text(j.Lease)
	e.time(j.LeasedUntil)
	e.time(j.NotBefore)
	e.time(j.Created)
	e.time(j.Updated)
	e.by(j.By)
	e.text(j.By.IdempotencyKey)
	return e.bytes()
}

func decodeJob(id uuid.UUID, record []byte) (store.Job, error) {
	d := decoder{rest: record}
	j := store.Job{ID: id, Kind: d.text(), Object: d.id()}
	for left := d.number(); left > 0 && d.err == nil; left-- {
		j.Ident.Namespace = append(j.Ident.Namespace, d.text())
	}
	j.Ident.Name, j.ObjectKind, j.Location, j.State = d.text(), store.Kind(d.number()), d.text(), store.JobState(d.number()) // #nosec G115 -- encodeJob wrote both from types of one byte
	j.Progress, j.Attempts, j.LastError, j.Lease = d.raw(), int(d.number()), d.text(), d.text()                              // #nosec G115 -- encodeJob wrote the attempts from an int
	j.LeasedUntil, j.NotBefore, j.Created, j.Updated = d.time(), d.time(), d.time(), d.time()
	j.By = d.by()
	j.By.IdempotencyKey = d.added()
	return j, d.err
}
