package wrap

import (
	"context"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// ReadOnly refuses every operation that changes the catalog, with
// UnsupportedOperation, and leaves them out of the capabilities. Giving up a
// scan plan and reporting metrics change no catalog and pass.
func ReadOnly(b mounts.Backend) mounts.Backend { return readOnly(b, func() {}) }

func readOnly(b mounts.Backend, refused func()) mounts.Backend {
	cut := capabilities.Changes()
	intercept := func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		if !cut.Has(req.Op()) {
			return next(ctx, req)
		}
		refused()
		e := mounts.NotSupported(req)
		e.Msg = "mounted read-only, so " + req.Op().String() + " of {object} is refused; " +
			"make the change in the catalog that the mount leads to"
		if e.Ident.IsZero() {
			e.Msg = "mounted read-only, so " + req.Op().String() + " is refused; " +
				"make the change in the catalog that the mount leads to"
		}
		return nil, e
	}
	return mounts.Around(reduced{b, cut}, intercept)
}

// reduced is a backend with fewer capabilities.
type reduced struct {
	mounts.Backend
	cut capabilities.Set
}

// Capabilities implements mounts.Backend.
func (r reduced) Capabilities() capabilities.Set { return r.Backend.Capabilities().Without(r.cut) }

// KeyLifetime implements mounts.Backend: nothing is left to honour a key for.
func (r reduced) KeyLifetime() time.Duration { return 0 }
