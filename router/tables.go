package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
	"github.com/icefield/icefield/policy"
)

func listTables(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	p, err := readPaging(x.values())
	if err != nil {
		return err
	}
	next := func(ctx context.Context, page pagination.Request) (*pagination.Page[mounts.Identifier], error) {
		return ask[*pagination.Page[mounts.Identifier]](ctx, x, &mounts.ListTablesRequest{Namespace: ns, Page: page})
	}
	return list(ctx, x, p, "identifiers", next, appendIdentifier)
}

func loadTable(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	snapshots, err := readSnapshots(x.values())
	if err != nil {
		return err
	}
	t, err := ask[*mounts.Table](ctx, x, &mounts.LoadTableRequest{
		Table: id, Snapshots: snapshots, IfNoneMatch: x.header("If-None-Match"),
		Delegation: x.delegation(), ReferencedBy: readReferencedBy(x.r.URL.RawQuery),
	})
	if err != nil {
		return err
	}
	if t.NotModified {
		x.notModified(t.ETag)
		return nil
	}
	return x.loaded(x.withAccess(id, t))
}

// notModified answers 304, which has no body.
func (x *exchange) notModified(etag string) {
	if claim(x.w) {
		x.headers(reply{secret: true, etag: etag})
		x.w.WriteHeader(http.StatusNotModified)
	}
}

// loaded answers with a LoadTableResult.
func (x *exchange) loaded(t *mounts.Table) error {
	return x.document(reply{secret: true, etag: t.ETag}, t.Metadata, func(b []byte) ([]byte, int) {
		b = appendHead(b, t.MetadataLocation)
		tail := len(b)
		return appendTableTail(b, t), tail
	})
}

// committed answers with a CommitTableResponse, which has no config.
func (x *exchange) committed(t *mounts.Table) error {
	return x.document(reply{secret: true, etag: t.ETag}, t.Metadata, func(b []byte) ([]byte, int) {
		b = appendHead(b, t.MetadataLocation)
		tail := len(b)
		return append(appendExtra(b, t.Extra), '}'), tail
	})
}

// tableExists falls back on a load where the catalog behind has no existence
// check.
func tableExists(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	_, err = x.send(ctx, &mounts.TableExistsRequest{Table: id})
	if errors.Is(err, mounts.UnsupportedOperation) {
		_, err = x.send(policy.Probe(ctx), &mounts.LoadTableRequest{Table: id, Snapshots: mounts.SnapshotsRefs})
	}
	if err != nil && !errors.Is(err, mounts.MetadataMissing) {
		return err
	}
	x.done()
	return nil
}

func createTable(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	var req mounts.CreateTableRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkName("name", req.Name); err != nil {
		return err
	}
	if absent(req.Schema) {
		return badField("schema", "is missing")
	}
	req.Namespace, req.Delegation = ns, x.delegation()
	req.PartitionSpec, req.WriteOrder = optional(req.PartitionSpec), optional(req.WriteOrder)
	t, err := ask[*mounts.Table](ctx, x, &req)
	if err != nil {
		return err
	}
	return x.loaded(x.withAccess(mounts.Identifier{Namespace: ns, Name: req.Name}, t))
}

func registerTable(ctx context.Context, x *exchange) error {
	ns, err := x.namespace()
	if err != nil {
		return err
	}
	var req mounts.RegisterTableRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkName("name", req.Name); err != nil {
		return err
	}
	if req.MetadataLocation == "" {
		return badField("metadata-location", "is missing")
	}
	req.Namespace, req.Delegation = ns, x.delegation()
	t, err := ask[*mounts.Table](ctx, x, &req)
	if err != nil {
		return err
	}
	return x.loaded(x.withAccess(mounts.Identifier{Namespace: ns, Name: req.Name}, t))
}

func unregisterTable(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	t, err := ask[*mounts.Table](ctx, x, &mounts.UnregisterTableRequest{Table: id})
	if err != nil {
		return err
	}
	return x.committed(t)
}

// change is the body of a commit. Its identifier is not looked at where the path
// has one: clients differ in what they put there.
type change struct {
	Requirements []json.RawMessage `json:"requirements"`
	Updates      []json.RawMessage `json:"updates"`
	extra        map[string]json.RawMessage
}

