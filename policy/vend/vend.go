package vend

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Options say how credentials are handed out. Provider and Warehouse have to be
// set.
type Options struct {
	Provider Provider
	// Warehouse is the location that the mount governs. Nothing is given for what
	// is not strictly inside.
	Warehouse string
	// Hints are FileIO properties that clients need beside the credentials, as
	// "s3.endpoint"; those of the table's own config are added. No secret.
	Hints map[string]string
	// Timeout is how long one exchange may take; 0 for 5 seconds.
	Timeout time.Duration
	// Exchanges is how many may be under way at once; 0 for 16.
	Exchanges int
	// Remember is how many credentials are kept; 0 for 4096.
	Remember int
	// Observe is told how each ask for credentials ended; nil for nobody. It has
	// to return at once.
	Observe func(Event)
	// Now is the clock; nil for the machine's.
	Now func() time.Time
}

// Event is how one ask for credentials ended.
type Event struct {
	// Outcome is "minted", "cached", or "failed" with its Reason.
	Outcome string
	Reason  Reason
	// Took is the time of the exchange; 0 where there was none.
	Took time.Duration
}

// vendedCredentials is the word by which a client asks (REST spec,
// X-Iceberg-Access-Delegation).
const vendedCredentials = "vended-credentials" // #nosec G101 -- a word of the REST spec

// vendor stands around a backend and adds credentials to its tables.
type vendor struct {
	mounts.Backend
	next      mounts.Backend
	opt       Options
	root      place
	confines  bool // root is a location in an object store
	exchanges *exchanges
	// where remembers where tables lie, by what identifies their metadata.
	where *lru.Cache[version, lies]
}

// Around puts the handing out of credentials around a backend that knows nothing
// of it; it adds LoadCredentials to what that can do. It owns next and the
// provider: Close closes both, after the exchanges under way. See the package
// comment for what is checked and what goes out.
//
// The errors of its own are Unavailable (nothing was done, try again) and
// BadGateway (the token service, our login, or the role has to be looked at),
// both Answered, since the mount itself is reachable; with an outcome unknown
// only after a change was made. LoadCredentials is Forbidden for a caller that
// may have none, and for a table outside of the warehouse.
func Around(next mounts.Backend, opt Options) mounts.Backend {
	if opt.Timeout <= 0 {
		opt.Timeout = 5 * time.Second
	}
	if opt.Exchanges <= 0 {
		opt.Exchanges = 16
	}
	if opt.Remember <= 0 {
		opt.Remember = 4096
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Observe == nil {
		opt.Observe = func(Event) {}
	}
	v := &vendor{next: next, opt: opt, exchanges: newExchanges(opt)}
	v.where, _ = lru.New[version, lies](opt.Remember) // the size is positive
	root, err := readPlace(opt.Warehouse)
	v.root, v.confines = root, err == nil
	v.Backend = mounts.Around(next, v.intercept)
	return v
}

// Unwrap is what it stands around, for mounts.As.
func (v *vendor) Unwrap() mounts.Backend { return v.next }

// Capabilities implements mounts.Backend.
func (v *vendor) Capabilities() capabilities.Set {
	return v.next.Capabilities().Union(capabilities.Of(capabilities.LoadCredentials))
}

// Close implements mounts.Backend.
func (v *vendor) Close() error {
	v.exchanges.close()
	return errors.Join(v.opt.Provider.Close(), v.next.Close())
}

func (v *vendor) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		if asks(r.Delegation) && permitted(ctx) {
			return v.load(ctx, r, next)
		}
	case *mounts.CreateTableRequest:
		if asks(r.Delegation) && permitted(ctx) {
			return v.create(ctx, r, next)
		}
	case *mounts.RegisterTableRequest:
		if asks(r.Delegation) && permitted(ctx) {
			return v.register(ctx, r, next)
		}
	case *mounts.LoadCredentialsRequest:
		return v.credentials(ctx, r, next)
	}
	return next(ctx, req)
}

// asks reports whether a client asked for credentials.
func asks(delegation string) bool {
	for delegation != "" {
		var word string
		word, delegation, _ = strings.Cut(delegation, ",")
		if strings.EqualFold(strings.TrimSpace(word), vendedCredentials) {
			return true
		}
	}
	return false
}

func permitted(ctx context.Context) bool { return mounts.CallerFrom(ctx).Storage > mounts.NoStorage }

// load adds credentials to a table. The client's tags are not looked at: what is
// not modified would come without.
func (v *vendor) load(ctx context.Context, r *mounts.LoadTableRequest, next mounts.Handler) (mounts.Response, error) {
	if r.IfNoneMatch != "" {
		whole := *r
		whole.IfNoneMatch = ""
		r = &whole
	}
	t, err := tableOf(next(ctx, r))
	if err != nil {
		return nil, err
	}
	return answer(v.grant(ctx, r, t, nil))
}

