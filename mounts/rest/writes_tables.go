package rest

import (
	"context"
	"net/http"
	"strconv"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// CreateTable implements mounts.Backend. A table that is staged has no
// metadata-location in most answers.
func (b *Backend) CreateTable(ctx context.Context, req *mounts.CreateTableRequest) (*mounts.Table, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if err := c.place(c.object); err != nil {
		return nil, err
	}
	if err := b.confined(c, append(pathsIn(req.Properties), supplied{"location", req.Location})...); err != nil {
		return nil, err
	}
	if c.url, err = c.at.within(req.Namespace, c, "tables"); err != nil {
		return nil, err
	}
	c.delegation, c.staged = b.delegation(req.Delegation), req.StageCreate
	// Nessie fails with a 500 where stage-create is missing, which Iceberg's own clients always send.
	c.body = newBody(len(req.Schema)).text("name", req.Name).some("location", req.Location).raw("schema", req.Schema).
		raw("partition-spec", req.PartitionSpec).raw("write-order", req.WriteOrder).truth("stage-create", req.StageCreate).
		properties(req.Properties).rest(req.Extra).end()
	a, err := b.write(ctx, c)
	if err != nil {
		return nil, err
	}
	return b.readTable(c, a)
}

// properties adds a map that is there.
func (o *object) properties(values map[string]string) *object {
	if values == nil {
		return o
	}
	return o.texts("properties", values)
}

// RegisterTable implements mounts.Backend.
func (b *Backend) RegisterTable(ctx context.Context, req *mounts.RegisterTableRequest) (*mounts.Table, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if err := c.place(c.object); err != nil {
		return nil, err
	}
	if err := b.confined(c, supplied{"metadata-location", req.MetadataLocation}); err != nil {
		return nil, err
	}
	if c.url, err = c.at.within(req.Namespace, c, "register"); err != nil {
		return nil, err
	}
	c.delegation = b.delegation(req.Delegation)
	c.body = newBody(0).text("name", req.Name).text("metadata-location", req.MetadataLocation).
		yes("overwrite", req.Overwrite).rest(req.Extra).end()
	a, err := b.write(ctx, c)
	if err != nil {
		return nil, err
	}
	return b.readTable(c, a)
}

// UnregisterTable implements mounts.Backend.
func (b *Backend) UnregisterTable(ctx context.Context, req *mounts.UnregisterTableRequest) (*mounts.Table, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	if nowhere(req.Table) {
		return nil, c.fail(mounts.NoSuchTable, "")
	}
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return nil, err
	}
	c.url += "/unregister"
	return b.committed(ctx, c)
}

// committed sends a change that is answered with a table's pointer and metadata.
// Nothing else of the answer is passed on: it is no place for access to storage.
func (b *Backend) committed(ctx context.Context, c call) (*mounts.Table, error) {
	a, err := b.write(ctx, c)
	if err != nil {
		return nil, err
	}
	loaded, err := readLoaded(a.body)
	if err != nil {
		return nil, broken(c, err)
	}
	return &mounts.Table{MetadataLocation: loaded.location, Metadata: loaded.metadata, Extra: loaded.extra, ETag: b.tags.seal(entityTag(a.header))}, nil
}

// CommitTable implements mounts.Backend.
func (b *Backend) CommitTable(ctx context.Context, req *mounts.CommitTableRequest) (*mounts.Table, error) {
	c, err := b.change(req)
	if err != nil {
		return nil, err
	}
	return b.commit(ctx, c, req)
}

func (b *Backend) commit(ctx context.Context, c call, req *mounts.CommitTableRequest) (*mounts.Table, error) {
	c.creates = req.Creates()
	switch {
	case c.creates:
		if err := c.place(req.Table); err != nil {
			return nil, err
		}
	case nowhere(req.Table):
		return nil, c.fail(mounts.NoSuchTable, "")
	}
	if err := b.confinedUpdates(c, req.Updates); err != nil {
		return nil, err
	}
	var err error
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return nil, err
	}
	c.body = commitBody(req.Table, req.Requirements, req.Updates, req.Extra)
	return b.committed(ctx, c)
}

