package wrap

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

// reads makes identical reads share calls, strictly: a read joins only a call
// that was not sent yet when the read arrived, so that nobody is answered from
// before its own request. While one call is under way, those who arrive wait
// together for the next, which is sent when it ends, or after patience if it
// does not.
//
// A call that one read alone stands behind is made by that read itself, with its
// own context. A shared one runs in a goroutine that owner waits for, until its
// result is there or nobody wants it any more; each read waits for as long as
// its own context lives. The next shared call runs in the same goroutine, whose
// stack has grown to what a call needs.
type reads struct {
	send     sending
	patience time.Duration
	owner    *calls
	joined   func()

	mu    sync.Mutex
	lines map[identity]*line
}

// line is what is going on for one identity.
type line struct {
	under []*flight // calls under way
	next  *flight   // not sent yet
}

// flight is one call, for one or more reads.
type flight struct {
	id   identity
	use  reuse
	req  mounts.Request
	next mounts.Handler

	// Guarded by the mutex of reads.
	waiting  int
	outdated bool // the object was changed after the call was sent
	timer    *time.Timer
	cancel   context.CancelFunc
	from     context.Context // the values that the call is made with, then its context
	first    *mounts.Scope   // of the read that began it
	until    time.Time       // the last of the reads' deadlines
	endless  bool            // one of the reads has no deadline

	scope mounts.Scope
	open  atomic.Int32 // reads whose clients are not answered yet, and the call
	done  chan struct{}
	// Set before done is closed.
	resp mounts.Response
	err  error
}

// coalescePatience is how long a read waits for the call before its own. Calls
// take longer only where something is wrong.
const coalescePatience = 250 * time.Millisecond

func newReads(send sending, owner *calls, joined func()) *reads {
	return &reads{send: send, patience: coalescePatience, owner: owner, joined: joined, lines: map[identity]*line{}}
}

// sending makes the call of a flight. timeless: those who came after it was sent
// may have the result too.
type sending func(ctx context.Context, f *flight) (resp mounts.Response, timeless bool, err error)

// do answers a read by a call, its own or one that is shared: then so is the
// response.
func (r *reads) do(ctx context.Context, f *flight) (mounts.Response, error) {
	r.mu.Lock()
	l := r.lines[f.id]
	if l == nil {
		r.begin(f)
		r.mu.Unlock()
		return r.alone(ctx, f)
	}
	if l.next == nil {
		f.from, f.done = ctx, make(chan struct{})
		f.open.Store(1)
		l.next = f
		f.timer = time.AfterFunc(r.patience, func() { r.start(l, f) })
	} else {
		f = l.next
		r.joined()
	}
	f.join(ctx)
	r.mu.Unlock()

	select {
	case <-f.done:
	case <-ctx.Done():
		if r.leave(l, f) {
			f.close()
			return nil, &mounts.Error{Kind: mounts.Timeout, Err: ctx.Err()}
		}
	}
	mounts.CallerFrom(ctx).Scope.OnEnd(f.close)
	return f.resp, f.err
}

// close ends the flight's scope with the last of its reads: what the answer holds
// is held until every one of them is written.
func (f *flight) close() {
	if f.open.Add(-1) == 0 {
		f.scope.End()
	}
}

// join counts one more read. The lock is held.
func (f *flight) join(ctx context.Context) {
	f.waiting++
	f.open.Add(1)
	deadline, ok := ctx.Deadline()
	f.endless = f.endless || !ok
	if deadline.After(f.until) {
		f.until = deadline
	}
}

// single makes a read's own call, whatever else is under way.
func (r *reads) single(ctx context.Context, f *flight) (mounts.Response, error) {
	r.mu.Lock()
	r.begin(f)
	r.mu.Unlock()
	return r.alone(ctx, f)
}

// begin notes that a call is under way. The lock is held.
func (r *reads) begin(f *flight) {
	l := r.lines[f.id]
	if l == nil {
		l = &line{}
		r.lines[f.id] = l
	}
	l.under = append(l.under, f)
}

