package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// maxRuns bounds how often a closure is run again after lost races.
const maxRuns = 60

// minLosses is how often a transaction tries to reach a database that others
// could not reach for long: connections that broke meanwhile may be in the pool.
const minLosses = 3

// outage is since when the database cannot be reached, by whichever transaction:
// the first ones wait for it to come back, those that come when it was away for
// long are told so soon.
type outage struct {
	mu          sync.Mutex
	since, last time.Time
}

// forgotten is after how long without any failure, and so without anybody who
// tried, an outage begins anew.
const forgotten = time.Minute

// lasts notes a failure and says how long there was nothing else.
func (o *outage) lasts() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.since.IsZero() || now.Sub(o.last) > forgotten {
		o.since = now
	}
	o.last = now
	return now.Sub(o.since)
}

// over notes an answer.
func (o *outage) over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.since = time.Time{}
}

// attempt is one run of a transaction. final says that err, or nil, is the
// answer; else nothing was done, and fateOf(err) says what next.
type attempt func(careful bool) (final bool, err error)

// try runs a transaction until it has an answer.
func (s *Store) try(ctx context.Context, run attempt) error {
	looking, runs, losses := false, 0, 0
	var first time.Time // when the database was first lost
	for pause := 0; ; runs++ {
		final, err := run(looking)
		if final {
			return err
		}
		if done := ended(ctx); done != nil {
			return done
		}
		fate := fateOf(err)
		if fate != broken {
			losses = 0
		}
		var wait time.Duration
		switch {
		case errors.Is(err, errNoRoom):
			return s.unavailable("every connection of the pool was in use for too long; raise pool_max_conns in the URL, or look at what keeps the database", err)
		case fate == renamed:
			s.unnamed.Store(true)
		case fate == careful && looking && isCode(err, "55P03"):
			return s.unavailable("a lock was held for too long by another transaction", err)
		case fate == careful && !looking:
			looking = true
		case fate == careful, fate == conflict:
			pause++
			wait = time.Millisecond << min(pause, 7)
		case fate == broken:
			if losses == 0 {
				pause, first = 0, time.Now()
			}
			losses++
			down := s.outage.lasts()
			if time.Since(first) > s.limits.patience || down > s.limits.patience && losses >= minLosses {
				return s.unavailable("the database could not be reached for "+s.limits.patience.String(), err)
			}
			pause++
			wait, runs = 10*time.Millisecond<<min(pause, 6), 0
		case fate == full:
			return s.unavailable(refusal(err), err)
		default:
			return fmt.Errorf("postgres: %s: %w", s.place, err)
		}
		if runs >= maxRuns {
			return s.unavailable("other transactions were faster too often", err)
		}
		if wait > 0 {
			if done := sleep(ctx, wait/2+rand.N(wait)); done != nil { // #nosec G404 -- spreads retries over time; nothing depends on its being unguessable
				return done
			}
		}
	}
}

func isCode(err error, code string) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && said.Code == code
}

// sleep returns the error of a context that ended meanwhile.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}
