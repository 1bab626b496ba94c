package wrap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/icefield/icefield/mounts"
)

// BreakerOptions say when calls to a mount that cannot be reached are refused
// without being sent.
type BreakerOptions struct {
	// Failures is how many reachability failures in a row open the breaker;
	// 0 means 5.
	Failures int
	// OpenFor is how long it then stays open before one call is let through to
	// try; 0 means 15s.
	OpenFor time.Duration
}

// breaker refuses calls to a mount that was not reachable several times in a
// row. Only reachability failures count: no connection, no answer in time, a
// failing remote, an answer that is not the protocol. An answer that says no is
// an answer.
type breaker struct {
	opt  BreakerOptions
	fair time.Duration
	// refused and answered are told of calls that were not sent, and of those
	// that the backend answered.
	refused, answered func()

	logger *slog.Logger
	gate   atomic.Pointer[gate]
	// failure is the last one that counted, for the log.
	failure atomic.Pointer[mounts.Error]

	mu sync.Mutex // of recovered
	// doubted is set when calls failed although a probe had succeeded: then
	// probes are no evidence until a call succeeds.
	doubted atomic.Bool
}

// gate is one life of the breaker, from closed to closed again.
type gate struct {
	cb *gobreaker.CircuitBreaker[struct{}]
	// until is when the open breaker lets a call through, in Unix nanoseconds.
	until atomic.Int64
	// probation: closed on the word of a probe; the first failure opens it.
	probation atomic.Bool
}

// What a call tells the gobreaker.
var (
	errCounts    = errors.New("a reachability failure")
	errNoVerdict = errors.New("says nothing about reachability")
)

// newBreaker: a call that its caller's own deadline ended counts only if the
// backend had at least fair to answer.
func newBreaker(opt BreakerOptions, fair time.Duration, logger *slog.Logger, refused, answered func()) *breaker {
	if opt.Failures <= 0 {
		opt.Failures = 5
	}
	if opt.OpenFor <= 0 {
		opt.OpenFor = 15 * time.Second
	}
	b := &breaker{opt: opt, fair: fair, refused: refused, answered: answered, logger: logger}
	b.gate.Store(b.newGate(false))
	return b
}

func (b *breaker) newGate(probation bool) *gate {
	g := &gate{}
	g.probation.Store(probation)
	g.cb = gobreaker.NewCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: 1,
		Timeout:     b.opt.OpenFor,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return g.probation.Load() || int64(c.ConsecutiveFailures) >= int64(b.opt.Failures)
		},
		IsSuccessful: func(err error) bool { return err == nil },
		IsExcluded:   func(err error) bool { return errors.Is(err, errNoVerdict) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				g.until.Store(time.Now().Add(b.opt.OpenFor).UnixNano())
				if g.probation.Load() {
					b.doubted.Store(true)
				}
			}
			attrs := []any{"from", from.String(), "to", to.String()}
			if why := b.failure.Load(); why != nil && to == gobreaker.StateOpen {
				attrs = append(attrs, "error", why)
			}
			b.logger.Warn("breaker changed its state", attrs...)
		},
	})
	return g
}

func (b *breaker) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (resp mounts.Response, err error) {
	g, start, asked := b.gate.Load(), time.Now(), false
	_, refusal := g.cb.Execute(func() (struct{}, error) {
		asked = true
		resp, err = next(ctx, req)
		return struct{}{}, b.verdict(ctx, g, start, err)
	})
	if asked {
		return resp, err
	}
	b.refused()
	wait := time.Second
	if errors.Is(refusal, gobreaker.ErrOpenState) {
		wait = max(wait, time.Until(time.Unix(0, g.until.Load())))
	}
	return nil, &mounts.Error{Kind: mounts.Unavailable, RetryAfter: wait, Err: fmt.Errorf("%w: %w", errNotSent, refusal),
		Msg: "not reachable the last times it was tried, so nothing is sent to it for the moment; try again later"}
}

// verdict is what the end of a call says about the backend's reachability.
func (b *breaker) verdict(ctx context.Context, g *gate, start time.Time, err error) error {
	if err == nil {
		b.trust(g)
		return nil
	}
	if notSent(err) || abandoned(ctx) || ctx.Err() != nil && time.Since(start) < b.fair {
		return errNoVerdict
	}
	e := mounts.AsError(err)
	if e.Answered {
		b.settle(g)
		if e.Kind != mounts.Unavailable { // reachable, but of no use yet: up is what the probe says
			b.answered()
		}
		return nil
	}
	switch e.Kind {
	case mounts.Unavailable, mounts.BadGateway, mounts.Timeout:
		b.failure.Store(e)
		return errCounts
	case mounts.NoSuchNamespace, mounts.NoSuchTable, mounts.NoSuchView, mounts.NoSuchPlan, mounts.NoSuchPlanTask, mounts.NoSuchFunction,
		mounts.AlreadyExists, mounts.NamespaceNotEmpty, mounts.CommitConflict,
		mounts.Forbidden, mounts.RateLimited, mounts.MetadataMissing:
		b.trust(g)
		return nil
	}
	// The rest may have been said without asking what is behind the backend.
	return errNoVerdict
}

// trust takes note of an answer.
func (b *breaker) trust(g *gate) {
	b.answered()
	b.settle(g)
}

// settle ends what doubts there were that calls are answered at all.
func (b *breaker) settle(g *gate) {
	if g.probation.Load() {
		g.probation.Store(false)
	}
	if b.doubted.Load() {
		b.doubted.Store(false)
	}
}

// recovered closes the breaker early: a probe succeeded. It closes on
// probation, and not at all when the last such word proved wrong, so that a
// remote whose probe works and whose calls do not is left in peace for OpenFor.
func (b *breaker) recovered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gate.Load().cb.State() == gobreaker.StateClosed || b.doubted.Load() {
		return
	}
	b.gate.Store(b.newGate(true))
	b.logger.Info("breaker closed, since a probe succeeded")
}

func (b *breaker) state() gobreaker.State { return b.gate.Load().cb.State() }
