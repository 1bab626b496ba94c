package jobs

import "crypto/sha256"

// How many names are remembered, so that one that comes again is not worked on
// again. Beyond, work is done twice: more of it, and none wrong.
const (
	maxManifests = 500_000
	maxFiles     = 1_000_000
)

// seen remembers names by a digest, in bounded memory: tens of bytes each.
type seen struct {
	digests map[[16]byte]struct{}
	most    int
}

func newSeen(most int) *seen { return &seen{digests: map[[16]byte]struct{}{}, most: most} }

// first reports whether the name is not remembered, and remembers it.
func (s *seen) first(name string) bool {
	sum := sha256.Sum256([]byte(name))
	digest := [16]byte(sum[:16])
	if _, ok := s.digests[digest]; ok {
		return false
	}
	if len(s.digests) < s.most {
		s.digests[digest] = struct{}{}
	}
	return true
}
