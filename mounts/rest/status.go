package rest

import (
	"time"

	"github.com/icefield/icefield/mounts"
)

var _ mounts.Negotiated = (*Backend)(nil)

// SettingsAt implements mounts.Negotiated. Settings that are a guess count for
// none.
func (b *Backend) SettingsAt() time.Time {
	s := b.current()
	if told := s.told.Load(); told != 0 && !s.provisional {
		return time.Unix(0, told)
	}
	return time.Time{}
}