// check makes missing lists empty, as some clients leave them out.
func (c *change) check(prefix string) error {
	if c.Requirements == nil {
		c.Requirements = []json.RawMessage{}
	}
	if c.Updates == nil {
		c.Updates = []json.RawMessage{}
	}
	if err := checkObjects(prefix+"requirements", c.Requirements); err != nil {
		return err
	}
	return checkObjects(prefix+"updates", c.Updates)
}

func commitTable(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	var c change
	if err := x.decodeAll(ctx, &c, &c.extra, "identifier"); err != nil {
		return err
	}
	if err := c.check(""); err != nil {
		return err
	}
	t, err := ask[*mounts.Table](ctx, x, &mounts.CommitTableRequest{Table: id, Requirements: c.Requirements, Updates: c.Updates, Extra: c.extra})
	if err != nil {
		return err
	}
	return x.committed(t)
}

// maxChanges bounds the tables of one transaction.
const maxChanges = 1000

// transaction is the body of a commit to several tables.
type transaction struct {
	Changes []namedChange `json:"table-changes"`
}

type namedChange struct {
	Table *mounts.Identifier `json:"identifier"`
	change
}

// keep finds the members that are not known, of each change and of the whole.
func (t *transaction) keep(data []byte) (whole map[string]json.RawMessage, err error) {
	if whole, err = extra(data, t); err != nil {
		return nil, err
	}
	return whole, eachMember(data, func(name string, dec *jsontext.Decoder) error {
		if name != "table-changes" {
			return dec.SkipValue()
		}
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for i := range t.Changes {
			one, err := rawValue(dec, data)
			if err != nil {
				return err
			}
			if len(one) > 0 && one[0] == '{' {
				if t.Changes[i].extra, err = extra(one, &t.Changes[i]); err != nil {
					return err
				}
			}
		}
		_, err := dec.ReadToken()
		return err
	})
}

func commitTransaction(ctx context.Context, x *exchange) error {
	var in transaction
	data, err := x.decode(ctx, &in)
	if err != nil {
		return err
	}
	switch n := len(in.Changes); {
	case n == 0:
		return badField("table-changes", "is empty or missing")
	case n > maxChanges:
		return badField("table-changes", fmt.Sprintf("has more than %d entries", maxChanges))
	}
	whole, err := in.keep(data)
	if err != nil {
		return err
	}
	req := &mounts.CommitTransactionRequest{Changes: make([]mounts.CommitTableRequest, len(in.Changes)), Extra: whole}
	for i := range in.Changes {
		c, field := &in.Changes[i], fmt.Sprintf("table-changes[%d].", i)
		if c.Table == nil {
			return badField(field+"identifier", "is missing")
		}
		if err := checkIdentifier(field+"identifier", *c.Table); err != nil {
			return err
		}
		if err := c.check(field); err != nil {
			return err
		}
		req.Changes[i] = mounts.CommitTableRequest{Table: *c.Table, Requirements: c.Requirements, Updates: c.Updates, Extra: c.extra}
	}
	return do(ctx, x, req)
}

func renameTable(ctx context.Context, x *exchange) error {
	var req mounts.RenameTableRequest
	if err := x.decodeAll(ctx, &req, &req.Extra); err != nil {
		return err
	}
	if err := checkRename(req.Source, req.Destination); err != nil {
		return err
	}
	return do(ctx, x, &req)
}

func checkRename(source, destination mounts.Identifier) error {
	if err := checkIdentifier("source", source); err != nil {
		return err
	}
	return checkIdentifier("destination", destination)
}

func dropTable(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	purge, err := readPurge(x.values())
	if err != nil {
		return err
	}
	return do(ctx, x, &mounts.DropTableRequest{Table: id, Purge: purge})
}

func reportMetrics(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	report, err := x.raw(ctx)
	if err != nil {
		return err
	}
	_, err = x.send(ctx, &mounts.ReportMetricsRequest{Table: id, Body: report})
	if err != nil && !lostReport(err) {
		return err
	}
	x.done()
	return nil
}

// lostReport tells a report that did not get to the catalog behind from one that
// is wrong. Nothing depends on it, and an engine could do nothing about it but
// fill its log: the request counters of the mount show what was lost.
func lostReport(err error) bool {
	for _, kind := range [...]mounts.Kind{mounts.Unavailable, mounts.Timeout, mounts.BadGateway, mounts.RateLimited} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