// grant is the table with credentials for it, if it lies where they are given
// for. ready are some that exist already, maybe for another location.
func (v *vendor) grant(ctx context.Context, req mounts.Request, t *mounts.Table, ready *Minted) (*mounts.Table, error) {
	at, err := v.locate(t)
	if err != nil {
		return nil, unreadable(req, err)
	}
	if !at.covered {
		return t, nil
	}
	if ready == nil || ready.Prefix != at.location {
		if ready, err = v.mint(ctx, req, at.location); err != nil {
			return nil, err
		}
	}
	d := v.dress(ready, t.Config)
	out := *t
	out.Config, out.StorageCredentials, out.Refresh, out.ETag = maps.Clone(d.all), d.credential(), true, ""
	return &out, nil
}

// credentials answers LoadCredentials, with exactly one entry: Java's clients
// take no more (rule R21).
func (v *vendor) credentials(ctx context.Context, r *mounts.LoadCredentialsRequest, next mounts.Handler) (mounts.Response, error) {
	if !permitted(ctx) {
		return nil, &mounts.Error{Kind: mounts.Forbidden, Op: r.Op(), Ident: r.Table, Answered: true,
			Msg: "no storage credentials of {object} are given to this caller"}
	}
	t, err := tableOf(next(ctx, &mounts.LoadTableRequest{Table: r.Table, Snapshots: mounts.SnapshotsRefs, ReferencedBy: r.ReferencedBy}))
	if err != nil {
		mine := *mounts.AsError(err)
		mine.Op = r.Op()
		return nil, &mine
	}
	at, err := v.locate(t)
	if err != nil {
		return nil, unreadable(r, err)
	}
	if !at.covered {
		return nil, &mounts.Error{Kind: mounts.Forbidden, Op: r.Op(), Ident: r.Table, Answered: true,
			Msg: "{object} lies outside of the warehouse that storage credentials are given for here, or keeps its metadata files elsewhere than in the folder metadata of its location"}
	}
	minted, err := v.mint(ctx, r, at.location)
	if err != nil {
		return nil, err
	}
	return &mounts.Credentials{StorageCredentials: v.dress(minted, t.Config).credential()}, nil
}

// mint gets credentials for a location that has been confined.
func (v *vendor) mint(ctx context.Context, req mounts.Request, location string) (*Minted, error) {
	c := mounts.CallerFrom(ctx)
	minted, err := v.exchanges.get(ctx, Ask{Location: location, Access: c.Storage, Principal: c.Principal, Tenant: c.Tenant})
	if err != nil {
		return nil, failed(req, err)
	}
	return minted, nil
}

// dressed are credentials as they go out with a table whose config is plain: on
// their own, for the storage credential, and in the table's config.
type dressed struct {
	prefix          string
	plain, own, all map[string]string
}

// credential is the one entry. It belongs to whoever gets it.
func (d *dressed) credential() []mounts.StorageCredential {
	return []mounts.StorageCredential{{Prefix: d.prefix, Config: maps.Clone(d.own)}}
}

// dress adds the hints that a client needs which looks at nothing but the
// credential. The same table comes with the same config time after time, so what
// came of it is kept.
func (v *vendor) dress(m *Minted, plain map[string]string) *dressed {
	if d := m.dressed.Load(); d != nil && maps.Equal(d.plain, plain) {
		return d
	}
	own := maps.Clone(m.Config)
	// What the provider knows of the region gives way to what the mount says.
	for _, hints := range []map[string]string{plain, v.opt.Hints} {
		for name, value := range hints {
			if isHint(name) {
				own[name] = value
			}
		}
	}
	own["expiration-time"] = millis(m.Expires) // read by iceberg-go
	d := &dressed{prefix: m.Prefix, plain: maps.Clone(plain), own: own, all: maps.Clone(own)}
	for name, value := range plain {
		if _, known := own[name]; !known {
			d.all[name] = value
		}
	}
	m.dressed.Store(d)
	return d
}

// isHint reports a property of a store, of which none that a hint brings may
// stand in for a part of a credential.
func isHint(name string) bool {
	store, rest, _ := strings.Cut(name, ".")
	switch store {
	case "s3", "client", "gcs", "adls":
	default:
		return false
	}
	for _, secret := range []string{"access-key", "secret", "token", "auth.", "connection-string", "refresh-credentials"} {
		if strings.Contains(rest, secret) {
			return false
		}
	}
	return true
}

func millis(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// tableOf and answer keep typed nil pointers out of a Response.
func tableOf(resp mounts.Response, err error) (*mounts.Table, error) {
	if err != nil {
		return nil, err
	}
	t, ok := resp.(*mounts.Table)
	if !ok || t == nil {
		return nil, &mounts.Error{Kind: mounts.Internal, Err: errors.New("a table was answered with something else")}
	}
	return t, nil
}

func answer(t *mounts.Table, err error) (mounts.Response, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}
