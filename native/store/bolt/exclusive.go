package bolt

import "github.com/icefield/icefield/native/store"

var _ store.Exclusive = (*Store)(nil)

// HeldAlone implements store.Exclusive: the file is locked.
func (s *Store) HeldAlone() {}
