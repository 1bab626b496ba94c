package native

import (
	"context"
	"sync"

	"github.com/icefield/icefield/native/store"
)

// flights lets the requests with one Idempotency-Key through one after the
// other, in this process. There is an entry for each request that is being
// worked on, and none for a key that nobody is.
type flights struct {
	mu   sync.Mutex
	busy map[store.ReceiptKey]chan struct{} // closed when its request is done
}

func newFlights() *flights { return &flights{busy: map[store.ReceiptKey]chan struct{}{}} }

// enter waits until nobody else works on the key, and returns how to leave it.
// It fails only with the context's error.
func (f *flights) enter(ctx context.Context, key store.ReceiptKey) (leave func(), err error) {
	mine := make(chan struct{})
	for {
		f.mu.Lock()
		other := f.busy[key]
		if other == nil {
			f.busy[key] = mine
			f.mu.Unlock()
			return func() {
				f.mu.Lock()
				delete(f.busy, key)
				f.mu.Unlock()
				close(mine)
			}, nil
		}
		f.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
