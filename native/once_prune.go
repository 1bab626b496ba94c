package native

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/icefield/icefield/native/store"
)

const (
	// pruneBatch is how many receipts one transaction forgets: few enough to be
	// in nobody's way.
	pruneBatch = 500
	// prunePause stands between two batches.
	prunePause = 100 * time.Millisecond
	// pruneEvery is the longest time between two rounds.
	pruneEvery = 5 * time.Minute
)

// pruneReceipts forgets expired receipts until its context ends. Rounds come at
// random times, so that replicas do not all prune at once; those that do forget
// different receipts or the same ones, which does no harm.
func (b *Backend) pruneReceipts(ctx context.Context) {
	every := max(min(b.lifetime/2, pruneEvery), time.Second)
	for wait(ctx, every/2+rand.N(every)) { // #nosec G404 -- keeps replicas out of step; nothing depends on its being unguessable
		for {
			n, err := b.pruneOnce(ctx)
			if err != nil && ctx.Err() == nil {
				b.log.WarnContext(ctx, "outcomes of requests that expired are not removed yet", "error", err)
			}
			if err != nil || n < pruneBatch || !wait(ctx, prunePause) {
				break
			}
		}
	}
}

// pruneOnce forgets one batch and says how many it had.
func (b *Backend) pruneOnce(ctx context.Context) (n int, err error) {
	err = b.store.Update(ctx, func(tx store.Tx) (err error) {
		n, err = tx.PruneReceipts(b.now(), pruneBatch)
		return err
	})
	return n, err
}

// wait reports whether the time passed before the context ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
