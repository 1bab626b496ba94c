package storetest

import (
	"bytes"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/native/store"
)

// jobID sorts as n does.
func jobID(n int) uuid.UUID {
	return uuid.UUID{0x01, 0x90, 4: byte(n >> 8), 5: byte(n), 6: 0x70, 8: 0x80, 15: byte(n)} // #nosec G115 -- the bytes of n one by one; the tests have fewer than 65,536 jobs
}

// job is one that is due at moment.
func job(n int) store.Job {
	return store.Job{ID: jobID(n), Kind: "purge", State: store.JobWaiting, Progress: []byte{}, Created: moment, Updated: moment}
}

func create(jobs ...store.Job) func(store.Tx) error {
	return func(tx store.Tx) error {
		for _, j := range jobs {
			if err := tx.CreateJob(j); err != nil {
				return err
			}
		}
		return nil
	}
}

// plain makes jobs comparable: times in UTC, no difference of nil and empty.
func plain(j store.Job) store.Job {
	for _, at := range []*time.Time{&j.LeasedUntil, &j.NotBefore, &j.Created, &j.Updated, &j.By.Time} {
		*at = at.UTC()
	}
	if len(j.Progress) == 0 {
		j.Progress = nil
	}
	if len(j.Ident.Namespace) == 0 {
		j.Ident.Namespace = nil
	}
	return j
}

func sameJob(t *testing.T, s store.Store, want store.Job) {
	t.Helper()
	var got store.Job
	view(t, s, func(tx store.Tx) (err error) {
		got, err = tx.Job(want.ID)
		return err
	})
	if !reflect.DeepEqual(plain(got), plain(want)) {
		t.Errorf("the job is\n%+v, want\n%+v", plain(got), plain(want))
	}
}

func testJobs(t *testing.T, s store.Store) {
	full := store.Job{
		ID: jobID(1), Kind: "purge", Object: uuid.New(), Ident: id("t\x01.\xff", "a.b", "\x00"), ObjectKind: store.View, Location: "s3://l/\xfe",
		State: store.JobRunning, Progress: []byte("{\"n\":1}\x00\xff"), Attempts: 3, LastError: "the bucket\nis away", Lease: "host/1",
		LeasedUntil: moment.Add(time.Minute), NotBefore: moment.Add(-time.Minute), Created: moment.Add(-time.Hour), Updated: moment,
		By: store.By{Time: moment.Add(-time.Hour), Principal: "ann", RequestID: "r", IdempotencyKey: "k"},
	}
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return second(tx.Job(full.ID)) })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.PutJob(full) })
	update(t, s, create(full))
	sameJob(t, s, full)
	refused(t, s, store.ErrExists, create(job(1)))
	sameJob(t, s, full)
	// The zero of every field, times included, comes back as zero.
	zero := store.Job{ID: jobID(2), State: store.JobWaiting}
	update(t, s, create(zero))
	sameJob(t, s, zero)
	// Every field can be replaced.
	changed := job(1)
	update(t, s, func(tx store.Tx) error { return tx.PutJob(changed) })
	sameJob(t, s, changed)
	update(t, s, func(tx store.Tx) error { return tx.PutJob(full) })
	sameJob(t, s, full)
	over := job(3)
	over.Progress = bytes.Repeat([]byte{'x'}, store.MaxProgress)
	update(t, s, create(over))
	sameJob(t, s, over)
	over.ID, over.Progress = jobID(4), append(over.Progress, 'x')
	if err := s.Update(t.Context(), create(over)); err == nil || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("progress over the bound: %v", err)
	}
	over.ID = jobID(3)
	if err := s.Update(t.Context(), func(tx store.Tx) error { return tx.PutJob(over) }); err == nil {
		t.Error("progress over the bound replaced a job's")
	}
	refused(t, s, errOwn, func(tx store.Tx) error { return errors.Join(tx.PutJob(changed), create(job(5))(tx), errOwn) })
	sameJob(t, s, full)
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return second(tx.Job(jobID(5))) })
}

