package sign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/icefield/icefield/mounts"
)

// signed is the answer (REST spec, RemoteSignResult).
type signed struct {
	URI     string              `json:"uri"`
	Headers map[string][]string `json:"headers"`
}

// sign makes the signature. Only what it adds is answered: clients put it over,
// or beside, the headers that they have.
func (s *signer) sign(ctx context.Context, o *order) (*mounts.Document, error) {
	keys, err := s.keys.Retrieve(ctx)
	if err == nil && !keys.HasKeys() {
		err = errors.New("sign: the provider gave no keys")
	}
	if ctx.Err() != nil {
		return nil, &mounts.Error{Kind: mounts.Timeout, Err: ctx.Err(), Answered: true}
	}
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.BadGateway, Answered: true, Err: fmt.Errorf("the mount's storage credentials: %w", err),
			Msg: "the storage credentials that requests are signed with cannot be had; nothing was signed, and the server's log has the cause under the request id"}
	}
	path, err := url.PathUnescape(o.target.path)
	if err != nil {
		return nil, err // it was written here
	}
	r := &http.Request{Method: o.method, Host: o.target.host, Header: http.Header{},
		URL: &url.URL{Scheme: o.target.scheme, Host: o.target.host, Path: path, RawPath: o.target.path, RawQuery: o.target.rawQuery()}}
	for name, value := range o.header {
		r.Header.Set(name, value)
	}
	r.Header.Set(shaHeader, o.payload)
	err = s.v4.SignHTTP(ctx, keys, r, o.payload, "s3", s.region, s.now().UTC(), func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = true // the path is encoded already, once
	})
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.Internal, Answered: true, Err: err, Msg: "the storage request cannot be signed"}
	}
	answer := signed{URI: o.target.uri(), Headers: map[string][]string{}}
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Security-Token"} {
		if value := r.Header.Get(name); value != "" {
			answer.Headers[name] = []string{value}
		}
	}
	if o.added {
		answer.Headers[shaHeader] = []string{o.payload}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	doc := &mounts.Document{Body: body, CacheControl: "no-cache"}
	if o.cacheable {
		doc.CacheControl = "private"
	}
	return doc, nil
}

// signer is what one mount signs with.
type signer struct {
	hosts  *hosts
	region string
	keys   aws.CredentialsProvider
	v4     *v4.Signer
	now    func() time.Time
}
