package sign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Options say what a mount signs, and with what.
type Options struct {
	// Warehouse is the location that the mount governs, "s3://bucket/path".
	// Nothing is signed for a table that is not strictly inside, nor for one whose
	// metadata file is not in the folder metadata of its location.
	Warehouse string
	// Storage holds the mount's FileIO properties: s3.endpoint, s3.region (or
	// client.region), s3.path-style-access, s3.force-virtual-addressing,
	// s3.access-key-id, s3.secret-access-key, s3.session-token.
	Storage map[string]string
	// Vends tells that the mount hands out credentials too: a client that asks for
	// both gets those, and no signatures.
	Vends bool
	// ChecksBodies tells of a store with an endpoint of its own that it compares the
	// body of a DeleteObjects with the SHA-256 that was signed, as AWS does. Of
	// others none is signed, since a client could send another body: they delete one
	// by one.
	ChecksBodies bool
	// Credentials sign; nil for the keys in Storage, or else AWS's default chain.
	Credentials aws.CredentialsProvider
	// Now is the clock; nil for the machine's.
	Now func() time.Time
}

// remembered is how many tables' locations are kept.
const remembered = 4096

// signing stands around a backend and signs for its tables.
type signing struct {
	mounts.Backend
	next   mounts.Backend
	vends  bool
	root   prefix
	signer *signer
	// config goes out with the tables that are signed for.
	config map[string]string
	// where remembers where tables lie, by what identifies their metadata.
	where *lru.Cache[version, prefix]
}

// Around puts the signing of storage requests around a backend that knows nothing
// of it, and adds SignRequest to what that can do. Closing it closes next. It
// contacts nobody; an error says what is wrong with the options.
//
// The errors of its own are BadRequest for what is no request to S3, Forbidden
// for one that is not signed, and BadGateway if there are no keys to sign with,
// all of them Answered: the mount itself is reachable.
func Around(next mounts.Backend, opt Options) (mounts.Backend, error) {
	root, err := readLocation(opt.Warehouse)
	if err != nil {
		return nil, fmt.Errorf("sign: requests are signed for warehouses in S3 only: %w", err)
	}
	s := &signer{v4: v4.NewSigner(), now: opt.Now, keys: opt.Credentials, region: first(opt.Storage, "s3.region", "client.region")}
	if s.now == nil {
		s.now = time.Now
	}
	if id, secret := opt.Storage["s3.access-key-id"], opt.Storage["s3.secret-access-key"]; s.keys == nil && id != "" && secret != "" {
		s.keys = credentials.NewStaticCredentialsProvider(id, secret, opt.Storage["s3.session-token"])
	}
	if s.keys == nil || s.region == "" {
		chain, err := awsconfig.LoadDefaultConfig(context.Background())
		if err != nil {
			return nil, fmt.Errorf("sign: the default chain of AWS credentials: %w", err)
		}
		if s.keys == nil {
			s.keys = chain.Credentials
		}
		if s.region == "" {
			s.region = chain.Region
		}
	}
	if s.keys == nil {
		return nil, errors.New("sign: there are no storage credentials to sign with")
	}
	s.keys = aws.NewCredentialsCache(s.keys)
	if endpoint := opt.Storage["s3.endpoint"]; endpoint != "" {
		if s.region == "" {
			s.region = "us-east-1" // what stores without regions go by
		}
		if s.hosts, err = customHosts(endpoint, root.bucket, pathStyle(opt.Storage)); err == nil {
			s.hosts.checksBodies = opt.ChecksBodies
		}
	} else {
		s.hosts, err = awsHosts(s.region, root.bucket)
	}
	if err != nil {
		return nil, err
	}
	g := &signing{next: next, vends: opt.Vends, root: root, signer: s, config: map[string]string{
		"s3.remote-signing-enabled": "true", "s3.region": s.region, "client.region": s.region,
		// PyIceberg signs with one of its two file systems for S3 only.
		"s3.signer": "S3V4RestSigner", "py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO",
	}}
	if g.where, err = lru.New[version, prefix](remembered); err != nil {
		return nil, err
	}
	g.Backend = mounts.Around(next, g.intercept)
	return g, nil
}