// due asks which job is due, -1 for none.
func due(t *testing.T, s store.Store, now time.Time) int {
	t.Helper()
	number := -1
	err := s.Update(t.Context(), func(tx store.Tx) error {
		j, err := tx.DueJob(now)
		if err == nil {
			number = int(j.ID[4])<<8 | int(j.ID[5])
		}
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	if err != nil {
		return -1
	}
	return number
}

func testDueJobs(t *testing.T, s store.Store) {
	if got := due(t, s, moment); got != -1 {
		t.Errorf("job %d of none is due", got)
	}
	tick := time.Microsecond
	waiting, leased, both, lapsed, done, failed, last := job(1), job(2), job(3), job(4), job(5), job(6), job(7)
	waiting.NotBefore = moment.Add(10 * tick)
	leased.State, leased.Lease, leased.LeasedUntil = store.JobRunning, "other", moment.Add(5*tick)
	both.Lease, both.LeasedUntil, both.NotBefore = "other", moment.Add(tick), moment.Add(20*tick)
	lapsed.LeasedUntil = moment.Add(time.Hour) // nobody's lease holds nobody off
	done.State, failed.State = store.JobDone, store.JobFailed
	// The order of creation is not that of the IDs.
	update(t, s, create(last, failed, done, lapsed, both, leased, waiting))
	for _, step := range []struct {
		now  time.Duration
		want int
	}{{0, 4}, {4, 4}, {5, 2}, {9, 2}, {10, 1}, {1000, 1}} {
		if got := due(t, s, moment.Add(step.now*tick)); got != step.want {
			t.Errorf("after %d microseconds job %d is due, want %d", step.now, got, step.want)
		}
	}
	// Work through all of them, as workers do: lease, then finish.
	now := moment.Add(15 * tick)
	for _, want := range []int{1, 2, 4, 7, -1} {
		got := due(t, s, now)
		if got != want {
			t.Fatalf("job %d is due, want %d", got, want)
		}
		if got == -1 {
			break
		}
		update(t, s, func(tx store.Tx) error {
			j, err := tx.DueJob(now)
			if err != nil {
				return err
			}
			j.Lease, j.LeasedUntil, j.State, j.Attempts = "me", now.Add(tick), store.JobRunning, j.Attempts+1
			return tx.PutJob(j)
		})
		if again := due(t, s, now); again == got {
			t.Errorf("job %d is leased and due", got)
		}
		update(t, s, func(tx store.Tx) error {
			j, err := tx.Job(jobID(got))
			if err != nil {
				return err
			}
			j.State, j.Lease, j.Updated = store.JobDone, "", now
			return tx.PutJob(j)
		})
	}
	if got := due(t, s, moment.Add(20*tick)); got != 3 {
		t.Errorf("job %d is due, want the one that was put off", got)
	}
	if got := due(t, s, moment.Add(1000*time.Hour)); got != 3 {
		t.Errorf("job %d is due; finished ones never are", got)
	}
	// A finished job that is opened again counts again.
	update(t, s, func(tx store.Tx) error { return tx.PutJob(job(6)) })
	update(t, s, func(tx store.Tx) error { return tx.PutJob(done) })
	if got := due(t, s, moment); got != 6 {
		t.Errorf("job %d is due, want the one that was opened again", got)
	}
}

// testJobsAreTakenOnce lets workers take jobs at once: each job goes to one.
func testJobsAreTakenOnce(t *testing.T, s store.Store) {
	const jobs, workers = 60, 6
	update(t, s, func(tx store.Tx) error {
		for n := range jobs {
			if err := tx.CreateJob(job(n)); err != nil {
				return err
			}
		}
		return nil
	})
	var mu sync.Mutex
	takenBy := map[uuid.UUID]int{}
	var group sync.WaitGroup
	for w := range rune(workers) {
		group.Go(func() {
			for {
				var got store.Job
				err := s.Update(t.Context(), func(tx store.Tx) (err error) {
					if got, err = tx.DueJob(moment); err != nil {
						return err
					}
					got.Lease, got.LeasedUntil = string('a'+w), moment.Add(time.Hour)
					return tx.PutJob(got)
				})
				if errors.Is(err, store.ErrNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				takenBy[got.ID]++
				again := takenBy[got.ID] > 1
				mu.Unlock()
				if again {
					return
				}
			}
		})
	}
	group.Wait()
	for id, times := range takenBy {
		if times != 1 {
			t.Errorf("job %s was taken %d times", id, times)
		}
	}
	// A worker that met only jobs which others were about to take may have gone
	// early, but none of them leaves a job untaken.
	if len(takenBy) != jobs {
		t.Errorf("%d of %d jobs were taken", len(takenBy), jobs)
	}
}

func testListJobs(t *testing.T, s store.Store) {
	numbers := []int{3, 1, 700, 2, 256, 9}
	for _, n := range numbers {
		j := job(n)
		if n%2 == 1 {
			j.State = store.JobDone
		}
		update(t, s, create(j))
	}
	want := []int{700, 256, 9, 3, 2, 1}
	list := func(before uuid.UUID, limit int) (got []int) {
		view(t, s, func(tx store.Tx) error {
			page, err := tx.Jobs(before, limit)
			for _, j := range page {
				got = append(got, int(j.ID[4])<<8|int(j.ID[5]))
			}
			return err
		})
		return got
	}
	for size := 1; size <= len(want)+1; size++ {
		var all []int
		for before := uuid.Nil; ; {
			page := list(before, size)
			if len(page) > size || len(all) > len(want) {
				t.Fatalf("a page of %d is %v, after %v", size, page, all)
			}
			if len(page) == 0 {
				break
			}
			all = append(all, page...)
			before = jobID(page[len(page)-1])
		}
		if !reflect.DeepEqual(all, want) {
			t.Errorf("in pages of %d the jobs are %v, want %v", size, all, want)
		}
	}
	// An ID that is nobody's is still a position.
	for before, first := range map[int]int{4: 3, 5000: 700, 0: -1, 257: 256} {
		page := list(jobID(before), 1)
		if (first < 0) != (len(page) == 0) || len(page) == 1 && page[0] != first {
			t.Errorf("before %d comes %v, want %d", before, page, first)
		}
	}
}

func testPruneJobs(t *testing.T, s store.Store) {
	for n, j := range []struct {
		state store.JobState
		age   time.Duration
	}{{store.JobDone, 3}, {store.JobFailed, 1}, {store.JobDone, 2}, {store.JobWaiting, 9}, {store.JobRunning, 9}, {store.JobDone, 4}, {store.JobFailed, 5}} {
		one := job(n)
		one.State, one.Updated = j.state, moment.Add(-j.age*time.Microsecond)
		update(t, s, create(one))
	}
	prune := func(limit int) (n int) {
		update(t, s, func(tx store.Tx) (err error) {
			n, err = tx.PruneJobs(moment.Add(-2*time.Microsecond), limit)
			return err
		})
		return n
	}
	refused(t, s, errOwn, func(tx store.Tx) error {
		return errors.Join(second(tx.PruneJobs(moment, 100)), errOwn)
	})
	if a, b, c := prune(2), prune(2), prune(2); a != 2 || b != 1 || c != 0 {
		t.Errorf("%d, %d and %d jobs were pruned, want 2, 1 and 0", a, b, c)
	}
	view(t, s, func(tx store.Tx) error {
		left, err := tx.Jobs(uuid.Nil, 100)
		var numbers []int
		for _, j := range left {
			numbers = append(numbers, int(j.ID[5]))
		}
		if !reflect.DeepEqual(numbers, []int{4, 3, 2, 1}) {
			t.Errorf("the jobs %v are left, want those that are open or too young", numbers)
		}
		return err
	})
	if got := due(t, s, moment); got != 3 {
		t.Errorf("after the pruning job %d is due", got)
	}
}
