package wrap

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/mounts"
)

// cache keeps the answers to reads and lets identical reads share calls.
//
// A table that is held is asked for again with the tag that it came with, and
// only if the backend says that it is as it was is the held answer given (or, to
// a client that has that tag itself, the word that nothing changed). Within the
// ttl nothing is asked. What has no tag (views, namespaces, listings, existence)
// is held only where a ttl or stale_if_down makes use of it.
//
// A change made through this mount drops what is held of the objects that it
// touches, however it ended, and keeps answers that were under way from being
// held; one whose outcome is unknown also suspends the ttl of the whole mount
// for as long as it may still come into effect. An answer that says no (absent,
// forbidden) drops what is held too.
//
// While the backend cannot be reached, an answer confirmed no longer ago than
// stale_if_down allows is given and marked with Scope.MarkStale.
//
// Nothing that gives access to storage is held or shared: see identify.
type cache struct {
	opt     CacheOptions
	reads   *reads // always there, to know what is under way
	counts  cacheCounts
	unknown time.Duration // how long a change of unknown outcome may take

	mu   sync.Mutex
	held *answers
	// suspended is until when the ttl does not count, nor afterwards for what was
	// confirmed before, in Unix nanoseconds.
	suspended atomic.Int64
}

// cacheCounts are told how reads were answered.
type cacheCounts struct{ hit, miss, confirmed, stale, joined func() }

func newCache(opt CacheOptions, owner *calls, unknown time.Duration, counts cacheCounts) *cache {
	c := &cache{opt: opt, counts: counts, unknown: unknown, held: newAnswers(opt.Size)}
	c.reads = newReads(c.send, owner, counts.joined)
	return c
}

// on reports whether the options ask for anything.
func (o CacheOptions) on() bool { return o.Size > 0 || o.Coalesce }

func (c *cache) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	if changes(req) {
		scope := touched(req)
		if len(scope.objects) == 0 {
			return next(ctx, req)
		}
		outcome := error(errNotSent)
		defer func() { c.changed(scope, outcome) }()
		var resp mounts.Response
		resp, outcome = next(ctx, req)
		return resp, outcome
	}
	id, use := c.identify(ctx, req)
	if use == asIs {
		resp, err := next(ctx, req)
		if err != nil {
			c.missed(ctx, req, err)
		}
		return resp, err
	}
	if use == kept && c.opt.TTL > 0 {
		if e := c.fresh(id); e != nil {
			c.counts.hit()
			return e.answer(req), nil
		}
	}
	resp, err := c.ask(ctx, id, use, req, next)
	if err != nil {
		if use == kept && c.opt.StaleIfDown > 0 && unreached(ctx, err) {
			if e := c.stale(id, req); e != nil {
				c.counts.stale()
				mounts.CallerFrom(ctx).Scope.MarkStale()
				return e.answer(req), nil
			}
		}
		return nil, err
	}
	if e, held := resp.(*entry); held {
		return e.answer(req), nil
	}
	return resp, nil
}

// ask makes a call or shares one. What is or may be in other hands too comes as
// an *entry.
func (c *cache) ask(ctx context.Context, id identity, use reuse, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	f := &flight{id: id, use: use, req: req, next: next}
	if c.opt.Coalesce {
		return c.reads.do(ctx, f)
	}
	return c.reads.single(ctx, f)
}

// send is the call of a flight: the request, with the tag of what is held.
func (c *cache) send(ctx context.Context, f *flight) (mounts.Response, bool, error) {
	if f.use != kept {
		resp, err := f.next(ctx, f.req)
		if err == nil && f.done != nil {
			return newEntry(f.id, resp, time.Now()), false, nil
		}
		return resp, false, err
	}
	base := c.look(f.id)
	sent := time.Now()
	resp, err := f.next(ctx, tagged(f.req, base))
	if t, is := resp.(*mounts.Table); err == nil && is && t.NotModified {
		if base != nil && (t.ETag == "" || tagListed(base.tag, t.ETag)) {
			c.counts.confirmed()
			base.confirm(sent)
			c.hold(f, base)
			return base, c.young(base), nil
		}
		// It means a tag that was not asked about.
		sent = time.Now()
		resp, err = f.next(ctx, tagged(f.req, nil))
	}
	if err != nil {
		if denied(err) {
			c.deny(f.id)
		}
		return nil, false, err
	}
	c.counts.miss()
	if !keepable(resp) {
		c.drop(f.id)
		if f.done == nil {
			return resp, false, nil
		}
		return newEntry(f.id, resp, sent), false, nil
	}
	e := newEntry(f.id, resp, sent)
	c.hold(f, e)
	return e, c.young(e), nil
}

