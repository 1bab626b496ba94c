package bolt

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/icefield/icefield/native/store"
)

// maxGroup bounds one transaction, and with it how long its first writer waits.
const maxGroup = 512

// queue hands writers to the one goroutine that commits. It is not buffered:
// whatever it took is certain to be worked on.
type queue struct {
	writes    chan *write
	closing   chan struct{}
	closeOnce sync.Once
	done      chan struct{}
}

// The states of a write. Only a waiting one can still be withdrawn.
const (
	waiting int32 = iota
	taken
	withdrawn
)

// write is one closure on its way. err may be read once done is closed.
type write struct {
	f func(store.Tx) error
	// exclusive ones are about the registry as a whole: they have a transaction of
	// their own and no fence stops them.
	exclusive bool
	// durably is called by the committing goroutine when f is on disk; nil for
	// nothing.
	durably func()
	state   atomic.Int32
	err     error
	done    chan struct{}
}

func shared(f func(store.Tx) error) *write { return &write{f: f, done: make(chan struct{})} }

func exclusive(f func(*tx) error) *write {
	w := shared(func(t store.Tx) error { return f(t.(*tx)) })
	w.exclusive = true
	return w
}

func newQueue() *queue {
	return &queue{writes: make(chan *write), closing: make(chan struct{}), done: make(chan struct{})}
}

// do waits until w was committed or refused. A context that ends first withdraws
// w if it was not begun; after that its outcome is unknown to the caller.
func (q *queue) do(ctx context.Context, w *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-q.closing:
		return store.ErrClosed
	default:
	}
	select {
	case q.writes <- w:
	case <-ctx.Done():
		return ctx.Err()
	case <-q.closing:
		return store.ErrClosed
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
	}
	if w.state.CompareAndSwap(waiting, withdrawn) {
		return ctx.Err()
	}
	select {
	case <-w.done:
		return w.err
	default:
		return fmt.Errorf("%w: %w", store.ErrOutcomeUnknown, ctx.Err())
	}
}

// run commits groups until the queue is closed: the first writer and everybody
// who waits by then. It never waits for more.
func (q *queue) run(commit func([]*write)) {
	defer close(q.done)
	for {
		var group []*write
		select {
		case w := <-q.writes:
			group = append(group, w)
		case <-q.closing:
			return
		}
		// The writers of the last group were woken a moment ago; those that
		// write again get onto the processor before the group is closed.
		runtime.Gosched()
	fill:
		for len(group) < maxGroup {
			select {
			case w := <-q.writes:
				group = append(group, w)
			default:
				break fill
			}
		}
		commit(group)
	}
}

// close refuses further writers and waits for those that were taken.
func (q *queue) close() {
	q.closeOnce.Do(func() { close(q.closing) })
	<-q.done
}
