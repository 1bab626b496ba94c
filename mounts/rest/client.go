package rest

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// statusAuthTimeout is the spec's status for a login that has expired.
const statusAuthTimeout = 419

// client makes the HTTP calls of one remote.
type client struct {
	http      *retryablehttp.Client
	transport *http.Transport
	login     login
	request   time.Duration
	limit     int64
	agent     string
	instance  string
	observe   func(Call)
	reader    reader
	// hosts are the remote's own addresses, which no message may hold.
	hosts []string
}

func newClient(c Config) *client {
	transport := newTransport(c)
	k := &client{http: newHTTP(pool{transport}), transport: transport, login: anonymous{}, request: c.Request,
		limit: c.MaxResponse, agent: c.UserAgent, instance: c.InstanceID, observe: c.Observe}
	if u, err := url.Parse(c.URL); err == nil {
		k.hosts = append(k.hosts, u.Host)
		if strings.Contains(u.Hostname(), ".") {
			k.hosts = append(k.hosts, u.Hostname())
		}
	}
	switch {
	case c.Auth.bearer != nil:
		k.login = authorization{bearer{c.Auth.bearer}}
	case c.Auth.oauth2 != nil:
		tokens := plainClient(observed{next: pool{transport}, agent: c.UserAgent, observe: c.Observe})
		k.login = authorization{newClientCredentials(*c.Auth.oauth2, c.URL, tokens, c.Request)}
	}
	return k
}

func (k *client) close() {
	k.login.close()
	k.transport.CloseIdleConnections()
}

// call is one call to the remote.
type call struct {
	op          capabilities.Op
	kind        string
	method, url string
	ifNoneMatch string
	// object is what an error is about.
	object mounts.Identifier
	// at is what was known of the remote when the call began.
	at *settings
	// to is the destination of a rename; creates marks a commit that makes its
	// table.
	to      mounts.Identifier
	creates bool
}

// answer is what came back, whatever its status. The body of an error is cut
// off at maxErrorBody and empty if it could not be read.
type answer struct {
	status int
	header http.Header
	body   []byte
	// hide is what no message may repeat: the token that the request bore and
	// the remote's own addresses.
	hide []string
	// secret is what the login used.
	secret string
}

// do makes the call, once more if the login was refused and can be renewed. Its
// errors are *mounts.Error; every status is an answer.
func (k *client) do(ctx context.Context, c call) (*answer, error) {
	a, err := k.send(ctx, c)
	if err != nil || a.status != http.StatusUnauthorized && a.status != statusAuthTimeout {
		return a, err
	}
	renewed, err := k.login.renew(ctx, a.secret)
	if err != nil {
		return nil, about(err, c)
	}
	if !renewed {
		return a, nil
	}
	return k.send(ctx, c)
}

// send makes one HTTP call.
func (k *client) send(ctx context.Context, c call) (*answer, error) {
	if ctx.Err() != nil {
		return nil, about(callerGone(ctx), c)
	}
	callCtx, cancel := context.WithTimeout(ctx, k.request)
	defer cancel()
	callCtx, connected := traced(callCtx)
	req, err := retryablehttp.NewRequestWithContext(callCtx, c.method, c.url, nil)
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.Internal, Op: c.op, Ident: c.object, Err: innermost(err)}
	}
	k.setHeader(ctx, req.Header, c)
	secret, err := k.login.authorize(callCtx, req.Request, nil)
	if err != nil {
		return nil, about(err, c)
	}

	start := time.Now()
	seen := Call{Op: c.op, Kind: c.kind}
	defer func() {
		seen.Duration = time.Since(start)
		k.observe(seen)
	}()
	resp, err := k.http.Do(req)
	if err != nil {
		return nil, lost(ctx, callCtx, c, err, connected.Load())
	}
	defer resp.Body.Close()
	seen.Status = resp.StatusCode
	a := &answer{status: resp.StatusCode, header: resp.Header, secret: secret,
		hide: append(k.hosts[:len(k.hosts):len(k.hosts)], secret)}
	if c.method == http.MethodHead {
		return a, nil
	}
	if resp.StatusCode != http.StatusOK {
		if a.body, err = k.reader.read(resp, maxErrorBody); err != nil {
			a.body = nil
		}
		if callCtx.Err() != nil {
			return nil, lost(ctx, callCtx, c, callCtx.Err(), true)
		}
		return a, nil
	}
	if a.body, err = k.reader.read(resp, k.limit); err != nil {
		return nil, lost(ctx, callCtx, c, err, true)
	}
	return a, nil
}

// setHeader sets everything that the remote is told. Nothing of the client's own
// request is forwarded but what stands here.
func (k *client) setHeader(ctx context.Context, h http.Header, c call) {
	h.Set("Accept", "application/json")
	h.Set("Accept-Encoding", "gzip")
	h.Set("User-Agent", k.agent)
	if c.ifNoneMatch != "" && headerValue(c.ifNoneMatch) {
		h.Set("If-None-Match", c.ifNoneMatch)
	}
	caller := mounts.CallerFrom(ctx)
	if caller.RequestID != "" && headerValue(caller.RequestID) {
		h.Set("X-Request-Id", caller.RequestID)
	}
	if caller.TraceParent != "" && headerValue(caller.TraceParent) {
		h.Set("Traceparent", caller.TraceParent)
	}
	via := caller.Via
	if k.instance != "" {
		via = append(via[:len(via):len(via)], k.instance)
	}
	if list := strings.Join(via, ", "); list != "" && headerValue(list) {
		h.Set("X-Icefield-Via", list)
	}
}

// headerValue reports whether s can be sent as a header: printable ASCII, and
// not endless.
func headerValue(s string) bool {
	if len(s) > 8<<10 {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
