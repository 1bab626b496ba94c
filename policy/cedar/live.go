package cedar

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/policy"
)

const (
	// watchEvery is how often policy files are looked at, by their content: that
	// works on every file system, and with files that are replaced by renaming.
	watchEvery = time.Second
	// settleEvery is how long files must stay as they are before they are read: an
	// editor may be in the middle of writing them. settleRounds is how often that
	// is waited for.
	settleEvery  = 100 * time.Millisecond
	settleRounds = 20
)

// WatchOptions are what a Live is told.
type WatchOptions struct {
	// Logger is told of every change; nil for nobody.
	Logger *slog.Logger
	// OnChange is called after each attempt to put changed policies into effect,
	// with nil or with the reason why those before stay. It must not call the Live.
	OnChange func(err error)
	// Metrics gets icefield_policies, icefield_policy_last_reload_successful and
	// icefield_policy_reloads_total; nil for nobody.
	Metrics prometheus.Registerer
	// Every is how often the files are looked at; zero for once a second.
	Every time.Duration
	// Now is the clock of Status; nil for time.Now.
	Now func() time.Time
}

// The states of a Live.
const (
	StateOK      = "ok"
	StateRefused = "refused"
)

// Live is the set of policies that is in effect: the last that could be read from
// its source. It is safe for concurrent use.
type Live struct {
	opt     WatchOptions
	current atomic.Pointer[Set]
	meters  *meters

	// applying is held while a set is put into effect, so that a reload of files
	// that was begun before a new source was given does not undo it.
	applying sync.Mutex

	mu     sync.Mutex
	state  string
	since  time.Time
	reason string

	stop context.CancelFunc
	done sync.WaitGroup
}

var _ policy.Changing = (*Live)(nil)

// Watch loads the policies of a source and watches its files until Close. It
// fails if they cannot be loaded: then nothing is watched.
func Watch(src Source, opt WatchOptions) (*Live, error) {
	set, err := Load(src)
	if err != nil {
		return nil, err
	}
	return WatchSet(set, opt)
}

