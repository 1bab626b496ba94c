package memory

import (
	"encoding/json"
	"maps"

	"github.com/icefield/icefield/mounts"
)

// PutNamespace creates a namespace, or replaces its properties, with whatever
// encloses it.
func (b *Backend) PutNamespace(n mounts.Namespace, properties map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.ensure(n)
	s.properties = maps.Clone(properties)
	if s.properties == nil {
		s.properties = map[string]string{}
	}
}

// PutTable creates or replaces a table with a metadata document, which is kept
// byte for byte and not looked at, and creates the namespaces it is in. It
// returns the table's metadata location, a new one with every call.
func (b *Backend) PutTable(id mounts.Identifier, metadata json.RawMessage) string {
	return b.put(id, metadata, func(s *space) *sorted[*object] { return &s.tables })
}

// PutView is PutTable for a view.
func (b *Backend) PutView(id mounts.Identifier, metadata json.RawMessage) string {
	return b.put(id, metadata, func(s *space) *sorted[*object] { return &s.views })
}

func (b *Backend) put(id mounts.Identifier, metadata json.RawMessage, of func(*space) *sorted[*object]) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	location := b.options.Warehouse
	for _, level := range id.Namespace {
		location += "/" + segment(level)
	}
	state := &object{metadata: metadata, location: b.file(location+"/"+segment(id.Name), 0)}
	of(b.ensure(id.Namespace)).put(id.Name, state)
	return state.location
}

// ensure returns the namespace and creates what is missing of it. The lock must
// be held.
func (b *Backend) ensure(n mounts.Namespace) *space {
	at := b.root
	for _, level := range n {
		if !at.children.has(level) {
			at.children.put(level, newSpace(nil))
		}
		at = at.children.get(level)
	}
	return at
}
