package memory

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
)

// DefaultWarehouse is where tables lie if Options.Warehouse is empty.
const DefaultWarehouse = "memory://warehouse"

// Options are the choices of a memory backend. The zero value is a full catalog
// that answers listings in one page.
type Options struct {
	// Warehouse is the location that every table and view must lie inside;
	// empty means DefaultWarehouse.
	Warehouse string
	// MaxPage, if positive, is the most rows a page holds, whatever was asked
	// for.
	MaxPage int
	// Capabilities, if not empty, limits the backend to these operations.
	Capabilities capabilities.Set
	// Files holds the metadata documents that RegisterTable and RegisterView find,
	// by location; those of what is dropped or unregistered join them. Without it
	// neither is among the capabilities.
	Files map[string]json.RawMessage
	// Before, if set, is called before every operation, without a lock held: a
	// test may count, wait or refuse there. Its error is the operation's answer.
	Before func(ctx context.Context, req mounts.Request) error
	// Now and NewUUID replace the clock and the source of fresh ids.
	Now     func() time.Time
	NewUUID func() uuid.UUID
}

// Backend is a catalog in memory. All methods are safe for concurrent use.
type Backend struct {
	mounts.Unsupported

	options Options
	able    capabilities.Set // what is advertised
	answers capabilities.Set // with the loads that answer an advertised existence check

	mu    sync.RWMutex
	root  *space
	files map[string]json.RawMessage
}

var _ mounts.Backend = (*Backend)(nil)

// New builds an empty catalog.
func New(options Options) *Backend {
	if options.Warehouse == "" {
		options.Warehouse = DefaultWarehouse
	}
	options.Warehouse = strings.TrimRight(options.Warehouse, "/")
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.NewUUID == nil {
		options.NewUUID = uuid.New
	}
	able := capabilities.Default().Union(capabilities.Of(
		capabilities.UnregisterTable, capabilities.ListViews, capabilities.LoadView, capabilities.CreateView,
		capabilities.RegisterView, capabilities.ReplaceView, capabilities.RenameView, capabilities.DropView)).Emulated()
	if options.Files == nil {
		able = able.Without(capabilities.Of(capabilities.RegisterTable, capabilities.RegisterView))
	}
	if options.Capabilities != 0 {
		able = able.Intersect(options.Capabilities)
	}
	return &Backend{options: options, able: able, answers: answering(able),
		root: newSpace(nil), files: maps.Clone(options.Files)}
}

// Capabilities implements mounts.Backend.
func (b *Backend) Capabilities() capabilities.Set { return b.able }

// Health implements mounts.Backend; it fails only with the context.
func (b *Backend) Health(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &mounts.Error{Kind: mounts.Timeout, Err: err}
	}
	return nil
}

// enter opens every operation: what the backend cannot do is refused, and a
// caller who has left is not worked for.
func (b *Backend) enter(ctx context.Context, req mounts.Request) error {
	if !b.answers.Has(req.Op()) {
		return mounts.NotSupported(req)
	}
	if b.options.Before != nil {
		if err := b.options.Before(ctx, req); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return fail(req, mounts.Timeout, req.Object(), err)
	}
	return nil
}

// answering adds the loads through which an existence check is answered.
func answering(able capabilities.Set) capabilities.Set {
	all := able
	for _, check := range capabilities.Operations() {
		for _, load := range capabilities.Operations() {
			if able.Has(check.Op) && check.Method == load.Method {
				all = all.Union(capabilities.Of(load.Op))
			}
		}
	}
	return all
}

func (b *Backend) commitOptions() commit.Options {
	return commit.Options{Now: b.options.Now(), NewUUID: b.options.NewUUID}
}

// fail makes the error of an operation.
func fail(req mounts.Request, kind mounts.Kind, about mounts.Identifier, cause error) *mounts.Error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: about, Err: cause}
}

// refuse is a fail that explains itself.
func refuse(req mounts.Request, kind mounts.Kind, about mounts.Identifier, msg string) *mounts.Error {
	return &mounts.Error{Kind: kind, Op: req.Op(), Ident: about, Msg: msg}
}

// about completes an error of the commit engine with what it is about.
func about(req mounts.Request, id mounts.Identifier, err error) error {
	var e *mounts.Error
	if !errors.As(err, &e) {
		return fail(req, mounts.Internal, id, err)
	}
	full := *e
	full.Op, full.Ident = req.Op(), id
	return &full
}
