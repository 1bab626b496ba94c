package native

import (
	"container/list"
	"sync"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// cache keeps metadata documents within a number of bytes, the least recently
// used going first. They are known by the pointer's value that led to them, not
// by the file: a file does not change while a pointer holds it, but one that was
// registered again, here or on another replica, may be another one of the same
// name. So nothing is ever invalidated. A nil cache holds nothing.
type cache struct {
	mu     sync.Mutex
	room   int64
	limit  int64
	recent *list.List // of *cached, most recent first
	byKey  map[cacheKey]*list.Element
}

// cacheKey is a document: what one value of an object's pointer leads to, whole
// or cut down to its refs.
type cacheKey struct {
	object     uuid.UUID
	generation uint64
	refs       bool
}

func keyOf(o store.Object) cacheKey { return cacheKey{object: o.ID, generation: o.Generation} }

type cached struct {
	key     cacheKey
	content []byte
}

// entryOverhead is about what an entry costs besides its bytes.
const entryOverhead = 256

func (c *cached) cost() int64 { return int64(len(c.content)) + entryOverhead }

func newCache(limit int64) *cache {
	if limit <= 0 {
		return nil
	}
	return &cache{room: limit, limit: limit, recent: list.New(), byKey: map[cacheKey]*list.Element{}}
}

// get returns a document that must not be changed.
func (c *cache) get(key cacheKey) ([]byte, bool) {
	if c == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	element, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(element)
	return element.Value.(*cached).content, true
}

// put keeps a document, unless it alone would take more than a quarter of the
// cache and drive out everybody else's.
func (c *cache) put(key cacheKey, content []byte) {
	entry := &cached{key, content}
	if c == nil || entry.cost() > c.limit/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.byKey[key]; ok {
		return
	}
	c.byKey[key] = c.recent.PushFront(entry)
	for c.room -= entry.cost(); c.room < 0; {
		oldest := c.recent.Back()
		gone := c.recent.Remove(oldest).(*cached)
		delete(c.byKey, gone.key)
		c.room += gone.cost()
	}
}
