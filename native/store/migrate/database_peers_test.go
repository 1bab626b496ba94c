//go:build peers

package migrate

import (
	"errors"
	"testing"

	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/postgres"
	"github.com/icefield/icefield/native/store/postgres/pgtest"
)

// A database that crashes in the middle of a move, in each of its parts, and
// comes back: the move goes on by itself, or is run again, and ends complete.
func TestAMoveSurvivesCrashesOfTheDatabase(t *testing.T) {
	cluster := pgtest.Start(t)
	database := func() store.Portable {
		s, err := postgres.Open(t.Context(), postgres.Config{URL: cluster.NewDatabase(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	file := open(t)
	fill(t, file, 2000)
	first, second := database(), database()
	last := open(t)
	var results []Result
	for i, sides := range [][2]store.Portable{{file, first}, {first, second}, {second, last}} {
		crashed := map[Stage]bool{}
		opt := names
		opt.Batch, opt.wait = 200, 0 // of the real length: the database has to come back
		opt.Progress = func(p Progress) {
			if p.Done*2 > p.Total && !crashed[p.Stage] {
				crashed[p.Stage] = true
				cluster.Crash(t)
				cluster.Begin(t)
			}
		}
		result, err := Run(t.Context(), sides[0], sides[1], opt)
		if err != nil {
			// Whatever the stores say then, it is not that something is wrong.
			var refused *Refused
			var mismatch *Mismatch
			if errors.As(err, &refused) || errors.As(err, &mismatch) {
				t.Fatal(err)
			}
			t.Logf("move %d, interrupted: %v", i, err)
			if result, err = Run(t.Context(), sides[0], sides[1], opt); err != nil {
				t.Fatal(err)
			}
		}
		if !crashed[Copying] || !crashed[Verifying] {
			t.Errorf("move %d met the crashes %v", i, crashed)
		}
		complete(t, sides[0], sides[1], result)
		results = append(results, result)
	}
	for _, r := range results[1:] {
		if r.Digest != results[0].Digest || r.Counts != results[0].Counts {
			t.Errorf("on the way %+v became %+v", results[0], r)
		}
	}
}
