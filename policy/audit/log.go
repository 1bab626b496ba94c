package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
)

// Log is the audit trail: a policy.Trail. It is safe for concurrent use. A nil
// *Log takes every event and keeps none.
type Log struct {
	sink       sink // nil: events go nowhere
	failClosed bool
	// events and bytes bound what waits. Events that must be written may take as
	// much again, so that others do not crowd them out.
	events, bytes int
	metrics       *Metrics
	logger        *slog.Logger

	scratch sync.Pool // *[]byte
	tickets sync.Pool // *ticket

	// wake tells that something waits, hurry that it has to be written at once:
	// somebody waits for it, or it is enough for a write. Both are sent to, and
	// emptied, under mu.
	wake, hurry chan struct{}
	reopens     chan chan error
	closing     chan struct{} // closed by Close
	done        chan struct{} // closed when the writer has ended

	writer writer // the writer's alone

	mu      sync.Mutex
	waiting batch
	closed  bool
	status  Status
	// writing is since when a write is under way; zero if none is.
	writing time.Time
	// untold counts what no line says yet.
	untold loss
}

// loss is what could not be written.
type loss struct {
	lost, refused uint64
	since         time.Time
}

// Status is how the trail fares.
type Status struct {
	// State is "ok", or "failing" if the last write failed, or does not end.
	State string
	// Since is when that state began.
	Since time.Time
	// Reason says why it fails, for operators.
	Reason string
	// Written, Lost and Refused count events since the trail was opened. Refused
	// are those that had to be written and were not: what they permit was not done.
	Written, Lost, Refused uint64
}

// The states.
const (
	OK      = "ok"
	Failing = "failing"
)

// ticket is what waits for one event to be written.
type ticket struct {
	written chan error // one place
	timer   *time.Timer
}

// batch holds lines, one after the other.
type batch struct {
	text  []byte
	marks []mark
}

// mark is the end of a line in its batch, and who waits for it, if anybody does.
type mark struct {
	end    int
	ticket *ticket
}

func newLog(out sink, opt Options) *Log {
	return &Log{
		sink: out, failClosed: opt.FailClosed, metrics: opt.Metrics, logger: opt.Logger,
		events: opt.Queue, bytes: max(1<<20, opt.Queue<<10),
		scratch: sync.Pool{New: func() any { return new([]byte) }},
		tickets: sync.Pool{New: func() any { return newTicket() }},
		wake:    make(chan struct{}, 1),
		hurry:   make(chan struct{}, 1),
		reopens: make(chan chan error),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
		status:  Status{State: OK, Since: time.Now()},
	}
}

func newTicket() *ticket {
	t := &ticket{written: make(chan error, 1), timer: time.NewTimer(time.Hour)}
	t.timer.Stop()
	return t
}

func (l *Log) start() *Log {
	l.writer.torn = l.sink.torn()
	l.metrics.health(true)
	go l.run()
	return l
}

