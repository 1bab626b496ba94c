// Package jobs does the work that a registry put off: it takes the jobs that
// the store holds, one runner at a time each, and sees them through crashes,
// restarts and storage that is down.
//
//	r := jobs.New(jobs.Config{Store: s, Works: map[string]jobs.Work{jobs.KindPurge: purge}})
//	r.Start()
//	…            // a transaction recorded a job
//	r.Wake()     // it is begun at once
//	err := r.Close()
//
// A job is taken by writing a lease into its record, and the lease is renewed
// for as long as the work goes on. So no two replicas work on one job, and one
// whose runner was killed is taken over when its lease ends. A lease is a matter
// of clocks: replicas whose clocks are apart by more than Lease may do some work
// twice, which every Work must bear.
//
// An attempt that fails is tried again after a pause that doubles up to
// LongestPause. Only after GiveUp, and many attempts, a job fails for good; it
// stays in the listing, with the reason, until it is pruned after Retention.
//
// The one kind of work so far is the purge of a dropped table (Purge): it
// deletes the files that the table's metadata leads to, if they lie inside the
// table's own location, and the metadata itself last, so that it can be resumed
// at any point.
//
// It is no scheduler: nothing here happens on a timetable, and nobody but a
// store transaction creates a job.
//
// Layer: above store and warehouse, below native.
package jobs
