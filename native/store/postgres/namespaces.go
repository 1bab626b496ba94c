package postgres

import (
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// Namespace implements store.Tx.
func (u *update) Namespace(path mounts.Namespace) (store.Namespace, error) {
	n, err := u.readNamespace(path)
	if err != nil {
		return store.Namespace{}, err
	}
	n.Path, n.Properties = slices.Clone(path), maps.Clone(n.Properties)
	return n, nil
}

func (u *update) readNamespace(path mounts.Namespace) (store.Namespace, error) {
	key := string(keyOf(path))
	k, ok := u.known.namespaces[key]
	if !ok {
		n, err := u.reads.Namespace(path)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return n, err
		}
		k = knownNamespace{found: err == nil, record: n, shared: !u.careful}
		u.known.namespaces[key] = k
	}
	if !k.found {
		return store.Namespace{}, store.ErrNotFound
	}
	return k.record, nil
}

// admits is nil or why nothing can be created in a namespace. The first run asks
// for nothing that it does not know.
func (u *update) admits(path mounts.Namespace) error {
	if _, ok := u.known.namespaces[string(keyOf(path))]; !ok && !u.careful {
		u.assumed = true
		return nil
	}
	_, err := u.readNamespace(path)
	if errors.Is(err, store.ErrNotFound) {
		return store.ErrNoNamespace
	}
	return err
}

// CreateNamespace implements store.Tx.
func (u *update) CreateNamespace(n store.Namespace) error {
	switch {
	case u.failure != nil:
		return u.failure
	case len(n.Path) == 0:
		return store.ErrExists
	case len(n.Path) > math.MaxUint16:
		return errors.New("postgres: too many levels")
	}
	parent := n.Path.Parent()
	if len(parent) > 0 {
		if err := u.admits(parent); err != nil {
			return err
		}
	}
	if _, ok := u.known.namespaces[string(keyOf(n.Path))]; ok || u.careful {
		if _, err := u.readNamespace(n.Path); !errors.Is(err, store.ErrNotFound) {
			return errors.Join(err, ifNil(err, store.ErrExists))
		}
	} else {
		u.assumed = true
	}
	names, values := properties(n.Properties)
	key := keyOf(n.Path)
	u.write(u.sql.insertNamespace.with(key, encodePath(n.Path), keyOf(parent), text(n.Path[len(parent)]),
		id(n.ID), text(n.Owner), names, values, moment(n.Created), moment(n.Updated)))
	u.remember(n, false)
	return nil
}

// ifNil is then for a nil error, and nil for any other.
func ifNil(err, then error) error {
	if err == nil {
		return then
	}
	return nil
}

// remember keeps a namespace as a later reading would find it.
func (u *update) remember(n store.Namespace, shared bool) {
	n.Path, n.Properties = slices.Clone(n.Path), maps.Clone(n.Properties)
	if n.Properties == nil {
		n.Properties = map[string]string{}
	}
	n.Created, n.Updated = kept(n.Created), kept(n.Updated)
	u.known.namespaces[string(keyOf(n.Path))] = knownNamespace{found: true, record: n, shared: shared}
}

// PutNamespace implements store.Tx.
func (u *update) PutNamespace(n store.Namespace) error {
	if _, err := u.readNamespace(n.Path); err != nil {
		return err
	}
	key := keyOf(n.Path)
	// Two that wait for each other to let go would wait for ever: the second one
	// runs again, and waits before it reads.
	if u.known.namespaces[string(key)].shared {
		u.write(u.sql.holdNamespace.with(key))
	}
	names, values := properties(n.Properties)
	u.write(u.sql.putNamespace.with(key, id(n.ID), text(n.Owner), names, values, moment(n.Created), moment(n.Updated)))
	u.remember(n, true)
	return nil
}

// DropNamespace implements store.Tx.
func (u *update) DropNamespace(path mounts.Namespace) error {
	if _, err := u.readNamespace(path); err != nil {
		return err
	}
	key := keyOf(path)
	if u.careful {
		answers, err := u.send(nil, u.sql.occupied.with(key))
		if err != nil {
			return err
		}
		if len(answers[0].rows) != 1 || len(answers[0].rows[0][0]) != 1 {
			return errRecord
		}
		if answers[0].rows[0][0][0] != 0 {
			return store.ErrNotEmpty
		}
	} else {
		u.assumed = true
	}
	if u.known.namespaces[string(key)].shared {
		u.write(u.sql.seizeNamespace.with(key))
	}
	u.write(u.sql.deleteNamespace.with(key))
	u.known.namespaces[string(key)] = knownNamespace{}
	return nil
}
