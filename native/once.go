package native

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// DefaultKeyLifetime is how long an operator who says nothing has keys honoured.
const DefaultKeyLifetime = 30 * time.Minute

// Idempotent is the registry with the REST spec's Idempotency-Key: a change that
// carries one (mounts.Caller.Once) is made at most once within
// Config.KeyLifetime, and its outcome is given again to whoever sends it again.
// Closing either closes both.
//
// The outcome of a change is written in the store transaction that makes it, so
// there is no moment, and no other replica, for which the change is made and
// not remembered. Remembered are successes, and refusals that are certain and
// the registry's own (what the wire calls 400, 404, 409 and 422). What may
// succeed later, and what nobody knows the outcome of, is tried again.
//
// In this process a request waits for another one with its key. On two replicas
// both work, one transaction wins, and the other's request is undone and
// answered with the winner's outcome.
func (b *Backend) Idempotent() mounts.Backend {
	return keyed{mounts.Around(b, b.once), b.lifetime, b}
}

// keyed says of the registry that it honours keys.
type keyed struct {
	mounts.Backend
	lifetime time.Duration
	registry *Backend
}

// KeyLifetime implements mounts.Backend.
func (k keyed) KeyLifetime() time.Duration { return k.lifetime }

// claim is one request's claim on its key, in its context.
type claim struct {
	key         store.ReceiptKey
	fingerprint [32]byte
	// lost says that another replica answered a request with this key while this
	// one was at work; nothing of this one is done.
	lost bool
}

type claimKey struct{}

func claimFrom(ctx context.Context) *claim {
	c, _ := ctx.Value(claimKey{}).(*claim)
	return c
}

// receiptKey digests who asks and the key.
func receiptKey(principal, key string) store.ReceiptKey {
	text := binary.AppendUvarint([]byte("icefield receipt 1\x00"), uint64(len(principal)))
	return sha256.Sum256(append(append(text, principal...), key...))
}

// maxClaims bounds how often a request that lost to another replica looks for
// the winner's outcome, which can only be missing if it expired meanwhile.
const maxClaims = 3

// once is the interceptor of Idempotent.
func (b *Backend) once(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	caller := mounts.CallerFrom(ctx)
	if caller.Once == nil || b.lifetime <= 0 || !capabilities.Changes().Has(req.Op()) {
		return next(ctx, req)
	}
	c := &claim{key: receiptKey(caller.Principal, caller.Once.Key), fingerprint: caller.Once.Fingerprint}
	leave, err := b.flights.enter(ctx, c.key)
	if err != nil {
		return nil, fail(req, stillAtWork(err))
	}
	defer leave()
	for range maxClaims {
		out, err := b.remembered(ctx, c)
		if err != nil {
			return nil, fail(req, err)
		}
		if out != nil {
			return b.replay(ctx, req, out)
		}
		c.lost = false
		claimed := context.WithValue(ctx, claimKey{}, c)
		resp, err := next(claimed, req)
		if refusal := certain(err); refusal != nil && !c.lost {
			// Its own transaction will do: nothing was changed.
			_ = b.keep(claimed, refused(refusal))
		}
		if !c.lost {
			return resp, err
		}
	}
	return nil, fail(req, stillAtWork(nil))
}

// stillAtWork is the answer to a request whose predecessor is not done. It is
// never a conflict: to a commit that would mean that nothing was committed.
func stillAtWork(cause error) *mounts.Error {
	return &mounts.Error{Kind: mounts.Unavailable, RetryAfter: time.Second, Answered: true, Err: cause,
		Msg: "a request with the same Idempotency-Key is still being worked on; send this one again, with its key, to learn its outcome"}
}

// remembered is the outcome of an earlier request with the claim's key, nil for
// none. Unprocessable if that was another request.
func (b *Backend) remembered(ctx context.Context, c *claim) (*outcome, error) {
	var r store.Receipt
	err := b.store.View(ctx, func(tx store.Tx) (err error) {
		r, err = tx.Receipt(c.key)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !r.Expires.After(b.now()):
		return nil, nil
	case err != nil:
		return nil, err
	case r.Fingerprint != c.fingerprint:
		return nil, &mounts.Error{Kind: mounts.Unprocessable,
			Msg: "this Idempotency-Key was used for another request, so this one was not carried out; give every request a key of its own"}
	}
	return decodeOutcome(r.Outcome)
}

// errLost ends a transaction whose request another replica answered meanwhile.
var errLost = errors.New("native: another replica answered this request")

// update runs f in a store transaction, as store.Update does, and remembers in
// the same one, under the request's Idempotency-Key if it has any, what f
// returns. Every change runs through it, and succeeds in it once a request. f may
// run again. An outcome over store.MaxOutcome is not remembered: the change,
// sent again, is worked on again, which for the few that can be so large (a
// staged create, the properties of a namespace) makes nothing twice.
func (b *Backend) update(ctx context.Context, f func(tx store.Tx) (outcome, error)) error {
	c := claimFrom(ctx)
	err := b.store.Update(ctx, func(tx store.Tx) error {
		out, err := f(tx)
		if err != nil || c == nil {
			return err
		}
		now := b.now()
		text := out.encode()
		if len(text) > store.MaxOutcome {
			return nil
		}
		err = tx.PutReceipt(store.Receipt{Key: c.key, Fingerprint: c.fingerprint, Outcome: text, Created: now, Expires: now.Add(b.lifetime)}, now)
		if errors.Is(err, store.ErrExists) {
			return errLost
		}
		return err
	})
	if errors.Is(err, errLost) {
		c.lost = true
	}
	return err
}

// keep remembers the outcome of a request that changed nothing. The only error
// is that another replica was faster, and its outcome counts: any other failure
// costs no more than that the request, sent again, is worked on again.
func (b *Backend) keep(ctx context.Context, out outcome) error {
	if claimFrom(ctx) == nil {
		return nil
	}
	err := b.update(ctx, func(store.Tx) (outcome, error) { return out, nil })
	if err != nil && !errors.Is(err, errLost) {
		b.log.WarnContext(ctx, "the outcome of a request with an Idempotency-Key is not remembered", "error", err)
		return nil
	}
	return err
}

// certain returns the error of a request that would be refused again and
// changed nothing; nil for any other.
func certain(err error) *mounts.Error {
	if err == nil {
		return nil
	}
	e := mounts.AsError(err)
	if e.OutcomeUnknown {
		return nil
	}
	switch e.Kind {
	case mounts.BadRequest, mounts.InvalidArgument, mounts.ValidationFailed, mounts.Unprocessable,
		mounts.NoSuchNamespace, mounts.NoSuchTable, mounts.NoSuchView, mounts.MetadataMissing,
		mounts.AlreadyExists, mounts.NamespaceNotEmpty, mounts.CommitConflict:
		return e
	}
	return nil
}
