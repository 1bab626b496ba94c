package rest

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

const (
	// defaultRefresh is how old the remote's settings may get.
	defaultRefresh = 5 * time.Minute
	// signGap is how long after asking the remote for its settings a sign that
	// they are old is not followed: a remote that says 404 to everything is not
	// asked at the rate of its callers.
	signGap = 5 * time.Second
	// signRun is how many refusals in a row of one route that the remote
	// advertises are a sign.
	signRun = 3
)

// renewal keeps the settings current: a goroutine asks again from time to time,
// and calls that meet signs of a change ask at once.
type renewal struct {
	every time.Duration // how old settings may get
	gap   time.Duration // signGap, but for tests

	// turn is held by whoever is asking; asked is when that was last.
	turn  chan struct{}
	asked time.Time

	stop context.CancelFunc
	done sync.WaitGroup
}

// keepCurrent starts the goroutine. Close ends it.
func (b *Backend) keepCurrent() {
	ctx, stop := context.WithCancel(context.Background())
	b.renewal.stop = stop
	b.renewal.done.Go(func() {
		failures := 0
		for {
			timer := time.NewTimer(jitter(backoff(b.renewal.every, failures)))
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			_, err := b.renew(ctx, nil)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil && b.config.Auth.PerCaller() && errors.Is(err, mounts.BadGateway) && mounts.AsError(err).Answered:
				// It tells its settings to callers only: they ask (outdated).
				failures = 0
			case err != nil:
				if failures++; failures == 1 {
					b.config.Logger.Warn("the remote catalog does not tell its settings; the last ones are kept", slog.Any("error", err))
				}
			case failures > 0:
				failures = 0
				b.config.Logger.Info("the remote catalog tells its settings again")
			}
		}
	})
}

// backoff is when to ask again: regularly, sooner after a failure, then less and
// less.
func backoff(every time.Duration, failures int) time.Duration {
	if failures == 0 {
		return every
	}
	return min(every, every/16<<min(failures, 5))
}

// jitter spreads the times of replicas that started together.
func jitter(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d)/5+1)) // #nosec G404 -- spreads requests over time; to guess it gains nothing
}

// renew asks the remote for its settings, in the name of the context's caller,
// and returns what holds from now on. There is one such call at a time. With
// seen, the settings that seem to be old, it does not ask if others have replaced
// those since, or asked a moment ago (but not for provisional ones: the caller
// before may have been refused). Settings that are as before stay the same
// pointer.
func (b *Backend) renew(ctx context.Context, seen *settings) (*settings, error) {
	r := &b.renewal
	select {
	case r.turn <- struct{}{}:
		defer func() { <-r.turn }()
	case <-ctx.Done():
		return nil, callerGone(ctx)
	}
	old := b.current()
	if seen != nil && (old != seen || time.Since(r.asked) < r.gap && !old.provisional) {
		return old, nil
	}
	said, err := negotiate(ctx, b.client, b.config)
	if ctx.Err() == nil {
		r.asked = time.Now()
	}
	if err != nil {
		return old, err
	}
	said.told.Store(time.Now().UnixNano())
	if said.same(old) {
		old.told.Store(said.told.Load())
		old.forget()
		return old, nil
	}
	said.announce(b.config.Logger, old)
	b.known.Store(said)
	return said, nil
}

// do makes a catalog call. When the answer looks as if the settings were old, it
// has them renewed; a read is then made once more under the new ones, if they
// are others.
func (b *Backend) do(ctx context.Context, c call) (*answer, error) {
	if c.at.provisional {
		fresh, err := b.renew(ctx, c.at)
		if err != nil {
			return nil, about(err, c)
		}
		if c, err = c.under(fresh); err != nil {
			return nil, err
		}
	} else if b.outdated(c.at) {
		_, _ = b.renew(ctx, c.at) // what comes of it serves the next call
	}
	a, err := b.client.do(ctx, c)
	if err != nil || !c.at.notice(c, a) {
		return a, err
	}
	fresh, err := b.renew(ctx, c.at)
	if err != nil || fresh == c.at || c.op.Row().Class != capabilities.Read {
		return a, nil
	}
	again, err := c.under(fresh)
	if err != nil {
		return a, nil
	}
	return b.client.do(ctx, again)
}

// outdated reports settings that only callers can have renewed, and that are
// due.
func (b *Backend) outdated(s *settings) bool {
	return b.config.Auth.PerCaller() && time.Since(time.Unix(0, s.told.Load())) > 2*b.renewal.every
}

// under is the same call under other settings.
func (c call) under(s *settings) (call, error) {
	rest, ok := strings.CutPrefix(c.url, c.at.root)
	switch {
	case !s.can.Has(c.op):
		return c, &mounts.Error{Kind: mounts.UnsupportedOperation, Op: c.op, Ident: c.object, To: c.to}
	case !ok || s.separator != c.at.separator:
		// Names are spelt otherwise now. That happens about never.
		return c, &mounts.Error{Kind: mounts.Unavailable, Op: c.op, Ident: c.object, To: c.to, RetryAfter: time.Second,
			Msg: "the remote catalog has just told new settings; nothing was sent, try again"}
	}
	c.url, c.at = s.root+rest, s
	return c, nil
}

// notice learns from an answer, and reports one that is a sign of old settings:
// a 404 about the warehouse, the prefix or the route, or the latest of a run of
// refusals of a route that the remote advertises.
func (s *settings) notice(c call, a *answer) bool {
	head := c.method == http.MethodHead
	switch a.status {
	case http.StatusNotFound:
		if head {
			return false // nothing tells what it is about
		}
		said, shaped := readRefusal(a)
		if !shaped || said.aboutCatalog() || c.object.IsZero() {
			return true
		}
	case http.StatusMethodNotAllowed, http.StatusNotImplemented:
		if head {
			s.learnt.headless.Store(true)
			return false
		}
		return s.has.Has(c.op) && s.learnt.refused[c.op].Add(1)%signRun == 0
	case http.StatusBadRequest:
		if depth := s.unnested(c, a); depth > 0 {
			s.learnt.levels.Store(int32(depth)) // #nosec G115 -- the levels of a namespace that went into a URL: far fewer than 2^31
		}
	}
	if run := &s.learnt.refused[c.op]; !head && run.Load() != 0 {
		run.Store(0)
	}
	return false
}
