package wrap

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// entry is an answer that is held. It does not change, but for when it was last
// known to be right.
type entry struct {
	resp   mounts.Response
	tag    string // of a table; empty if the backend gave none
	size   int64
	object string
	// right is when the call was sent that last confirmed the answer, in Unix
	// nanoseconds.
	right atomic.Int64
}

func newEntry(id identity, resp mounts.Response, at time.Time) *entry {
	e := &entry{resp: resp, object: id.object, size: overhead + 2*int64(len(id.asked)) + weight(resp)}
	if t, is := resp.(*mounts.Table); is {
		e.tag = t.ETag
	}
	e.right.Store(at.UnixNano())
	return e
}

func (e *entry) age(now time.Time) time.Duration {
	return time.Duration(now.UnixNano() - e.right.Load())
}

// confirm notes that a call sent at that time proved the answer right.
func (e *entry) confirm(at time.Time) {
	for n := at.UnixNano(); ; {
		was := e.right.Load()
		if was >= n || e.right.CompareAndSwap(was, n) {
			return
		}
	}
}

// answer is the entry as the answer to a request, which may change it.
func (e *entry) answer(req mounts.Request) mounts.Response {
	switch r := e.resp.(type) {
	case *mounts.Table:
		if load, is := req.(*mounts.LoadTableRequest); is && r.ETag != "" && tagListed(load.IfNoneMatch, r.ETag) {
			return &mounts.Table{NotModified: true, ETag: r.ETag}
		}
	}
	return copied(e.resp)
}

// copied is a response whose receiver may change it: only bytes and names, which
// nobody changes, are shared.
func copied(resp mounts.Response) mounts.Response {
	switch r := resp.(type) {
	case *mounts.Table:
		out := *r
		out.Config, out.Extra = maps.Clone(r.Config), maps.Clone(r.Extra)
		out.StorageCredentials = slices.Clone(r.StorageCredentials)
		for i := range out.StorageCredentials {
			out.StorageCredentials[i].Config = maps.Clone(out.StorageCredentials[i].Config)
		}
		return &out
	case *mounts.View:
		out := *r
		out.Config, out.Extra = maps.Clone(r.Config), maps.Clone(r.Extra)
		return &out
	case *mounts.NamespaceInfo:
		return &mounts.NamespaceInfo{Namespace: r.Namespace, Properties: maps.Clone(r.Properties)}
	case *pagination.Page[mounts.Namespace]:
		return &pagination.Page[mounts.Namespace]{Items: slices.Clone(r.Items), Next: r.Next}
	case *pagination.Page[mounts.Identifier]:
		return &pagination.Page[mounts.Identifier]{Items: slices.Clone(r.Items), Next: r.Next}
	}
	return resp
}

// keepable reports whether a response may be held: nothing that gives access to
// storage may.
func keepable(resp mounts.Response) bool {
	switch r := resp.(type) {
	case *mounts.Table:
		return !r.NotModified && len(r.StorageCredentials) == 0 && r.Signing == nil && !r.Refresh && !secretive(r.Config)
	case *mounts.View:
		return !secretive(r.Config)
	}
	return true
}

// secretive reports a config that looks as if it held access to storage. No
// backend answers one without having been asked for it; this is the second lock.
func secretive(config map[string]string) bool {
	for name := range config {
		for _, sign := range [...]string{"secret", "token", "credential", "access-key", "password", "sas", "connection-string", "account-key"} {
			if strings.Contains(name, sign) {
				return true
			}
		}
	}
	return false
}

// overhead is about what an entry costs beside its content.
const overhead = 512

// weight is about how many bytes a response holds.
func weight(resp mounts.Response) int64 {
	n := 0
	properties := func(m map[string]string) {
		for k, v := range m {
			n += len(k) + len(v) + 64
		}
	}
	switch r := resp.(type) {
	case *mounts.Table:
		n = cap(r.Metadata) + len(r.MetadataLocation)
		properties(r.Config)
		for k, v := range r.Extra {
			n += len(k) + len(v) + 64
		}
	case *mounts.View:
		n = cap(r.Metadata) + len(r.MetadataLocation)
		properties(r.Config)
		for k, v := range r.Extra {
			n += len(k) + len(v) + 64
		}
	case *mounts.NamespaceInfo:
		properties(r.Properties)
	case *pagination.Page[mounts.Namespace]:
		for _, row := range r.Items {
			n += 24
			for _, level := range row {
				n += 16 + len(level)
			}
		}
	case *pagination.Page[mounts.Identifier]:
		for _, row := range r.Items {
			n += 40 + len(row.Name) // the rows share their namespace
		}
	}
	return int64(n)
}

// tagListed reports whether an If-None-Match names the tag. The comparison is
// weak, as for every GET (RFC 9110, section 13.1.2).
func tagListed(list, tag string) bool {
	if list == "" {
		return false
	}
	tag = strings.TrimPrefix(tag, "W/")
	for rest := list; rest != ""; {
		rest = strings.TrimLeft(rest, " \t,")
		if strings.HasPrefix(rest, "*") {
			return true
		}
		rest = strings.TrimPrefix(rest, "W/")
		if !strings.HasPrefix(rest, `"`) {
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
	return false
}

// answers holds entries up to so many bytes, the least recently used go first.
// Its owner locks it.
type answers struct {
	max, bytes int64
	byID       *simplelru.LRU[identity, *entry]
	byObject   map[string]map[identity]struct{}
}

func newAnswers(max int64) *answers {
	a := &answers{max: max, byObject: map[string]map[identity]struct{}{}}
	a.byID, _ = simplelru.NewLRU(math.MaxInt, a.gone) // the size is a valid one
	return a
}

func (a *answers) get(id identity) *entry {
	e, _ := a.byID.Get(id)
	return e
}

// put holds e in the place of what was held before.
func (a *answers) put(id identity, e *entry) {
	if was, ok := a.byID.Peek(id); ok && was == e {
		return
	}
	a.byID.Remove(id)
	if e.size > a.max {
		return
	}
	a.byID.Add(id, e)
	a.bytes += e.size
	of := a.byObject[e.object]
	if of == nil {
		of = map[identity]struct{}{}
		a.byObject[e.object] = of
	}
	of[id] = struct{}{}
	for a.bytes > a.max {
		a.byID.RemoveOldest()
	}
}

// about visits what is held of an object.
func (a *answers) about(object string) iter.Seq2[identity, *entry] {
	return func(yield func(identity, *entry) bool) {
		for id := range a.byObject[object] {
			if e, ok := a.byID.Peek(id); ok && !yield(id, e) {
				return
			}
		}
	}
}

func (a *answers) drop(id identity) { a.byID.Remove(id) }

// dropScope lets go of every answer that a change makes out of date.
func (a *answers) dropScope(s scope) {
	for _, object := range s.objects {
		a.dropObject(object)
	}
	if s.inside == "" {
		return
	}
	for object := range a.byObject {
		if s.has(object) {
			a.dropObject(object)
		}
	}
}

func (a *answers) dropObject(object string) {
	for id := range a.byObject[object] {
		a.byID.Remove(id)
	}
}

// gone is called by the list for everything that leaves it.
func (a *answers) gone(id identity, e *entry) {
	a.bytes -= e.size
	of := a.byObject[e.object]
	delete(of, id)
	if len(of) == 0 {
		delete(a.byObject, e.object)
	}
}