// isOutdated reports whether the object was changed since the call was sent.
func (r *reads) isOutdated(f *flight) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return f.outdated
}

// alone makes the call of a read that nobody else waits for.
func (r *reads) alone(ctx context.Context, f *flight) (mounts.Response, error) {
	timeless := false
	defer func() {
		if next := r.finish(f, timeless); next != nil {
			go r.run(next)
		}
	}()
	f.resp, timeless, f.err = r.send(ctx, f)
	return f.resp, f.err
}

// leave takes a read off a flight; false if its result is there.
func (r *reads) leave(l *line, f *flight) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-f.done:
		return false
	default:
	}
	f.waiting--
	if f.waiting > 0 {
		return true
	}
	if f.cancel != nil {
		f.cancel()
	} else if l.next == f { // nobody wants it, so it is not sent
		f.timer.Stop()
		l.next = nil
	}
	return true
}

// start sends a flight that was waiting, unless that happened already.
func (r *reads) start(l *line, f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.next == f && r.launch(l) != nil {
		go r.run(f)
	}
}

// launch takes the line's next flight for the caller to run; nil if no call may
// be made any more. The lock is held.
func (r *reads) launch(l *line) *flight {
	f := l.next
	l.next = nil
	f.timer.Stop()
	caller := mounts.CallerFrom(f.from)
	f.first, caller.Scope = caller.Scope, &f.scope
	ctx := mounts.WithCaller(context.WithoutCancel(f.from), caller)
	if f.endless {
		f.from, f.cancel = context.WithCancel(ctx)
	} else {
		f.from, f.cancel = context.WithDeadline(ctx, f.until)
	}
	if !r.owner.begin() {
		f.err = closing()
		f.cancel()
		close(f.done)
		r.tidy(f.id, l)
		return nil
	}
	l.under = append(l.under, f)
	return f
}

// run makes the call of a flight that was launched, and those that follow it.
func (r *reads) run(f *flight) {
	for f != nil {
		f = r.fly(f)
	}
}

// fly makes the call of a flight and returns the one that is to be made next.
func (r *reads) fly(f *flight) (next *flight) {
	defer r.owner.end()
	timeless := false
	defer func() {
		if p := recover(); p != nil {
			f.resp, f.err = nil, &mounts.Error{Kind: mounts.Internal, Op: f.req.Op(), Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
		for range f.scope.RemoteCalls() {
			f.first.CountRemoteCall() // made for the first who asked
		}
		next = r.finish(f, timeless)
		f.cancel()
		f.close()
	}()
	f.resp, timeless, f.err = r.send(f.from, f)
	return nil
}

// finish ends a flight and returns the next, launched, for the caller to run; or,
// if the result is good for those too who came after it was sent, gives it to
// them.
func (r *reads) finish(f *flight, timeless bool) (launched *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[f.id]
	l.under = slices.DeleteFunc(l.under, func(u *flight) bool { return u == f })
	if f.done != nil {
		close(f.done)
	}
	switch next := l.next; {
	case next == nil:
	case timeless && !f.outdated && f.err == nil:
		l.next = nil
		next.timer.Stop()
		next.resp = f.resp
		close(next.done)
		next.close()
	default:
		launched = r.launch(l)
	}
	r.tidy(f.id, l)
	return launched
}

// outdate notes that a change was made: what was sent before that is no
// answer to keep, nor one for those who come later.
func (r *reads) outdate(scope scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		for _, f := range l.under {
			f.outdated = f.outdated || scope.has(f.id.object)
		}
	}
}

func (r *reads) tidy(id identity, l *line) {
	if len(l.under) == 0 && l.next == nil && r.lines[id] == l {
		delete(r.lines, id)
	}
}

// closing is the error of a call that came after the mount was closed.
func closing() error {
	return &mounts.Error{Kind: mounts.Unavailable, RetryAfter: time.Second, Err: errNotSent,
		Msg: "being closed; nothing was sent, try again"}
}
