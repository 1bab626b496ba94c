package wrap

import (
	"sync"
	"sync/atomic"
	"time"
)

// calls owns the goroutines in which a mount's backend is called: nothing is
// called after close, and close waits for what is under way.
type calls struct {
	mu     sync.Mutex
	n      int
	closed bool
	idle   chan struct{} // closed by the last call once closed is set
	// stray counts the calls that nobody waits for any more.
	stray atomic.Int64
}

func newCalls() *calls { return &calls{idle: make(chan struct{})} }

// begin reserves a call; false after close.
func (c *calls) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.n++
	return true
}

func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n--
	if c.closed && c.n == 0 {
		close(c.idle)
	}
}

// close lets no further call begin and waits for those under way, but no longer
// than patience. It returns how many are left.
func (c *calls) close(patience time.Duration) int {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		if c.n == 0 {
			close(c.idle)
		}
	}
	c.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-c.idle:
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// call is one result that may arrive after its caller has left.
type call[T any] struct {
	done  chan struct{}
	state atomic.Int32 // running, finished or left
	value T
	err   error
}

const (
	running int32 = iota
	finished
	left
)

// spawn runs f in a goroutine that c owns; nil after close. cancel, which ends
// the context of f, is called once the result is there: a caller who waits for
// both must never take the end of the context for the end of its time.
func spawn[T any](c *calls, cancel func(), f func() (T, error)) *call[T] {
	if !c.begin() {
		cancel()
		return nil
	}
	p := &call[T]{done: make(chan struct{})}
	go func() {
		defer c.end()
		p.value, p.err = f()
		if !p.state.CompareAndSwap(running, finished) {
			c.stray.Add(-1)
		}
		close(p.done)
		cancel()
	}()
	return p
}

// ended reports whether the result is there.
func (p *call[T]) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// leave gives the result up, unless it is there already: then it returns false
// and the result may be read.
func (p *call[T]) leave(c *calls) bool {
	c.stray.Add(1)
	if p.state.CompareAndSwap(running, left) {
		return true
	}
	c.stray.Add(-1)
	<-p.done
	return false
}