// Record implements policy.Trail. Events are written in the order in which
// Record was called.
//
// With FailClosed and must it returns nil only when the event is in the kernel:
// it survives the end of this process, though not of the machine. Otherwise the
// error is Unavailable, and what the event permits must not be done; the event may
// still be written later, if it was only too slow. Record waits for five seconds
// at most, and no longer than ctx.
//
// Without, it returns nil at once.
func (l *Log) Record(ctx context.Context, e policy.Event, must bool) error {
	if l == nil || l.sink == nil {
		return nil
	}
	var t *ticket
	if must && l.failClosed {
		t = l.tickets.Get().(*ticket)
	}
	scratch := l.scratch.Get().(*[]byte)
	text := appendEvent((*scratch)[:0], time.Now(), &e)
	err := l.queue(text, t)
	if *scratch = text; cap(text) <= 4<<10 {
		l.scratch.Put(scratch)
	}
	if t == nil {
		return nil
	}
	if err != nil {
		l.tickets.Put(t)
		return unavailable(err)
	}
	t.timer.Reset(waitLimit)
	select {
	case err = <-t.written:
		t.timer.Stop()
		l.tickets.Put(t)
	case <-t.timer.C:
		err = errors.New("it was not written in time")
	case <-ctx.Done():
		t.timer.Stop()
		err = ctx.Err()
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

func unavailable(cause error) error {
	return &mounts.Error{
		Kind: mounts.Unavailable, RetryAfter: waitLimit,
		Msg: "the audit trail cannot be written right now, and what cannot be recorded is not done: nothing was changed and nothing handed out; try again later",
		Err: fmt.Errorf("audit: %w", cause),
	}
}

var (
	errFull   = errors.New("too many events wait to be written")
	errStuck  = errors.New("a write does not end")
	errClosed = errors.New("the trail is closed")
)

// queue takes a line, or says why not; then it is counted.
func (l *Log) queue(text []byte, t *ticket) error {
	events, bytes := l.events, l.bytes
	if t != nil {
		events, bytes = 2*events, 2*bytes
	}
	l.mu.Lock()
	var err error
	switch {
	case l.closed:
		err = errClosed
	case len(l.waiting.marks) >= events || len(l.waiting.text)+len(text) > bytes:
		err = errFull
	case t != nil && l.stuck():
		err = errStuck
	}
	if err != nil {
		l.failed(1, t)
		l.mu.Unlock()
		return err
	}
	first, before := len(l.waiting.marks) == 0, len(l.waiting.text)
	l.waiting.text = append(l.waiting.text, text...)
	l.waiting.marks = append(l.waiting.marks, mark{len(l.waiting.text), t})
	if first {
		signal(l.wake)
	}
	if t != nil || before < enough && len(l.waiting.text) >= enough || len(l.waiting.marks) == max(1, l.events/2) {
		signal(l.hurry)
	}
	l.mu.Unlock()
	return nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// failed counts n events of a kind that were not written. The caller holds mu.
func (l *Log) failed(n uint64, t *ticket) {
	if l.untold == (loss{}) {
		l.untold.since = time.Now()
	}
	if t != nil {
		l.untold.refused += n
		l.status.Refused += n
		l.metrics.count(0, 0, n)
		return
	}
	l.untold.lost += n
	l.status.Lost += n
	l.metrics.count(0, n, 0)
}

// stuck tells that a write takes longer than anybody waits for it. The caller
// holds mu.
func (l *Log) stuck() bool {
	return !l.writing.IsZero() && time.Since(l.writing) > waitLimit
}

// Status tells how the trail fares, without trying it.
func (l *Log) Status() Status {
	if l == nil {
		return Status{State: OK}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.status
	if s.State == OK && l.stuck() {
		s.State, s.Since, s.Reason = Failing, l.writing, errStuck.Error()
	}
	return s
}

// Reopen opens again what the path names now, as after something else has renamed
// the file. What was recorded before goes to the file before or to the new one. An
// error leaves the file before in use.
func (l *Log) Reopen(ctx context.Context) error {
	if l == nil || l.sink == nil {
		return nil
	}
	reply := make(chan error, 1)
	select {
	case l.reopens <- reply:
	case <-l.done:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what waits, for five seconds at most, and ends. Its error says how
// many events were lost that no line of the trail tells of. Events that are
// recorded afterwards are lost, or refused. Calling it again does no harm.
func (l *Log) Close() error {
	if l == nil || l.sink == nil {
		return nil
	}
	l.mu.Lock()
	again := l.closed
	l.closed = true
	l.mu.Unlock()
	if again {
		return nil
	}
	close(l.closing)
	limit := time.NewTimer(drainLimit)
	defer limit.Stop()
	ended := true
	select {
	case <-l.done:
	case <-limit.C:
		// The write that does not end keeps its goroutine and the file: there is no
		// way to take it back.
		ended = false
	}
	var err error
	if ended {
		err = l.sink.close()
	}
	l.mu.Lock()
	lost := l.untold.lost + uint64(len(l.waiting.marks))
	l.mu.Unlock()
	if !ended {
		return fmt.Errorf("audit: events lost: %d, and those of a write that does not end", lost)
	}
	if lost > 0 {
		return fmt.Errorf("audit: events lost: %d", lost)
	}
	return err
}
