package quota

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"
)

// buckets are token buckets by key, bounded in number.
type buckets[K comparable] struct {
	shards *shards[K, *rate.Limiter]
	mu     sync.RWMutex
	limit  rate.Limit
	burst  int
}

func newBuckets[K comparable](r Rate, max int) *buckets[K] {
	b := &buckets[K]{shards: newShards[K, *rate.Limiter](max)}
	b.set(r)
	return b
}

// set changes the rate. Buckets that are there take it over when they are asked
// next.
func (b *buckets[K]) set(r Rate) {
	limit, burst := r.limits()
	b.mu.Lock()
	b.limit, b.burst = limit, burst
	b.mu.Unlock()
}

func (b *buckets[K]) rate() (rate.Limit, int) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.limit, b.burst
}

// take takes one token, or says after which time there is one, if nobody else
// takes it.
func (b *buckets[K]) take(key K, now time.Time) (wait time.Duration, ok bool) {
	limit, burst := b.rate()
	if limit == rate.Inf {
		return 0, true
	}
	s := b.shards.of(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	l, found := s.lru.Get(key) // also one that is refused stays among the recent
	switch {
	case !found:
		l = rate.NewLimiter(limit, burst)
		if !s.makeRoom(func(old *rate.Limiter) bool { return full(old, now) }) {
			l.AllowN(now, burst-1)
		}
		s.lru.Add(key, l)
	case l.Limit() != limit || l.Burst() != burst:
		l.SetLimitAt(now, limit)
		l.SetBurstAt(now, burst)
	}
	if l.AllowN(now, 1) {
		return 0, true
	}
	return until(1-l.TokensAt(now), limit), false
}

// maxWait bounds what a rate of one request in a long time can make anybody wait
// before trying again.
const maxWait = 24 * time.Hour

// until is how long it takes for tokens to come, rounded up: who comes then is
// let in.
func until(tokens float64, limit rate.Limit) time.Duration {
	d := math.Ceil(tokens / float64(limit) * float64(time.Second/time.Microsecond))
	if d >= float64(maxWait/time.Microsecond) {
		return maxWait
	}
	return time.Duration(max(d, 0))*time.Microsecond + time.Microsecond
}

// full tells that forgetting a bucket changes nothing.
func full(l *rate.Limiter, now time.Time) bool { return l.TokensAt(now) >= float64(l.Burst()) }

// shards spread keys over several locks. Which key is where nobody outside knows.
type shards[K comparable, V any] struct {
	seed maphash.Seed
	all  []*shard[K, V]
}

type shard[K comparable, V any] struct {
	mu  sync.Mutex
	max int
	lru *simplelru.LRU[K, V]
}

// perShard is below which number of keys further locks are not worth it.
const perShard = 512

func newShards[K comparable, V any](max int) *shards[K, V] {
	n := 1
	for n < 32 && max/(2*n) >= perShard {
		n *= 2
	}
	s := &shards[K, V]{seed: maphash.MakeSeed()}
	for range n {
		lru, err := simplelru.NewLRU[K, V](max/n, nil)
		if err != nil {
			panic(err) // only for a size that is not positive
		}
		s.all = append(s.all, &shard[K, V]{max: max / n, lru: lru})
	}
	return s
}

func (s *shards[K, V]) of(key K) *shard[K, V] {
	return s.all[maphash.Comparable(s.seed, key)%uint64(len(s.all))]
}

func (s *shards[K, V]) len() (n int) {
	for _, one := range s.all {
		one.mu.Lock()
		n += one.lru.Len()
		one.mu.Unlock()
	}
	return n
}

// makeRoom makes room for one more key. It reports whether that cost nothing: the
// least recent one is over, or there was room. The caller holds mu.
func (s *shard[K, V]) makeRoom(over func(V) bool) bool {
	if s.lru.Len() < s.max {
		return true
	}
	_, oldest, _ := s.lru.RemoveOldest()
	return over(oldest)
}
