package audit

import (
	"errors"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// writer is what the goroutine that writes knows.
type writer struct {
	// torn tells that the last line at the sink is not whole, so that the next has
	// to begin with a newline.
	torn  bool
	spare batch
	lead  []byte
	// watch says so if a write does not end.
	watch *time.Timer
	// told is when the log was last told that events are lost.
	told time.Time
}

// run writes what waits until the log is closed and nothing waits any more.
func (l *Log) run() {
	defer close(l.done)
	l.writer.watch = time.AfterFunc(time.Hour, l.cry)
	defer l.writer.watch.Stop()
	retry := time.NewTimer(retryEvery)
	defer retry.Stop()
	linger := time.NewTimer(lingers)
	defer linger.Stop()
	for {
		select {
		case <-l.wake: // meanwhile
			l.gather(linger)
		default:
		}
		b, untold, closed := l.take()
		if len(b.marks) > 0 {
			l.write(b)
			l.giveBack(b)
			continue
		}
		if closed {
			if untold {
				_ = l.tell() // settle has told of an error
			}
			return
		}
		var again <-chan time.Time
		if untold {
			retry.Reset(retryEvery)
			again = retry.C
		}
		select {
		case <-l.wake:
			l.gather(linger)
		case reply := <-l.reopens:
			reply <- l.sink.reopen()
		case <-again:
			_ = l.tell() // settle has told of an error
		case <-l.closing:
		}
	}
}

// gather lets events come together for a moment, so that many share one write,
// unless somebody waits for one of them or there is much to write already.
func (l *Log) gather(linger *time.Timer) {
	linger.Reset(lingers)
	select {
	case <-linger.C:
	case <-l.hurry:
	case <-l.closing:
	}
}

// take takes what waits.
func (l *Log) take() (b batch, untold, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting.marks) > 0 {
		b = l.waiting
		l.waiting, l.writer.spare = l.writer.spare, batch{}
		empty(l.wake)
		empty(l.hurry)
	}
	return b, l.untold != (loss{}) || l.status.State == Failing, l.closed
}

func empty(c chan struct{}) {
	select {
	case <-c:
	default:
	}
}

// giveBack keeps the room of a batch for the next but one, unless a flood made it
// large.
func (l *Log) giveBack(b batch) {
	clear(b.marks)
	if cap(b.text) <= 1<<20 {
		l.writer.spare = batch{b.text[:0], b.marks[:0]}
	}
}

// write writes a batch, as many whole lines at a time as the sink takes.
func (l *Log) write(b batch) {
	for from := 0; len(b.marks) > 0; {
		n := 1
		for n < len(b.marks) && b.marks[n].end-from <= l.sink.group() {
			n++
		}
		end := b.marks[n-1].end
		l.writeLines(b.text[from:end], from, b.marks[:n])
		from, b.marks = end, b.marks[n:]
	}
}

// writeLines writes lines and tells those who wait. from is where text begins in
// its batch.
func (l *Log) writeLines(text []byte, from int, marks []mark) {
	var n int
	err := l.tell()
	if err == nil {
		n, err = l.put(text)
	}
	// After a short write the lines that are wholly there are written: to report
	// them as not would have the same thing done and recorded twice.
	whole := 0
	for whole < len(marks) && marks[whole].end-from <= n {
		whole++
	}
	l.settle(marks, whole, err)
	for i, m := range marks {
		switch {
		case m.ticket == nil:
		case i < whole:
			m.ticket.written <- nil
		default:
			m.ticket.written <- err
		}
	}
}

// tell writes what has to stand before the next line: the end of a torn one, and
// how many events are missing.
func (l *Log) tell() error {
	l.mu.Lock()
	told, failing := l.untold, l.status.State == Failing
	l.mu.Unlock()
	lead := l.writer.lead[:0]
	if l.writer.torn {
		lead = append(lead, '\n')
	}
	if told != (loss{}) {
		lead = appendLoss(lead, time.Now(), told.lost, told.refused, told.since)
	}
	if l.writer.lead = lead; len(lead) == 0 {
		return nil
	}
	_, err := l.put(lead)
	if err == nil {
		l.mu.Lock()
		l.untold.lost -= told.lost
		l.untold.refused -= told.refused
		if l.untold.since = time.Now(); l.untold.lost == 0 && l.untold.refused == 0 {
			l.untold = loss{}
		}
		l.mu.Unlock()
	}
	if err != nil || failing {
		l.settle(nil, 0, err)
	}
	return err
}

// put is one write.
func (l *Log) put(p []byte) (int, error) {
	l.mu.Lock()
	l.writing = time.Now()
	l.mu.Unlock()
	l.writer.watch.Reset(waitLimit)
	n, err := l.sink.write(p)
	l.writer.watch.Stop()
	l.mu.Lock()
	l.writing = time.Time{}
	l.mu.Unlock()
	if n > 0 {
		l.writer.torn = p[n-1] != '\n'
	}
	if n == len(p) {
		return n, nil
	}
	return n, err
}

// cry tells of a write that does not end.
func (l *Log) cry() {
	l.metrics.health(false)
	l.logger.Error("the audit trail cannot be written", slog.String("reason", errStuck.Error()))
}

// settle counts, and says what has changed.
func (l *Log) settle(marks []mark, whole int, err error) {
	now := time.Now()
	written := uint64(whole) // #nosec G115 -- counts elements of marks: never negative
	l.mu.Lock()
	l.status.Written += written
	l.metrics.count(written, 0, 0)
	for _, m := range marks[whole:] {
		l.failed(1, m.ticket)
	}
	was := l.status.State
	if err != nil {
		if l.status.State, l.status.Reason = Failing, reason(err); was == OK {
			l.status.Since = now
		}
	} else if l.status.State, l.status.Reason = OK, ""; was == Failing {
		l.status.Since = now
	}
	status, untold := l.status, l.untold
	l.mu.Unlock()

	l.metrics.health(err == nil)
	again := now.Sub(l.writer.told) >= remindEvery
	switch {
	case err != nil && (was == OK || again):
		l.writer.told = now
		consequence := "events are lost until it can"
		if l.failClosed {
			consequence = "changes, and access to storage, are refused until it can (fail_closed)"
		}
		l.logger.Error("the audit trail cannot be written: "+consequence, "lost", status.Lost, "refused", status.Refused, "reason", status.Reason)
	case err == nil && was == Failing:
		l.logger.Warn("the audit trail can be written again", "lost", status.Lost, "refused", status.Refused)
	case err == nil && untold.lost > 0 && again:
		l.writer.told = now
		l.logger.Warn("events of the audit trail are lost: they come faster than they can be written", "lost", status.Lost)
	}
}

// reason is the cause in the system's words, without a path.
func reason(err error) string {
	var number syscall.Errno
	switch {
	case errors.Is(err, errGone):
		return errGone.Error()
	case errors.As(err, &number):
		return number.Error()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "nobody reads the pipe"
	}
	return "the write failed"
}
