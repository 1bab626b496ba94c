package rest

import (
	"context"
	"mime"
	"net/http"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// ListTables implements mounts.Backend. The root holds no tables.
func (b *Backend) ListTables(ctx context.Context, req *mounts.ListTablesRequest) (*pagination.Page[mounts.Identifier], error) {
	return b.list(ctx, req, req.Namespace, "tables", req.Page)
}

func (b *Backend) list(ctx context.Context, req mounts.Request, n mounts.Namespace, collection string, page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if n.IsRoot() {
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{}}, nil
	}
	if c.url, err = c.at.within(n, c, collection); err != nil {
		return nil, err
	}
	return fetch(ctx, b, listing[mounts.Identifier]{call: c, member: "identifiers", row: named(n)}, page)
}

// LoadTable implements mounts.Backend.
func (b *Backend) LoadTable(ctx context.Context, req *mounts.LoadTableRequest) (*mounts.Table, error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if nowhere(req.Table) {
		return nil, c.fail(mounts.NoSuchTable, "")
	}
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return nil, err
	}
	c.url = queried(c.url, "snapshots="+segment(string(req.Snapshots)), "referenced-by="+referencedBy(c.at, req.ReferencedBy))
	c.delegation, c.refs = b.delegation(req.Delegation), req.Snapshots == mounts.SnapshotsRefs
	c.ifNoneMatch = conditional(b.tags.of(c).open(req.IfNoneMatch), c.delegation)
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	switch {
	case a.status == http.StatusNotModified && c.ifNoneMatch != "":
		return &mounts.Table{NotModified: true, ETag: b.tags.of(c).seal(marked(entityTag(a.header), c.delegation, false))}, nil
	case a.status != http.StatusOK:
		return nil, refusal(c, a)
	}
	return b.readTable(c, a)
}

// TableExists implements mounts.Backend by HEAD where the remote offers it. A
// HEAD that does not say yes is followed by a load: its answer has no body to
// tell an absent table from a wrong route, and some remotes list HEAD and do not
// have it.
func (b *Backend) TableExists(ctx context.Context, req *mounts.TableExistsRequest) error {
	c, err := b.begin(req)
	if err != nil {
		return err
	}
	if nowhere(req.Table) {
		return c.fail(mounts.NoSuchTable, "")
	}
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return err
	}
	if c.at.heads(capabilities.TableExists) && !c.steps() { // a HEAD does not say of what
		c.method = http.MethodHead
		a, err := b.do(ctx, c)
		if err != nil {
			return err
		}
		switch a.status {
		case http.StatusNoContent:
			return nil
		case http.StatusOK:
			// A login or maintenance page says 200 to everything.
			if mayBeJSON(a.header) {
				return nil
			}
		case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		default:
			return refusal(c, a)
		}
		c.method = http.MethodGet
	}
	c.url += "?snapshots=" + string(mounts.SnapshotsRefs) // the smaller answer
	a, err := b.do(ctx, c)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return refusal(c, a)
	}
	if _, err := readLoaded(a.body); err != nil {
		return broken(c, err)
	}
	return nil
}

// mayBeJSON reports whether an answer without a body can be a catalog's: it says
// that it is JSON, or nothing.
func mayBeJSON(h http.Header) bool {
	value := h.Get("Content-Type")
	if value == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(value)
	return err == nil && (media == "application/json" || strings.HasSuffix(media, "+json"))
}
