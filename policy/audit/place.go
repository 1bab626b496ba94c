package audit

import (
	"os"
	"time"
)

// place is the kind of thing that lines are written to.
type place struct {
	regular bool
	// patient tells that a write can be given up in the middle.
	patient bool
}

func placeOf(f *os.File) place {
	info, err := f.Stat()
	return place{
		regular: err == nil && info.Mode().IsRegular(),
		patient: f.SetWriteDeadline(time.Time{}) == nil,
	}
}

// group is how much goes into one write. What several processes append to one
// file in one write each never mixes; a pipe promises that for 4 KiB only.
func (p place) group() int {
	if p.regular {
		return 1 << 20
	}
	return 4 << 10
}

// limit bounds the time of the next write where that is possible: on a pipe that
// nobody reads.
func (p place) limit(f *os.File) {
	if p.patient {
		_ = f.SetWriteDeadline(time.Now().Add(waitLimit))
	}
}
