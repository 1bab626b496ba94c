package bolt

import (
	"context"
	"fmt"

	"github.com/icefield/icefield/native/store"
)

// The fence is a record of the file. Only this process can change it, so a copy
// in memory is what Update and View look at; the committing goroutine keeps it.

var keyFence = []byte("fence")

func encodeFence(f store.Fence) []byte {
	var e encoder
	e.number(uint64(f.Role))
	e.id(f.Migration)
	e.text(f.Peer)
	e.time(f.Since)
	return e.bytes()
}

func (t *tx) fence() (*store.Fence, error) {
	record := t.b.Bucket(bucketMeta).Get(keyFence)
	if record == nil {
		return nil, nil
	}
	d := decoder{rest: record}
	f := store.Fence{Role: store.FenceRole(d.number()), Migration: d.id(), Peer: d.text(), Since: d.time()} // #nosec G115 -- encodeFence wrote the role from a FenceRole, which has one byte
	if d.err == nil && (f.Role < store.FenceSource || f.Role > store.FenceMoved) {
		d.fail()
	}
	if d.err != nil {
		// What it was about is not known, so nothing may be let through.
		return nil, fmt.Errorf("bolt: the fence of the registry: %w", d.err)
	}
	return &f, nil
}

// CurrentFence implements store.Portable.
func (s *Store) CurrentFence(ctx context.Context) (f *store.Fence, err error) {
	err = s.read(ctx, func(t *tx) error {
		f, err = t.fence()
		return err
	})
	return f, err
}

// SetFence implements store.Portable. The transactions before it are durable
// when its own begins, and those after it meet the new fence.
func (s *Store) SetFence(ctx context.Context, from, to *store.Fence) error {
	if to != nil && len(to.Peer) > 1024 {
		return fmt.Errorf("bolt: a peer's name of %d bytes is too long", len(to.Peer))
	}
	w := exclusive(func(t *tx) error {
		now, err := t.fence()
		switch {
		case err != nil:
			return err
		case !now.Same(from):
			return store.ErrFenceMoved
		case to == nil:
			return t.delete(bucketMeta, keyFence)
		}
		return t.put(bucketMeta, keyFence, encodeFence(*to))
	})
	if to != nil {
		kept := *to
		to = &kept
	}
	w.durably = func() { s.fence.Store(to) }
	return s.queue.do(ctx, w)
}

// destination refuses, as store.Portable says, unless the registry is the
// fenced destination of that migration.
func (t *tx) destination(of [16]byte) error {
	f, err := t.fence()
	if err != nil {
		return err
	}
	if f == nil || f.Role != store.FenceDestination || f.Migration != of {
		return store.ErrNotDestination
	}
	return nil
}
