package wrap

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// identity tells whether two reads have the same answer: it holds everything
// that they ask for, and who asks where that matters.
type identity struct {
	asked  string
	caller [sha256.Size]byte
	// object is what an answer is about; see touched.
	object string
}

// ofTable reports a read of a table: its load, in any mode, or its existence.
func (id identity) ofTable() bool { return id.asked[0] == askedTable || id.asked[0] == askedExists }

// What the text of an identity begins with, where that matters.
const (
	askedTable  = 'T'
	askedExists = 'E'
)

// reuse is what may be done with the answer to a read.
type reuse uint8

const (
	// asIs: the answer is for one caller, once.
	asIs reuse = iota
	// shared: it may be given to identical reads that wait for it.
	shared
	// kept: it may also be kept.
	kept
)

// identify says what may be done with the answer of a read, and which reads it
// answers. Nothing that may hold access to storage is shared or kept: loads with
// delegation, credentials, signed requests and scan plans.
func (c *cache) identify(ctx context.Context, req mounts.Request) (id identity, use reuse) {
	var room [256]byte
	b, object := room[:0], ""
	always, timed := kept, shared // what has a tag is worth keeping whatever the ttl
	if c.opt.TTL > 0 || c.opt.StaleIfDown > 0 {
		timed = kept
	}
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		if r.Delegation != "" && !c.opt.IgnoreDelegation {
			return id, asIs
		}
		use, object = always, objectKey(r.Table)
		b = append(b, askedTable)
		if r.Snapshots != mounts.SnapshotsAll { // which is the default
			b = appendText(b, string(r.Snapshots))
		} else {
			b = appendText(b, "")
		}
		if c.opt.Size <= 0 {
			b = appendText(b, r.IfNoneMatch) // it is the backend that answers it
		}
		b = appendAll(b, r.ReferencedBy)
	case *mounts.TableExistsRequest:
		use, object = timed, objectKey(r.Table)
		b = append(b, askedExists)
	case *mounts.LoadViewRequest:
		use, object = timed, objectKey(r.View)
		b = appendAll(append(b, 'V'), r.ReferencedBy)
	case *mounts.LoadNamespaceRequest:
		use, object = timed, spaceKey(r.Namespace)
		b = append(b, 'N')
	case *mounts.ListNamespacesRequest:
		use, object = timed, listKey(r.Parent)
		b = appendPage(append(b, 'n'), r.Page)
	case *mounts.ListTablesRequest:
		use, object = timed, listKey(r.Namespace)
		b = appendPage(append(b, 't'), r.Page)
	case *mounts.ListViewsRequest:
		use, object = timed, listKey(r.Namespace)
		b = appendPage(append(b, 'v'), r.Page)
	default:
		return id, asIs
	}
	if c.opt.PerCaller {
		token := mounts.CallerFrom(ctx).Token
		if token == "" {
			return id, asIs
		}
		id.caller = sha256.Sum256([]byte(token))
	}
	if c.opt.Size <= 0 {
		use = min(use, shared)
	}
	id.object = object
	id.asked = string(append(append(b, 0xff), object...))
	return id, use
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendNames(b []byte, n mounts.Namespace) []byte {
	b = binary.AppendUvarint(b, uint64(len(n)))
	for _, level := range n {
		b = appendText(b, level)
	}
	return b
}

func appendAll(b []byte, list []mounts.Identifier) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, id := range list {
		b = appendText(appendNames(b, id.Namespace), id.Name)
	}
	return b
}

func appendPage(b []byte, p pagination.Request) []byte {
	whole := byte('-')
	if p.Whole {
		whole = 'w'
	}
	return appendText(binary.AppendVarint(append(b, whole), int64(p.Size)), p.Token)
}

// The keys of what answers are about. A table and a view of one name are one
// object: they share the name space. What a listing of a namespace shows, and
// the namespace itself, are two.
func objectKey(id mounts.Identifier) string {
	var room [128]byte
	return string(appendText(appendNames(append(room[:0], 'o'), id.Namespace), id.Name))
}

func spaceKey(n mounts.Namespace) string {
	var room [128]byte
	return string(appendNames(append(room[:0], 's'), n))
}

func listKey(n mounts.Namespace) string {
	var room [128]byte
	return string(appendNames(append(room[:0], 'l'), n))
}

// scope is what a change reaches: some objects, and all tables and views of a
// namespace that is dropped, since none can be left in it.
type scope struct {
	objects []string
	inside  string // what the keys of those begin with; empty for none
}

func (s scope) has(object string) bool {
	return slices.Contains(s.objects, object) || s.inside != "" && strings.HasPrefix(object, s.inside)
}

// touched is the scope of what a change makes out of date, whether it is known
// to have been made or not.
func touched(req mounts.Request) scope {
	if r, is := req.(*mounts.DropNamespaceRequest); is {
		return scope{objects: touchedObjects(req), inside: string(appendNames([]byte{'o'}, r.Namespace))}
	}
	return scope{objects: touchedObjects(req)}
}

func touchedObjects(req mounts.Request) []string {
	object := func(ids ...mounts.Identifier) (keys []string) {
		for _, id := range ids {
			keys = append(keys, objectKey(id), listKey(id.Namespace))
		}
		return keys
	}
	space := func(n mounts.Namespace) []string {
		keys := []string{spaceKey(n), listKey(n)}
		if len(n) > 0 {
			keys = append(keys, listKey(n.Parent()))
		}
		return keys
	}
	switch r := req.(type) {
	case *mounts.CreateNamespaceRequest:
		return space(r.Namespace)
	case *mounts.UpdateNamespacePropertiesRequest:
		return []string{spaceKey(r.Namespace)}
	case *mounts.DropNamespaceRequest:
		return space(r.Namespace)
	case *mounts.CommitTableRequest:
		if r.Creates() {
			return object(r.Table)
		}
		return []string{objectKey(r.Table)}
	case *mounts.CommitTransactionRequest:
		var keys []string
		for _, change := range r.Changes {
			keys = append(keys, object(change.Table)...)
		}
		return keys
	case *mounts.CreateTableRequest:
		if r.StageCreate {
			return nil
		}
		return object(mounts.Identifier{Namespace: r.Namespace, Name: r.Name})
	case *mounts.RegisterTableRequest:
		return object(mounts.Identifier{Namespace: r.Namespace, Name: r.Name})
	case *mounts.CreateViewRequest:
		return object(mounts.Identifier{Namespace: r.Namespace, Name: r.Name})
	case *mounts.RegisterViewRequest:
		return object(mounts.Identifier{Namespace: r.Namespace, Name: r.Name})
	case *mounts.ReplaceViewRequest:
		return []string{objectKey(r.View)}
	case *mounts.RenameTableRequest:
		return object(r.Source, r.Destination)
	case *mounts.RenameViewRequest:
		return object(r.Source, r.Destination)
	case *mounts.UnregisterTableRequest:
		return object(r.Table)
	case *mounts.DropTableRequest:
		return object(r.Table)
	case *mounts.DropViewRequest:
		return object(r.View)
	}
	return nil
}
