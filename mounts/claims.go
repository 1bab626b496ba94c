package mounts

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// Memory is a budget, in bytes, of what a server holds for the answers that it
// is working on. A nil *Memory is no budget. It is safe for concurrent use.
//
// Whoever holds nothing yet waits for its turn, first come, first served.
// Whoever holds something and cannot get more goes over the budget, one at a
// time: otherwise those who hold half an answer each would wait for one another.
// So the most that is held is the budget and one answer.
type Memory struct {
	max  int64
	held atomic.Int64
	free *semaphore.Weighted
	over chan struct{} // full while somebody is over the budget
}

// NewMemory makes a budget of max bytes; nil, that is none, if max is not
// positive.
func NewMemory(max int64) *Memory {
	if max <= 0 {
		return nil
	}
	return &Memory{max: max, free: semaphore.NewWeighted(max), over: make(chan struct{}, 1)}
}

// Max is the budget; 0 for none.
func (m *Memory) Max() int64 {
	if m == nil {
		return 0
	}
	return m.max
}

// Held is how many bytes are held now.
func (m *Memory) Held() int64 {
	if m == nil {
		return 0
	}
	return m.held.Load()
}

// Claim is what one answer holds of a budget. A claim has one user at a time;
// Release may be called from anywhere, once or more.
func (m *Memory) Claim() *Claim { return &Claim{of: m} }

// Claim is what one answer holds of a Memory.
type Claim struct {
	of *Memory

	mu       sync.Mutex
	held     int64 // all of it
	counted  int64 // what of it the semaphore knows
	over     bool
	released bool
}

// memoryPause is what a client that found no room is asked to wait.
const memoryPause = time.Second

// Grow makes the claim n bytes larger, waiting for room until ctx ends: then it
// answers Unavailable. An answer that is larger than the whole budget gets all
// of it.
func (c *Claim) Grow(ctx context.Context, n int64) error {
	m := c.of
	if m == nil || n <= 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return nil
	}
	if !c.over {
		if err := c.room(ctx, n); err != nil {
			return &Error{Kind: Unavailable, RetryAfter: memoryPause, Err: fmt.Errorf("no room for %d bytes: %w", n, err),
				Msg: "the server is busy with as many large answers as it has memory for; try again later"}
		}
	}
	c.held += n
	m.held.Add(n)
	return nil
}

// room makes the budget count n bytes more, or puts the claim over it.
func (c *Claim) room(ctx context.Context, n int64) error {
	m := c.of
	n = min(n, m.max-c.counted)
	switch {
	case n <= 0:
		return nil
	case m.free.TryAcquire(n):
	case c.counted == 0:
		if err := m.free.Acquire(ctx, n); err != nil {
			return err
		}
	default:
		select {
		case m.over <- struct{}{}:
			c.over = true
		case <-ctx.Done():
			return ctx.Err()
		}
		return nil
	}
	c.counted += n
	return nil
}

// Take makes the claim n bytes larger at once, over the budget if need be: for
// what must be read whatever it costs, as the answer to a commit.
func (c *Claim) Take(n int64) {
	if c.of == nil || n <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return
	}
	if counted := min(n, c.of.max-c.counted); !c.over && counted > 0 && c.of.free.TryAcquire(counted) {
		c.counted += counted
	}
	c.held += n
	c.of.held.Add(n)
}

// Release gives everything back. Afterwards the claim takes no more.
func (c *Claim) Release() {
	if c.of == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return
	}
	c.released = true
	c.of.held.Add(-c.held)
	if c.counted > 0 {
		c.of.free.Release(c.counted)
	}
	if c.over {
		<-c.of.over
	}
}