// tagged is the request with the tag of what is held in the place of the
// client's own, which is compared when the answer is there: so that one answer
// does for clients that hold different ones.
func tagged(req mounts.Request, base *entry) mounts.Request {
	r, is := req.(*mounts.LoadTableRequest)
	if !is {
		return req
	}
	tag := ""
	if base != nil {
		tag = base.tag
	}
	if r.IfNoneMatch == tag && r.Delegation == "" {
		return r
	}
	out := *r
	out.IfNoneMatch, out.Delegation = tag, ""
	return &out
}

func (c *cache) look(id identity) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.get(id)
}

func (c *cache) drop(id identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.drop(id)
}

// deny drops what an answer that says no is about: what was asked for, and in
// whichever other way a table was asked for.
func (c *cache) deny(id identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held.drop(id)
	if !id.ofTable() {
		return
	}
	for other := range c.held.about(id.object) {
		if other.ofTable() && other.caller == id.caller {
			c.held.drop(other)
		}
	}
}

// missed takes note of a table that is absent, of a read whose answer would not
// have been held: other reads of it are not answered by what is.
func (c *cache) missed(ctx context.Context, req mounts.Request, err error) {
	switch mounts.AsError(err).Kind {
	case mounts.NoSuchTable, mounts.NoSuchNamespace, mounts.MetadataMissing:
	default:
		return
	}
	var table mounts.Identifier
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		table = r.Table
	case *mounts.LoadCredentialsRequest:
		table = r.Table
	default:
		return
	}
	if id, use := c.identify(ctx, &mounts.LoadTableRequest{Table: table}); use != asIs {
		c.deny(id)
	}
}

// hold keeps an answer that is of use, unless its object was changed after the
// call was sent.
func (c *cache) hold(f *flight, e *entry) {
	if e.tag == "" && c.opt.TTL <= 0 && c.opt.StaleIfDown <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reads.isOutdated(f) {
		c.held.put(f.id, e)
	}
}

// bytes is what is held.
func (c *cache) bytes() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.held.bytes
}

// fresh is the entry that needs no confirmation.
func (c *cache) fresh(id identity) *entry {
	e := c.look(id)
	if e == nil || !c.young(e) {
		return nil
	}
	return e
}

func (c *cache) young(e *entry) bool {
	return e.age(time.Now()) < c.opt.TTL && e.right.Load() >= c.suspended.Load()
}

// stale is an entry for while the backend is down. That a table is held answers
// whether it exists too.
func (c *cache) stale(id identity, req mounts.Request) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if e := c.held.get(id); e != nil && e.age(now) <= c.opt.StaleIfDown {
		return e
	}
	if _, exists := req.(*mounts.TableExistsRequest); !exists {
		return nil
	}
	for other, e := range c.held.about(id.object) {
		if _, table := e.resp.(*mounts.Table); table && other.caller == id.caller && e.age(now) <= c.opt.StaleIfDown {
			return &entry{}
		}
	}
	return nil
}

// changed drops what a change made out of date.
func (c *cache) changed(scope scope, outcome error) {
	if errors.Is(outcome, mounts.ErrOutcomeUnknown) {
		c.suspended.Store(time.Now().Add(c.unknown).UnixNano())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads.outdate(scope)
	c.held.dropScope(scope)
}

// unreached reports an error for which an older answer may be given: the backend
// was not asked, or did not answer. One that answered, be it with a refusal, is
// not down; a caller that left wants no answer.
func unreached(ctx context.Context, err error) bool {
	if abandoned(ctx) {
		return false
	}
	e := mounts.AsError(err)
	switch e.Kind {
	case mounts.Unavailable, mounts.Timeout:
		return true
	case mounts.BadGateway:
		return !e.Answered
	}
	return false
}

// denied reports an answer after which what is held must not be given any more.
func denied(err error) bool {
	switch mounts.AsError(err).Kind {
	case mounts.NoSuchNamespace, mounts.NoSuchTable, mounts.NoSuchView, mounts.MetadataMissing,
		mounts.Forbidden, mounts.Unauthenticated, mounts.UnsupportedOperation:
		return true
	}
	return false
}
