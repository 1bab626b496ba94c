package main

import (
	"context"
	"errors"
	"sync"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/native/store"
)

// stores are the files that native registries keep themselves in, each opened
// once: a bolt file is locked by whoever has it open, so a mount that is changed
// while the server runs takes the open file over, and shares it with the mount
// that it replaces until the last request of that one has ended. Databases are
// opened by each mount for itself.
type stores struct {
	open func(context.Context, config.Registry) (store.Portable, error)

	mu   sync.Mutex
	held map[string]*held
}

func newStores() *stores { return &stores{open: openRegistry, held: map[string]*held{}} }

// held is one open file, or one that is being opened or closed.
type held struct {
	store.Portable
	users int
	// ready is closed once it is open or cannot be, gone once it is closed.
	ready, gone chan struct{}
	err         error
}

// take opens a registry, or shares the one that is open. Closing what it returns
// closes the file with the last user.
func (s *stores) take(ctx context.Context, r config.Registry) (store.Portable, error) {
	if r.Bolt == "" {
		return s.open(ctx, r)
	}
	for {
		s.mu.Lock()
		h := s.held[r.Bolt]
		if h == nil {
			h = &held{users: 1, ready: make(chan struct{}), gone: make(chan struct{})}
			s.held[r.Bolt] = h
			s.mu.Unlock()
			return s.first(ctx, r, h)
		}
		if h.users == 0 { // being closed, or could not be opened
			s.mu.Unlock()
			select {
			case <-h.gone:
				continue
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		h.users++
		s.mu.Unlock()
		select {
		case <-h.ready:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), s.leave(r.Bolt, h))
		}
		if h.err != nil {
			return nil, errors.Join(h.err, s.leave(r.Bolt, h))
		}
		return &shared{Portable: h.Portable, leave: func() error { return s.leave(r.Bolt, h) }}, nil
	}
}

// first opens a file that nobody has open. Only its first user may believe that
// it has the registry for itself: what is under way in it is nobody else's.
func (s *stores) first(ctx context.Context, r config.Registry, h *held) (store.Portable, error) {
	h.Portable, h.err = s.open(ctx, r)
	close(h.ready)
	if h.err != nil {
		return nil, errors.Join(h.err, s.leave(r.Bolt, h))
	}
	use := &shared{Portable: h.Portable, leave: func() error { return s.leave(r.Bolt, h) }}
	if _, alone := h.Portable.(store.Exclusive); alone {
		return &sharedFirst{use}, nil
	}
	return use, nil
}

// leave gives a use up; the last one closes the file.
func (s *stores) leave(path string, h *held) error {
	s.mu.Lock()
	h.users--
	last := h.users == 0
	s.mu.Unlock()
	if !last {
		return nil
	}
	<-h.ready
	var err error
	if h.err == nil {
		err = h.Close()
	}
	s.mu.Lock()
	delete(s.held, path)
	s.mu.Unlock()
	close(h.gone)
	return err
}

// shared is one use of an open registry.
type shared struct {
	store.Portable
	leave func() error

	once sync.Once
	err  error
}

// Close ends the use. Further calls return what the first did.
func (u *shared) Close() error {
	u.once.Do(func() { u.err = u.leave() })
	return u.err
}

// sharedFirst is the use of a registry by the one who opened it for itself.
type sharedFirst struct{ *shared }

// HeldAlone implements store.Exclusive.
func (sharedFirst) HeldAlone() {}
