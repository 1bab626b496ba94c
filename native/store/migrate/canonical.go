package migrate

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// A record's canonical form is the same for every store: a letter for its kind,
// then every field in a fixed order; texts with their length, times in
// microseconds, properties sorted by key.
type form []byte

func (f *form) number(n uint64)     { *f = binary.AppendUvarint(*f, n) }
func (f *form) text(s string)       { f.number(uint64(len(s))); *f = append(*f, s...) }
func (f *form) bytes(b []byte)      { f.number(uint64(len(b))); *f = append(*f, b...) }
func (f *form) id(id uuid.UUID)     { *f = append(*f, id[:]...) }
func (f *form) moment(at time.Time) { *f = binary.AppendVarint(*f, at.UnixMicro()) }
func (f *form) texts(texts []string) { // of a path
	f.number(uint64(len(texts)))
	for _, t := range texts {
		f.text(t)
	}
}

func (f *form) by(b store.By) {
	f.moment(b.Time)
	f.text(b.Principal)
	f.text(b.RequestID)
	f.text(b.IdempotencyKey)
}

// canonical appends the record's form.
func canonical(f form, e store.Entry) form {
	switch {
	case e.Namespace != nil:
		n := e.Namespace
		f = append(f, 'n')
		f.texts(n.Path)
		f.id(n.ID)
		f.text(n.Owner)
		f.number(uint64(len(n.Properties)))
		for _, key := range slices.Sorted(maps.Keys(n.Properties)) {
			f.text(key)
			f.text(n.Properties[key])
		}
		f.moment(n.Created)
		f.moment(n.Updated)
	case e.Object != nil:
		o := e.Object
		f = append(f, 'o')
		f.texts(o.Namespace)
		f.text(o.Name)
		f.number(uint64(o.Kind))
		f.id(o.ID)
		f.text(o.Location)
		f.text(o.Previous)
		f.number(o.Generation)
		f.moment(o.Created)
		f.moment(o.Updated)
	case e.Commit != nil:
		c := e.Commit
		f = append(f, 'c')
		f.id(c.Object)
		f.number(c.Generation)
		f.text(c.From)
		f.text(c.To)
		f.by(c.By)
	case e.Receipt != nil:
		r := e.Receipt
		f = append(f, 'r')
		f = append(f, r.Key[:]...)
		f = append(f, r.Fingerprint[:]...)
		f.bytes(r.Outcome)
		f.moment(r.Created)
		f.moment(r.Expires)
	case e.Job != nil:
		j := e.Job
		f = append(f, 'j')
		f.id(j.ID)
		f.text(j.Kind)
		f.id(j.Object)
		f.texts(j.Ident.Namespace)
		f.text(j.Ident.Name)
		f.number(uint64(j.ObjectKind))
		f.text(j.Location)
		f.number(uint64(j.State))
		f.bytes(j.Progress)
		f.number(uint64(j.Attempts)) // #nosec G115 -- a count, which starts at 0 and only grows
		f.text(j.LastError)
		f.text(j.Lease)
		f.moment(j.LeasedUntil)
		f.moment(j.NotBefore)
		f.moment(j.Created)
		f.moment(j.Updated)
		f.by(j.By)
	}
	return f
}

// digest sums up an export: how many records of each kind, and a hash of all of
// them in order.
type digest struct {
	hash   hash.Hash
	counts store.Counts
	size   form
	record form
}

func newDigest() *digest { return &digest{hash: sha256.New()} }

// add takes the next record and returns its canonical form, valid until the next
// one.
func (d *digest) add(e store.Entry) []byte {
	d.record = canonical(d.record[:0], e)
	d.size = d.size[:0]
	d.size.number(uint64(len(d.record)))
	d.hash.Write(d.size)
	d.hash.Write(d.record)
	switch {
	case e.Namespace != nil:
		d.counts.Namespaces++
	case e.Object != nil:
		d.counts.Objects++
	case e.Commit != nil:
		d.counts.Commits++
	case e.Receipt != nil:
		d.counts.Receipts++
	case e.Job != nil:
		d.counts.Jobs++
	}
	return d.record
}

func (d *digest) total() [32]byte { return [32]byte(d.hash.Sum(nil)) }