func first(of map[string]string, names ...string) string {
	for _, name := range names {
		if of[name] != "" {
			return of[name]
		}
	}
	return ""
}

// pathStyle decides as the mount's own client does: a store with an endpoint of
// its own is asked by path unless something says otherwise.
func pathStyle(storage map[string]string) bool {
	if virtual, err := strconv.ParseBool(storage["s3.force-virtual-addressing"]); err == nil {
		return !virtual
	}
	if path, err := strconv.ParseBool(storage["s3.path-style-access"]); err == nil {
		return path
	}
	return true
}

// Unwrap is what it stands around, for mounts.As.
func (g *signing) Unwrap() mounts.Backend { return g.next }

// Capabilities implements mounts.Backend.
func (g *signing) Capabilities() capabilities.Set {
	return g.next.Capabilities().Union(capabilities.Of(capabilities.SignRequest))
}

func (g *signing) intercept(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	switch r := req.(type) {
	case *mounts.LoadTableRequest:
		if g.wanted(ctx, r.Delegation) {
			whole := *r
			whole.IfNoneMatch = "" // what is not modified would come without
			return g.added(next(ctx, &whole))
		}
	case *mounts.CreateTableRequest:
		if g.wanted(ctx, r.Delegation) && !r.StageCreate {
			return g.added(next(ctx, req))
		}
	case *mounts.RegisterTableRequest:
		if g.wanted(ctx, r.Delegation) {
			return g.added(next(ctx, req))
		}
	case *mounts.SignStorageRequest:
		doc, err := g.answer(ctx, r, next)
		if err != nil {
			e := *mounts.AsError(err)
			e.Op, e.Ident = r.Op(), r.Table
			return nil, &e
		}
		return doc, nil
	}
	return next(ctx, req)
}

// wanted reports whether a client asked for signing, gets access at all, and is
// not given credentials instead.
func (g *signing) wanted(ctx context.Context, delegation string) bool {
	signs, vended := false, false
	for word := range strings.SplitSeq(delegation, ",") {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "remote-signing":
			signs = true
		case "vended-credentials":
			vended = true
		}
	}
	return signs && !(vended && g.vends) && mounts.CallerFrom(ctx).Storage > mounts.NoStorage
}

// added is a table with how its requests are signed, if it lies where they are.
func (g *signing) added(resp mounts.Response, err error) (mounts.Response, error) {
	if err != nil {
		return nil, err
	}
	t, ok := resp.(*mounts.Table)
	if !ok {
		return nil, fmt.Errorf("sign: a table was expected, and a %T came", resp)
	}
	if _, err := g.locate(t); err != nil {
		return t, nil
	}
	out := *t
	out.ETag = ""
	out.Signing = &mounts.Signing{Config: maps.Clone(g.config)}
	return &out, nil
}

// answer signs one request for the table as it is now.
func (g *signing) answer(ctx context.Context, r *mounts.SignStorageRequest, next mounts.Handler) (*mounts.Document, error) {
	access := mounts.CallerFrom(ctx).Storage
	if access < mounts.ReadStorage {
		return nil, forbid("for this caller")
	}
	asked, err := readRequest(r.Body)
	if err != nil {
		return nil, err
	}
	resp, err := next(ctx, &mounts.LoadTableRequest{Table: r.Table, Snapshots: mounts.SnapshotsRefs})
	if err != nil {
		return nil, err
	}
	t, ok := resp.(*mounts.Table)
	if !ok {
		return nil, fmt.Errorf("sign: a table was expected, and a %T came", resp)
	}
	at, err := g.locate(t)
	if err != nil {
		e := mounts.AsError(forbid("since it lies outside of the warehouse that requests are signed for here"))
		e.Err = err
		return nil, e
	}
	o, err := check(asked, g.signer.hosts, at, access)
	if err != nil {
		return nil, err
	}
	return g.signer.sign(ctx, o)
}
