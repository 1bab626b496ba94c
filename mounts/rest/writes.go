package rest

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Changes are sent once. Nothing below sends one again by itself: not this
// package, not retryablehttp (newHTTP), and not package http, which would where
// it sees an Idempotency-Key (setHeader). Two cases remain, and in neither has
// the remote done anything: the connection that was to be used turned out to be
// closed before a byte was written, and the remote refused the login (client.do).

// forwards are the operations on namespaces, tables and views that this backend
// has for a remote that has those. A metrics report is taken in any case: where the remote has no route for it, it is
// dropped, so that mounts beside this one get theirs.
func forwards(own Config, has capabilities.Set) capabilities.Set {
	able := has.Emulated().Intersect(forwarded())
	if own.Writable {
		able = able.Union(has.Intersect(capabilities.Changes()))
	}
	return able.Union(capabilities.Of(capabilities.ReportMetrics))
}

// change begins the call of a change.
func (b *Backend) change(req mounts.Request) (call, error) {
	c, err := b.begin(req)
	c.method = http.MethodPost
	return c, err
}

// write sends a change. The answer is one that may be a success; its body is
// still to be read.
func (b *Backend) write(ctx context.Context, c call) (*answer, error) {
	c.key = b.key(ctx)
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	switch a.status {
	case http.StatusOK, http.StatusCreated, http.StatusNoContent:
		return a, nil
	}
	return nil, refusal(c, a)
}

// finish sends a change that is answered with nothing but success. The spec's
// answer is 204; a 200 or 201 counts too (older Java servers, Nessie) unless it
// is a page of something else or tells of an error.
func (b *Backend) finish(ctx context.Context, c call) error {
	if err := b.meant(ctx, c); err != nil {
		return err
	}
	a, err := b.write(ctx, c)
	if err != nil || a.status == http.StatusNoContent {
		return err
	}
	if len(bytes.TrimSpace(a.body)) == 0 {
		if !mayBeJSON(a.header) {
			return broken(c, errors.New("a success of another type than JSON"))
		}
		return nil
	}
	err = members(a.body, func(name string, _ jsontext.Value) error {
		if name == "error" {
			return errors.New("a success that holds an error")
		}
		return nil
	})
	if err != nil {
		return broken(c, err)
	}
	return nil
}

// fail is the error of a request that is refused here, before anything is sent.
func (c call) fail(kind mounts.Kind, msg string) error {
	return &mounts.Error{Kind: kind, Op: c.op, Ident: c.object, To: c.to, Msg: msg}
}

// place refuses a name that nothing can be made under: none at all, one directly
// in the root, or one that the remote would take for another.
func (c call) place(id mounts.Identifier) error {
	switch {
	case id.Namespace.IsRoot():
		return c.fail(mounts.BadRequest, "a table or view needs a namespace to be in")
	case id.Name == "":
		return c.fail(mounts.BadRequest, "a table or view needs a name")
	}
	return c.at.check(id.Namespace, c)
}

// nowhere reports a name that no table or view can have.
func nowhere(id mounts.Identifier) bool { return id.Namespace.IsRoot() || id.Name == "" }
