package rest

import (
	"bytes"
	"encoding/json"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// memo remembers the metadata that a URL answered last, up to so many bytes over
// all: an answer in which it stands unchanged need not be scanned again, and its
// own copy need not be kept. Only bytes that the remote sent again are ever given
// out, so it does not matter who asked before. A nil memo remembers nothing.
type memo struct {
	max int64

	mu    sync.Mutex
	bytes int64
	byURL *simplelru.LRU[string, json.RawMessage]
}

// perMemory is about what it costs to remember one document, beside its bytes
// and its URL.
const perMemory = 256

func newMemo(max int64) *memo {
	if max <= 0 {
		return nil
	}
	m := &memo{max: max}
	m.byURL, _ = simplelru.NewLRU(math.MaxInt, func(url string, doc json.RawMessage) { m.bytes -= memoSize(url, doc) })
	return m
}

func memoSize(url string, doc json.RawMessage) int64 { return int64(len(url) + cap(doc) + perMemory) }

// recall is the document of a URL; nil if none is remembered. It must not be
// changed.
func (m *memo) recall(url string) json.RawMessage {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	doc, _ := m.byURL.Get(url)
	return doc
}

// remember keeps the document of a URL, which must be one JSON object. alone:
// a copy is kept, since what stands around doc must not be.
func (m *memo) remember(url string, doc json.RawMessage, alone bool) {
	if m == nil || memoSize(url, doc) > m.max {
		return
	}
	if alone {
		doc = bytes.Clone(doc)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byURL.Remove(url)
	m.byURL.Add(url, doc)
	for m.bytes += memoSize(url, doc); m.bytes > m.max; {
		m.byURL.RemoveOldest()
	}
}

// same reports that doc is the remembered one itself, not a copy.
func same(doc, known json.RawMessage) bool {
	return len(doc) > 0 && len(doc) == len(known) && &doc[0] == &known[0]
}