// CommitTransaction implements mounts.Backend. To a remote without a route for
// it a transaction of one change is sent as the commit of that table, which is
// the same; it is not among the capabilities then, so that clients that can do
// without do (DuckDB commits table by table).
func (b *Backend) CommitTransaction(ctx context.Context, req *mounts.CommitTransactionRequest) error {
	s := b.current()
	if can := s.can; !can.Has(capabilities.CommitTransaction) && can.Has(capabilities.CommitTable) {
		if err := s.beyond(req); err != nil {
			return err
		}
		if len(req.Changes) == 1 && len(req.Extra) == 0 {
			c := call{at: s, op: req.Op(), kind: kindCatalog, method: http.MethodPost, object: req.Object()}
			_, err := b.commit(ctx, c, &req.Changes[0])
			return err
		}
		e := mounts.NotSupported(req)
		e.Msg = "the remote catalog has no transactions; commit to one table at a time (no table was touched)"
		return e
	}
	c, err := b.change(req)
	if err != nil {
		return err
	}
	if len(req.Changes) == 0 {
		return c.fail(mounts.BadRequest, "a transaction needs at least one change")
	}
	for i := range req.Changes {
		change := &req.Changes[i]
		at := c
		at.object = change.Table
		switch {
		case change.Creates():
			err = at.place(change.Table)
		case nowhere(change.Table):
			err = at.fail(mounts.NoSuchTable, "")
		default:
			err = at.at.check(change.Table.Namespace, at)
		}
		if err == nil {
			err = b.confinedUpdates(at, change.Updates)
		}
		if err != nil {
			return err
		}
	}
	c.url = c.at.root + "/transactions/commit"
	c.body = transactionBody(req)
	return b.finish(ctx, c)
}

// RenameTable implements mounts.Backend.
func (b *Backend) RenameTable(ctx context.Context, req *mounts.RenameTableRequest) error {
	c, err := b.change(req)
	if err != nil {
		return err
	}
	body := newBody(0).identifier("source", req.Source).identifier("destination", req.Destination).rest(req.Extra).end()
	return b.rename(ctx, c, req.Source, req.Destination, "tables", mounts.NoSuchTable, body)
}

func (b *Backend) rename(ctx context.Context, c call, from, to mounts.Identifier, collection string, absent mounts.Kind, body []byte) error {
	if nowhere(from) {
		return c.fail(absent, "")
	}
	if err := c.at.check(from.Namespace, c); err != nil {
		return err
	}
	c.to = to
	if err := c.place(to); err != nil {
		return err
	}
	c.url, c.body = c.at.root+"/"+collection+"/rename", body
	return b.finish(ctx, c)
}

// DropTable implements mounts.Backend.
func (b *Backend) DropTable(ctx context.Context, req *mounts.DropTableRequest) error {
	c, err := b.change(req)
	if err != nil {
		return err
	}
	if nowhere(req.Table) {
		return c.fail(mounts.NoSuchTable, "")
	}
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return err
	}
	c.method = http.MethodDelete
	c.url += "?purgeRequested=" + strconv.FormatBool(req.Purge)
	return b.finish(ctx, c)
}

// ReportMetrics implements mounts.Backend. A remote that has no route for
// reports gets none. Whatever answer comes proves the remote reachable: a route
// that fails at reports must not count against the mount's loads.
func (b *Backend) ReportMetrics(ctx context.Context, req *mounts.ReportMetricsRequest) error {
	c, err := b.change(req)
	if err != nil || !c.at.has.Has(capabilities.ReportMetrics) {
		return err
	}
	if nowhere(req.Table) {
		return c.fail(mounts.NoSuchTable, "")
	}
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return err
	}
	c.url += "/metrics"
	c.body = req.Body
	a, err := b.do(ctx, c)
	switch {
	case err != nil:
		return err
	case a.status >= 200 && a.status < 300:
		return nil
	}
	e := *mounts.AsError(refusal(c, a))
	e.Answered = true
	return &e
}
