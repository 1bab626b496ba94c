package wrap

import (
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

// tally counts for Status what Metrics counts for operators: it begins anew with
// each mount, and does not need any metrics.
type tally struct {
	retries, breaker, limit, readOnly   atomic.Int64
	hit, miss, confirmed, stale, joined atomic.Int64
}

// and returns a function that counts here and there.
func and(here *atomic.Int64, there func()) func() {
	return func() {
		here.Add(1)
		there()
	}
}

// cache counts what a cache does here, too.
func (t *tally) cache(there cacheCounts) cacheCounts {
	return cacheCounts{hit: and(&t.hit, there.hit), miss: and(&t.miss, there.miss), confirmed: and(&t.confirmed, there.confirmed),
		stale: and(&t.stale, there.stale), joined: and(&t.joined, there.joined)}
}

// tell fills the counts of a status in.
func (m *Mounted) tell(s *mounts.Status) {
	t := &m.tally
	s.Retries, s.RefusedByBreaker = t.retries.Load(), t.breaker.Load()
	s.RefusedByLimit, s.RefusedAsReadOnly = t.limit.Load(), t.readOnly.Load()
	if m.cache != nil {
		s.Cache = &mounts.CacheStatus{Size: m.opt.Cache.Size, Held: m.cache.bytes(), Hits: t.hit.Load(), Confirmed: t.confirmed.Load(),
			Misses: t.miss.Load(), Stale: t.stale.Load(), Joined: t.joined.Load()}
	}
	s.SettingsAt = m.settingsAt()
}

// settingsAt is when the catalog behind the mount last said what it can do.
func (m *Mounted) settingsAt() time.Time {
	if n, ok := m.opened().(mounts.Negotiated); ok {
		return n.SettingsAt()
	}
	return time.Time{}
}
