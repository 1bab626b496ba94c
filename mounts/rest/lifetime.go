package rest

import (
	"context"
	"sync"
	"time"
)

// lifetime owns what a login does beside the calls of its callers. It is safe
// for concurrent use; the zero lifetime is ready.
type lifetime struct {
	mu      sync.Mutex
	closed  bool
	under   map[*task]struct{}
	running sync.WaitGroup
}

// task is one piece of work under way.
type task struct{ cancel context.CancelFunc }

// start runs f for at most timeout, with the values of ctx but not its end: who
// asked first may leave while others wait. It reports false, and runs nothing,
// once close was called.
func (l *lifetime) start(ctx context.Context, timeout time.Duration, f func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	t := &task{cancel}
	if l.under == nil {
		l.under = make(map[*task]struct{})
	}
	l.under[t] = struct{}{}
	l.running.Go(func() {
		defer l.end(t)
		f(ctx)
	})
	return true
}

func (l *lifetime) end(t *task) {
	t.cancel()
	l.mu.Lock()
	delete(l.under, t)
	l.mu.Unlock()
}

// close cancels everything under way and waits for it.
func (l *lifetime) close() {
	l.mu.Lock()
	l.closed = true
	for t := range l.under {
		t.cancel()
	}
	l.mu.Unlock()
	l.running.Wait()
}

// over reports whether close was called.
func (l *lifetime) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
