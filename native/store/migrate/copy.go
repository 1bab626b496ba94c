package migrate

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/icefield/icefield/native/store"
)

// batches reads a whole registry and hands on one batch after the other. The
// next one is read while a batch is worked on.
func (r *run) batches(ctx context.Context, s store.Portable, work func([]store.Entry) error) error {
	group, ctx := errgroup.WithContext(ctx)
	ready := make(chan []store.Entry)
	group.Go(func() error {
		defer close(ready)
		for position := []byte(nil); ; {
			var batch []store.Entry
			var next []byte
			err := r.again(ctx, func() (err error) {
				batch, next, err = s.Export(ctx, position, r.Batch)
				return err
			})
			if err != nil {
				return err
			}
			select {
			case ready <- batch:
			case <-ctx.Done():
				return ctx.Err()
			}
			if next == nil {
				return nil
			}
			position = next
		}
	})
	group.Go(func() error {
		for batch := range ready {
			if err := work(batch); err != nil {
				return err
			}
		}
		return nil
	})
	return group.Wait()
}

// each is batches, record by record, with progress.
func (r *run) each(ctx context.Context, s store.Portable, stage Stage, work func(store.Entry) error) error {
	counts, err := s.Counts(ctx)
	if err != nil {
		return err
	}
	done := int64(0)
	r.Progress(Progress{stage, done, counts.Total()})
	return r.batches(ctx, s, func(batch []store.Entry) error {
		for _, entry := range batch {
			if err := work(entry); err != nil {
				return err
			}
		}
		done += int64(len(batch))
		r.Progress(Progress{stage, done, counts.Total()})
		return nil
	})
}

// copy fills the destination. What an earlier run wrote is written again: that
// is harmless, since the source has not changed.
func (r *run) copy(ctx context.Context) error {
	counts, err := r.from.Counts(ctx)
	if err != nil {
		return err
	}
	done := int64(0)
	r.Progress(Progress{Copying, done, counts.Total()})
	return r.batches(ctx, r.from, func(batch []store.Entry) error {
		if err := r.again(ctx, func() error { return r.to.Import(ctx, r.id, batch) }); err != nil {
			return err
		}
		done += int64(len(batch))
		r.Progress(Progress{Copying, done, counts.Total()})
		return nil
	})
}