// WatchSet is Watch with a set that is loaded already.
func WatchSet(set *Set, opt WatchOptions) (*Live, error) {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.OnChange == nil {
		opt.OnChange = func(error) {}
	}
	if opt.Every <= 0 {
		opt.Every = watchEvery
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &Live{opt: opt, meters: newMeters()}
	if err := l.meters.register(opt.Metrics); err != nil {
		return nil, err
	}
	l.install(set)
	ctx, stop := context.WithCancel(context.Background())
	l.stop = stop
	l.done.Go(func() { l.watch(ctx) })
	return l, nil
}

// Close ends the watching and waits for it. The set in effect goes on deciding.
func (l *Live) Close() error {
	l.stop()
	l.done.Wait()
	l.meters.unregister(l.opt.Metrics)
	return nil
}

// Set is the set that is in effect.
func (l *Live) Set() *Set { return l.current.Load() }

// Now implements policy.Changing.
func (l *Live) Now() policy.Authorizer { return l.Set() }

// Decide implements policy.Authorizer.
func (l *Live) Decide(ctx context.Context, q policy.Question) policy.Decision {
	return l.Set().Decide(ctx, q)
}

// Filter implements policy.Authorizer.
func (l *Live) Filter(ctx context.Context, q policy.Question, resources []policy.Resource) ([]bool, error) {
	return l.Set().Filter(ctx, q, resources)
}

// Uniform implements policy.Authorizer.
func (l *Live) Uniform(ctx context.Context, q policy.Question, parent policy.Resource, kind policy.Kind) (allowed, known bool) {
	return l.Set().Uniform(ctx, q, parent, kind)
}

// Status says since when the policies in effect are those that the files hold
// ("ok"), or are not ("refused") and why, in words for everybody.
func (l *Live) Status() (state string, since time.Time, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.since, l.reason
}

// Replace loads the policies of another source, puts them into effect and watches
// its files from now on. If they cannot be loaded nothing changes, and it is the
// caller's to report.
func (l *Live) Replace(src Source) error {
	set, err := Load(src)
	if err != nil {
		return err
	}
	l.Put(set)
	return nil
}

// Put puts a loaded set into effect and watches the files that it came from: for
// who has to load first, and cannot fail afterwards.
func (l *Live) Put(set *Set) {
	l.applying.Lock()
	defer l.applying.Unlock()
	l.install(set)
	l.log(set.kept)
}

func (l *Live) install(set *Set) {
	l.current.Store(set)
	l.meters.policies.Set(float64(set.Len()))
	if set.kept != nil {
		l.settle(StateRefused, reasonOf(set.kept, "policies before of the tenants whose files they are stay"))
		return
	}
	l.settle(StateOK, "")
}

func (l *Live) settle(state, reason string) {
	l.mu.Lock()
	if l.state != state {
		l.since = l.opt.Now().UTC()
	}
	l.state, l.reason = state, reason
	l.mu.Unlock()
	good := 0.0
	if state == StateOK {
		good = 1
	}
	l.meters.successful.Set(good)
}

// watch looks at the files until ctx ends.
func (l *Live) watch(ctx context.Context) {
	// told is what was refused last, so that it is refused once.
	var told *fingerprint
	var toldOf *Set
	for pause(ctx, l.opt.Every) {
		set := l.Set()
		if toldOf != set {
			told, toldOf = nil, nil
		}
		files := set.source.read()
		now := fingerprintOf(files)
		if now == set.read && told == nil || told != nil && now == *told {
			continue
		}
		for range settleRounds {
			if !pause(ctx, min(settleEvery, l.opt.Every)) {
				return
			}
			files = set.source.read()
			next := fingerprintOf(files)
			still := next == now
			if now = next; still {
				break
			}
		}
		told, toldOf = nil, nil
		if !l.reload(set, files, now) {
			told, toldOf = &now, set
		}
	}
}

// reload puts the files as they were read into effect, in place of set. It
// reports whether there is nothing left to be told of them.
func (l *Live) reload(set *Set, files []file, now fingerprint) bool {
	next := set
	var err error
	if now != set.read { // otherwise they are again what is in effect
		next, err = compile(set.vocabulary, set.source, files, set)
	}
	l.applying.Lock()
	defer l.applying.Unlock()
	if l.Set() != set {
		return true // another source was given meanwhile
	}
	if err != nil {
		l.refuse(err)
		return false
	}
	l.install(next)
	if next.kept != nil {
		l.log(next.kept)
		l.meters.reloads.WithLabelValues("refused").Inc()
		l.opt.Logger.Warn("the policies were read again and are in effect, but for those of tenants whose files are at fault", "policies", next.Len())
		l.opt.OnChange(next.kept)
		return true
	}
	l.meters.reloads.WithLabelValues("applied").Inc()
	l.opt.Logger.Info("the policies were read again and are in effect", "policies", next.Len())
	l.opt.OnChange(nil)
	return true
}

func (l *Live) refuse(err error) {
	reason := "the policy files cannot be put into effect, and the policies before stay; the server's log says why"
	var problems *Problems
	if errors.As(err, &problems) {
		reason = reasonOf(problems, "policies before stay")
		l.log(problems)
	}
	l.opt.Logger.Error("the policies are refused, and those before stay in effect", "error", firstLine(err))
	l.settle(StateRefused, reason)
	l.meters.reloads.WithLabelValues("refused").Inc()
	l.opt.OnChange(err)
}

// reasonOf says in words for everybody that files are at fault, and what stays.
func reasonOf(problems *Problems, stays string) string {
	mistakes := "a mistake"
	if n := len(problems.Findings) + problems.More; n != 1 {
		mistakes = fmt.Sprintf("%d mistakes", n)
	}
	return fmt.Sprintf("the policy files have %s, and the %s; \"icefield policy check\" and the server's log say where", mistakes, stays)
}

// log writes down what is wrong; nothing if nothing is.
func (l *Live) log(problems *Problems) {
	if problems == nil {
		return
	}
	for _, f := range problems.Findings {
		l.opt.Logger.Error("policy: "+f.Problem, "at", f.place())
	}
}

// firstLine is the first of what is wrong; the others were told one by one.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// pause waits; false once ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
