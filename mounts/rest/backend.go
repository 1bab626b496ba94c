package rest

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Backend is a remote Iceberg REST catalog. It implements mounts.Backend and is
// safe for concurrent use.
type Backend struct {
	mounts.Unsupported
	config  Config
	client  *client
	known   atomic.Pointer[settings]
	renewal renewal
	tags    tags
	memo    *memo
}

var _ mounts.Backend = (*Backend)(nil)

// Open asks the remote for its settings and returns the backend on it. A wrong
// Config is an error of kind BadRequest; otherwise the kinds are those of a call:
// Unavailable if the remote cannot be reached, Timeout, BadGateway if its answer
// is not the protocol, if it refuses the login or does not have the warehouse,
// Loop if it leads back here.
func Open(ctx context.Context, c Config) (*Backend, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.BadRequest, Msg: err.Error()}
	}
	k := newClient(c)
	s, err := negotiate(ctx, k, c)
	if err != nil && c.Auth.PerCaller() && toldNobody(err) {
		s, err = unasked(c)
	}
	if err != nil {
		k.close()
		return nil, err
	}
	s.announce(c.Logger, &settings{})
	b := &Backend{config: c, client: k, tags: newTags(c), memo: newMemo(c.Remember), renewal: renewal{every: c.RefreshSettings, gap: signGap, turn: make(chan struct{}, 1)}}
	b.known.Store(s)
	b.keepCurrent()
	return b, nil
}

// toldNobody reports a remote that is there and tells its settings only to
// somebody whom it knows.
func toldNobody(err error) bool {
	e := mounts.AsError(err)
	return e.Answered && (e.Kind == mounts.BadGateway || e.Kind == mounts.Forbidden)
}

// current is what the remote said of itself last. A call takes it once (call.at),
// so that its parts agree.
func (b *Backend) current() *settings { return b.known.Load() }

// Capabilities implements mounts.Backend: what the remote's endpoint list
// offers at present (see RefreshSettings), less what this mount does not allow,
// with the existence checks that a load answers.
func (b *Backend) Capabilities() capabilities.Set { return b.current().can }

// KeyLifetime implements mounts.Backend: what the remote says of itself at
// present, for its keys are what a change gets. A mount that forwards no changes
// has none.
func (b *Backend) KeyLifetime() time.Duration {
	if !b.config.Writable {
		return 0
	}
	return b.current().keyLifetime
}

// Health implements mounts.Backend by asking for the remote's /v1/config. A
// remote that sent us to another address is asked there, for one namespace:
// that is where calls go, and nothing says that it tells its settings there too.
func (b *Backend) Health(ctx context.Context) error {
	if s := b.current(); s.moved && !b.config.Auth.PerCaller() && s.can.Has(capabilities.ListNamespaces) {
		_, err := b.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 1}})
		if errors.Is(err, mounts.Forbidden) {
			return nil // it is there, and says who may list
		}
		return err
	}
	_, err := negotiate(ctx, b.client, b.config)
	if b.config.Auth.PerCaller() && err != nil && toldNobody(err) {
		return nil // it is there, and knows nobody but the callers
	}
	return err
}

// Close implements mounts.Backend. It waits for the asking for settings or a
// token that is under way
// and closes the connections that are idle; calls that are under way end as they
// would have.
func (b *Backend) Close() error {
	b.renewal.stop()
	b.renewal.done.Wait()
	b.client.close()
	return nil
}

// begin makes the call of a request, or refuses one that the remote does not
// offer, or that is about what cannot exist there.
func (b *Backend) begin(req mounts.Request) (call, error) {
	s := b.current()
	if !s.can.Has(req.Op()) {
		return call{}, mounts.NotSupported(req)
	}
	if err := s.beyond(req); err != nil {
		return call{}, err
	}
	return call{at: s, op: req.Op(), kind: kindCatalog, method: http.MethodGet, object: req.Object()}, nil
}
