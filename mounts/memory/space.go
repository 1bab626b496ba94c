package memory

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// space is one namespace. The root is one too.
type space struct {
	properties map[string]string
	children   sorted[*space]
	tables     sorted[*object]
	views      sorted[*object]
}

func newSpace(properties map[string]string) *space {
	if properties == nil {
		properties = map[string]string{}
	}
	return &space{properties: properties}
}

func (s *space) empty() bool {
	return len(s.children.keys)+len(s.tables.keys)+len(s.views.keys) == 0
}

// object is one state of a table or view. It is never changed: a commit
// replaces it, so that readers need no copy.
type object struct {
	metadata json.RawMessage
	// location is where the metadata file would be; version counts the files.
	location string
	version  int
}

// find returns the namespace, or nil. The lock must be held.
func (b *Backend) find(n mounts.Namespace) *space {
	at := b.root
	for _, level := range n {
		if at = at.children.get(level); at == nil {
			return nil
		}
	}
	return at
}

// table returns the table's current state, or nil. The lock must be held.
func (b *Backend) table(id mounts.Identifier) *object {
	if s := b.find(id.Namespace); s != nil {
		return s.tables.get(id.Name)
	}
	return nil
}

// view returns the view's current state, or nil. The lock must be held.
func (b *Backend) view(id mounts.Identifier) *object {
	if s := b.find(id.Namespace); s != nil {
		return s.views.get(id.Name)
	}
	return nil
}

// sorted is a map that can be walked in the order of its names, bytewise, from
// any of them on.
type sorted[V any] struct {
	keys   []string
	values map[string]V
}

func (s *sorted[V]) get(name string) V { return s.values[name] }

func (s *sorted[V]) has(name string) bool {
	_, ok := s.values[name]
	return ok
}

func (s *sorted[V]) put(name string, value V) {
	if s.values == nil {
		s.values = map[string]V{}
	}
	if at, found := slices.BinarySearch(s.keys, name); !found {
		s.keys = slices.Insert(s.keys, at, name)
	}
	s.values[name] = value
}

func (s *sorted[V]) remove(name string) {
	if at, found := slices.BinarySearch(s.keys, name); found {
		s.keys = slices.Delete(s.keys, at, at+1)
		delete(s.values, name)
	}
}

// page returns the names of one page. The cursor is the last name served, so
// that names that come and go during a walk disturb no other; one that is not
// ours starts the listing again.
func (s *sorted[V]) page(req pagination.Request, most int) (names []string, next string) {
	size := req.Size
	if most > 0 && (size <= 0 || size > most) {
		size = most
	}
	at := 0
	if last, err := base64.RawURLEncoding.DecodeString(req.Token); err == nil && len(last) > 0 {
		found := false
		if at, found = slices.BinarySearch(s.keys, string(last)); found {
			at++
		}
	}
	names = s.keys[at:]
	if size > 0 && len(names) > size {
		names = names[:size]
		next = base64.RawURLEncoding.EncodeToString([]byte(names[size-1]))
	}
	return slices.Clone(names), next
}
