package rest

import (
	"context"
	"errors"
	"log/slog"
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
	config Config
	client *client
	known  atomic.Pointer[settings]
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
	if err != nil {
		k.close()
		return nil, err
	}
	b := &Backend{config: c, client: k}
	b.known.Store(s)
	return b, nil
}

// current is what the remote said of itself last. A call takes it once (call.at),
// so that its parts agree.
func (b *Backend) current() *settings { return b.known.Load() }

// Capabilities implements mounts.Backend: what the remote's endpoint list
// offered when it was opened, less everything but reads, with the existence
// checks that a load answers.
func (b *Backend) Capabilities() capabilities.Set { return b.current().can }

// KeyLifetime implements mounts.Backend: keys are for changes, and none of those
// is forwarded.
func (b *Backend) KeyLifetime() time.Duration { return 0 }

// Health implements mounts.Backend by asking for the remote's /v1/config. A
// remote that sent us to another address is asked there, for one namespace:
// that is where calls go, and nothing says that it tells its settings there too.
func (b *Backend) Health(ctx context.Context) error {
	if s := b.current(); s.moved && s.can.Has(capabilities.ListNamespaces) {
		_, err := b.ListNamespaces(ctx, &mounts.ListNamespacesRequest{Page: pagination.Request{Size: 1}})
		if errors.Is(err, mounts.Forbidden) {
			return nil // it is there, and says who may list
		}
		return err
	}
	_, err := negotiate(ctx, b.client, b.quiet())
	return err
}

// quiet is the configuration without a logger: what a probe notices was logged
// when the backend was opened.
func (b *Backend) quiet() Config {
	c := b.config
	c.Logger = slog.New(slog.DiscardHandler)
	return c
}

// Close implements mounts.Backend. It waits for a token call that is under way
// and closes the connections that are idle; calls that are under way end as they
// would have.
func (b *Backend) Close() error {
	b.client.close()
	return nil
}

// do makes a catalog call.
func (b *Backend) do(ctx context.Context, c call) (*answer, error) { return b.client.do(ctx, c) }

// begin makes the call of a request, or refuses one that the remote does not
// offer.
func (b *Backend) begin(req mounts.Request) (call, error) {
	s := b.current()
	if !s.can.Has(req.Op()) {
		return call{}, mounts.NotSupported(req)
	}
	return call{at: s, op: req.Op(), kind: kindCatalog, method: http.MethodGet, object: req.Object()}, nil
}
