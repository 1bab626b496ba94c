package postgres

import (
	"errors"
	"slices"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// kept is a time as it comes back from the database.
func kept(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// Object implements store.Tx.
func (u *update) Object(ident mounts.Identifier) (store.Object, error) {
	key := objectKey(ident)
	k, ok := u.known.objects[key]
	if !ok {
		o, err := u.reads.Object(ident)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return o, err
		}
		k = knownObject{found: err == nil, record: o}
		u.known.objects[key] = k
	}
	if !k.found {
		return store.Object{}, store.ErrNotFound
	}
	o := k.record
	o.Namespace = slices.Clone(o.Namespace)
	return o, nil
}

// free is nil or why no object can be added under a name.
func (u *update) free(ident mounts.Identifier) error {
	if len(ident.Namespace) == 0 {
		return store.ErrNoNamespace
	}
	if err := u.admits(ident.Namespace); err != nil {
		return err
	}
	if _, ok := u.known.objects[objectKey(ident)]; !ok && !u.careful {
		u.assumed = true
		return nil
	}
	_, err := u.Object(ident)
	switch {
	case err == nil:
		return store.ErrExists
	case errors.Is(err, store.ErrNotFound):
		return nil
	}
	return err
}

// Create implements store.Tx.
func (u *update) Create(o store.Object, by store.By) (store.Object, error) {
	if u.failure != nil {
		return store.Object{}, u.failure
	}
	if err := u.free(o.Identifier()); err != nil {
		return store.Object{}, err
	}
	o.Namespace = slices.Clone(o.Namespace)
	o.Previous, o.Generation, o.Created, o.Updated = "", 1, kept(by.Time), kept(by.Time)
	u.write(u.sql.insertObject.with(objectArgs(o)...))
	u.log(o, "", o.Location, by)
	return u.hold(o), nil
}

// objectArgs are the columns of an object's row.
func objectArgs(o store.Object) [][]byte {
	return [][]byte{keyOf(o.Namespace), text(o.Name), short(uint8(o.Kind)), id(o.ID), text(o.Location), text(o.Previous), generation(o.Generation),
		moment(o.Created), moment(o.Updated), folderOf(o.Location)}
}

// hold remembers an object as a later reading would find it.
func (u *update) hold(o store.Object) store.Object {
	u.known.objects[objectKey(o.Identifier())] = knownObject{found: true, record: o}
	o.Namespace = slices.Clone(o.Namespace)
	return o
}

// log adds a row to the commit log, which proves that the transaction was
// committed.
func (u *update) log(o store.Object, from, to string, by store.By) {
	args := append([][]byte{id(o.ID), generation(o.Generation), text(from), text(to)}, byArgs(by)...)
	u.write(u.sql.insertCommit.with(append(args, id(u.id))...))
	u.proof = &proof{object: o.ID, generation: o.Generation}
}

// Swap implements store.Tx.
func (u *update) Swap(ident mounts.Identifier, from, to string, by store.By) (store.Object, error) {
	o, err := u.Object(ident)
	if err != nil {
		return store.Object{}, err
	}
	if o.Location != from {
		return store.Object{}, store.ErrMoved
	}
	o.Previous, o.Location = from, to
	o.Generation++
	o.Updated = kept(by.Time)
	u.write(u.sql.swapObject.with(keyOf(ident.Namespace), text(ident.Name), text(to), text(from), generation(o.Generation), moment(by.Time), folderOf(to)))
	u.log(o, from, to, by)
	return u.hold(o), nil
}

// Rename implements store.Tx.
func (u *update) Rename(from, to mounts.Identifier, by store.By) error {
	o, err := u.Object(from)
	if err != nil {
		return err
	}
	if err := u.free(to); err != nil {
		return err
	}
	u.write(u.sql.moveObject.with(keyOf(from.Namespace), text(from.Name), keyOf(to.Namespace), text(to.Name), moment(by.Time)))
	u.known.objects[objectKey(from)] = knownObject{}
	o.Namespace, o.Name, o.Updated = slices.Clone(to.Namespace), to.Name, kept(by.Time)
	u.hold(o)
	return nil
}

// Drop implements store.Tx.
func (u *update) Drop(ident mounts.Identifier, by store.By) (store.Object, error) {
	o, err := u.Object(ident)
	if err != nil {
		return store.Object{}, err
	}
	u.write(u.sql.deleteObject.with(keyOf(ident.Namespace), text(ident.Name)))
	u.known.objects[objectKey(ident)] = knownObject{}
	last := o
	last.Generation++
	u.log(last, o.Location, "", by)
	return o, nil
}
