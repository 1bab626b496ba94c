package faults

import (
	"fmt"
	"slices"
	"time"
)

// p99s are the 99th percentiles of consecutive stretches of a load. A machine on which other things run stops everybody
// for a moment now and then, and what it does in one stretch is nobody's fault: compared is what is usual.
type p99s []time.Duration

// windows cuts a load into stretches of so many requests.
func windows(took []time.Duration, size int) (w p99s) {
	for stretch := range slices.Chunk(took, size) {
		w = append(w, quantile(stretch, 0.99))
	}
	return w
}

func (w p99s) usual() time.Duration { return quantile(w, 0.5) }

func (w p99s) ratio(to p99s) float64 { return float64(w.usual()) / float64(to.usual()) }

// span is what was measured of a mount through the server, and of its remote without it.
type span struct{ through, straight p99s }

func (s *span) add(other span) {
	s.through, s.straight = append(s.through, other.through...), append(s.straight, other.straight...)
}

func (s span) String() string {
	show := func(w p99s) string {
		return fmt.Sprintf("usual p99 %v (tenth %v, nine tenths %v, of %d)", w.usual().Round(10*time.Microsecond),
			quantile(w, 0.1).Round(10*time.Microsecond), quantile(w, 0.9).Round(10*time.Microsecond), len(w))
	}
	return show(s.through) + "; without the server " + show(s.straight)
}
