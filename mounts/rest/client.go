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
	headers   map[string]string
	observe   func(Call)
	reader    reader
	// hosts are the remote's own addresses, which no message may hold.
	hosts []string
}

func newClient(c Config) *client {
	transport := newTransport(c)
	k := &client{http: newHTTP(pool{transport}), transport: transport, request: c.Request,
		limit: c.MaxResponse, agent: c.UserAgent, instance: c.InstanceID, headers: c.Headers, observe: c.Observe,
		reader: reader{memory: c.Memory}}
	if u, err := url.Parse(c.URL); err == nil {
		k.hosts = append(k.hosts, u.Host)
		if strings.Contains(u.Hostname(), ".") {
			k.hosts = append(k.hosts, u.Hostname())
		}
	}
	k.login = c.Auth.login(loginDeps{base: c.URL, timeout: c.Request, now: time.Now,
		http: plainClient(observed{next: pool{transport}, agent: c.UserAgent, observe: c.Observe})})
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
	// delegation is the X-Iceberg-Access-Delegation to ask with; empty for none.
	delegation string
	// body is JSON; nil for none.
	body []byte
	// key is the Idempotency-Key to send; empty for none.
	key string
	// object is what an error is about.
	object mounts.Identifier
	// at is what was known of the remote when the call began.
	at *settings
	// to is the destination of a rename; creates marks a commit that makes its
	// table.
	to      mounts.Identifier
	creates bool
	// staged marks a create that makes nothing yet.
	staged bool
	// refs marks a load of the referenced snapshots only.
	refs bool
	// header holds what else is sent; it replaces nothing.
	header http.Header
}

// answer is what came back, whatever its status. The body of an error is cut
// off at maxErrorBody and empty if it could not be read.
type answer struct {
	status int
	header http.Header
	body   []byte
	// hide is what no message may repeat: all that the login knows and the
	// remote's own addresses. Only refusals have it.
	hide []string
	// proof is the login that the request bore.
	proof proof
}

// do makes the call, once more if the login was refused and can be renewed. Its
// errors are *mounts.Error; every status is an answer.
func (k *client) do(ctx context.Context, c call) (*answer, error) {
	a, err := k.send(ctx, c)
	if err != nil || !loginRefused(a) {
		return a, err
	}
	renewed, err := k.login.renew(ctx, a.proof)
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
	var body any
	if c.body != nil {
		body = c.body
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, c.method, c.url, body)
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.Internal, Op: c.op, Ident: c.object, Err: innermost(err)}
	}
	k.setHeader(ctx, req.Header, c)
	// Not under the call's own clock and trace: a token call is bounded by itself,
	// and what it sends is nothing that the catalog got.
	proof, err := k.login.authorize(ctx, req.Request, c.body)
	if err != nil {
		return nil, about(err, c)
	}
	callCtx, cancel := context.WithTimeout(ctx, k.request)
	defer cancel()
	callCtx, way := traced(callCtx)
	req = req.WithContext(callCtx)

	scope := mounts.CallerFrom(ctx).Scope
	scope.CountRemoteCall()
	start := time.Now()
	seen := Call{Op: c.op, Kind: c.kind}
	defer func() {
		seen.Duration = time.Since(start)
		scope.NoteRemote(mounts.RemoteCall{Identity: proof.as(), Status: seen.Status})
		k.observe(seen)
	}()
	resp, err := k.http.Do(req)
	if err != nil {
		// What is wrong with an answer is told with pieces of it.
		err = hush(err, k.hide(ctx, proof))
		if way.stale() && callCtx.Err() != nil && ctx.Err() == nil {
			// The network may have forgotten this connection, and with it the
			// others that have been kept: each would cost somebody a timeout.
			k.transport.CloseIdleConnections()
		}
		return nil, lost(ctx, callCtx, c, err, way.reached(c.changes()))
	}
	defer resp.Body.Close()
	seen.Status = resp.StatusCode
	a := &answer{status: resp.StatusCode, header: resp.Header, proof: proof}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusNotModified {
		a.hide = k.hide(ctx, proof)
	}
	if c.method == http.MethodHead {
		return a, nil
	}
	if resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated {
		if a.body, err = k.reader.read(callCtx, resp, maxErrorBody, false); err != nil {
			a.body = nil
		}
		if callCtx.Err() != nil {
			return nil, lost(ctx, callCtx, c, callCtx.Err(), true)
		}
		return a, nil
	}
	if a.body, err = k.reader.read(callCtx, resp, c.limit(k.limit), !c.changes()); err != nil {
		if full := noRoom(err); full != nil {
			return nil, about(full, c)
		}
		return nil, lost(ctx, callCtx, c, err, true)
	}
	return a, nil
}

// limit bounds the answer, within what the mount allows.
func (c call) limit(allowed int64) int64 {
	if c.kind == kindConfig {
		return min(allowed, maxSettings)
	}
	return allowed
}

// hide is what no message about a call may repeat.
func (k *client) hide(ctx context.Context, p proof) []string {
	all := append(k.hosts[:len(k.hosts):len(k.hosts)], p.signature)
	if p.signature == "" {
		all = append(all, p.used)
	}
	// A header may be a second login. Short values are names of realms and such,
	// which would be found in innocent words.
	for _, value := range k.headers {
		if len(value) > longestTold {
			all = append(all, value)
		}
	}
	return append(all, k.login.secrets(ctx)...)
}

// setHeader sets everything that the remote is told. Nothing of the client's own
// request is forwarded but what stands here.
func (k *client) setHeader(ctx context.Context, h http.Header, c call) {
	h.Set("Accept", "application/json")
	h.Set("Accept-Encoding", "gzip")
	h.Set("User-Agent", k.agent)
	for name, value := range k.headers {
		h.Set(name, value)
	}
	if c.body != nil {
		h.Set("Content-Type", "application/json")
	}
	if c.delegation != "" && headerValue(c.delegation) {
		h.Set("X-Iceberg-Access-Delegation", c.delegation)
	}
	if c.key != "" {
		// Package http sends a request with this header again by itself when the
		// connection that it took turns out to be dead (Request.isReplayable). It
		// looks for the canonical spelling; HTTP/1.1 servers do not.
		h["idempotency-key"] = []string{c.key}
	}
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
	instance := k.instance
	if caller.Instance != "" {
		instance = caller.Instance // newer than the mount, if the configuration has changed since
	}
	if instance != "" {
		via = append(via[:len(via):len(via)], instance)
	}
	if list := strings.Join(via, ", "); list != "" && headerValue(list) {
		h.Set("X-Icefield-Via", list)
	}
	for name, values := range c.header {
		if name = http.CanonicalHeaderKey(name); h[name] == nil {
			h[name] = values
		}
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
