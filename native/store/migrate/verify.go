package migrate

import (
	"bytes"
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/icefield/icefield/native/store"
)

// Mismatch is a copy that is not equal to its original. Nothing was opened.
type Mismatch struct {
	// What says where they differ first.
	What string
}

// Error implements error.
func (e *Mismatch) Error() string {
	return "the copy differs from the original: " + e.What + ". Both stay fenced. Abort the move at the copy, which clears it, and begin again; if it happens again, one of the stores does not keep what is written into it"
}

// verify reads both sides side by side and compares them, record by record, and
// what they count. It returns how many records there are, and their digest.
func (r *run) verify(ctx context.Context) (store.Counts, [32]byte, error) {
	original, copied := newDigest(), newDigest()
	group, both := errgroup.WithContext(ctx)
	c := &copyReader{batches: make(chan []store.Entry, 2)} // it runs ahead by some batches at most
	group.Go(func() error {
		defer close(c.batches)
		c.failure = r.batches(both, r.to, func(batch []store.Entry) error {
			select {
			case c.batches <- batch:
				return nil
			case <-both.Done():
				return both.Err()
			}
		})
		return c.failure
	})
	group.Go(func() error {
		err := r.each(both, r.from, Verifying, func(e store.Entry) error {
			want := original.add(e)
			got, err := c.next()
			switch {
			case err != nil:
				return err
			case got == nil:
				return &Mismatch{name(e) + " is missing"}
			case !bytes.Equal(want, copied.add(*got)):
				return &Mismatch{fmt.Sprintf("it has %s in the place of %s", name(*got), name(e))}
			}
			return nil
		})
		if err != nil {
			return err
		}
		extra, err := c.next()
		if extra != nil {
			return &Mismatch{name(*extra) + " is too much"}
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return store.Counts{}, [32]byte{}, err
	}
	for who, s := range map[string]store.Portable{r.From: r.from, r.To: r.to} {
		counts, err := s.Counts(ctx)
		if err != nil {
			return store.Counts{}, [32]byte{}, err
		}
		if counts != original.counts {
			return store.Counts{}, [32]byte{}, &Mismatch{fmt.Sprintf("%s counts %s and lists %s", who, describe(counts), describe(original.counts))}
		}
	}
	return original.counts, original.total(), nil
}

// copyReader hands out the records of the copy.
type copyReader struct {
	batches chan []store.Entry
	batch   []store.Entry
	// failure is why the batches end; it may be read once they did.
	failure error
}

// next returns nil after the last record.
func (c *copyReader) next() (*store.Entry, error) {
	for len(c.batch) == 0 {
		var more bool
		if c.batch, more = <-c.batches; !more {
			return nil, c.failure
		}
	}
	e := &c.batch[0]
	c.batch = c.batch[1:]
	return e, nil
}

// name says which record it is.
func name(e store.Entry) string {
	switch {
	case e.Namespace != nil:
		return fmt.Sprintf("the namespace %q", []string(e.Namespace.Path))
	case e.Object != nil:
		return fmt.Sprintf("the %s %q in %q", e.Object.Kind, e.Object.Name, []string(e.Object.Namespace))
	case e.Commit != nil:
		return fmt.Sprintf("commit %d of object %s", e.Commit.Generation, e.Commit.Object)
	case e.Receipt != nil:
		return fmt.Sprintf("the receipt %x", e.Receipt.Key[:8])
	case e.Job != nil:
		return "the job " + e.Job.ID.String()
	}
	return "an empty record"
}
