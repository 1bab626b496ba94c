package native

import (
	"container/list"
	"sync"
)

// cache keeps metadata documents by location within a number of bytes, the
// least recently used going first. A location's bytes never change while a
// pointer holds it, so a commit invalidates nothing. A nil cache holds nothing.
type cache struct {
	mu     sync.Mutex
	room   int64
	limit  int64
	recent *list.List // of *cached, most recent first
	byKey  map[cacheKey]*list.Element
}

// cacheKey is a document: a file, whole or cut down to its refs.
type cacheKey struct {
	location string
	refs     bool
}

type cached struct {
	key     cacheKey
	content []byte
}

// entryOverhead is about what an entry costs besides its bytes.
const entryOverhead = 256

func (c *cached) cost() int64 { return int64(len(c.content)+len(c.key.location)) + entryOverhead }

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

// forget drops a file that was deleted, or that others may have written anew.
func (c *cache) forget(location string) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range [...]cacheKey{{location, false}, {location, true}} {
		if element, ok := c.byKey[key]; ok {
			c.room += c.recent.Remove(element).(*cached).cost()
			delete(c.byKey, key)
		}
	}
}
