package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/pagination"
)

// ListTables implements mounts.Backend. The root holds no tables.
func (b *Backend) ListTables(ctx context.Context, req *mounts.ListTablesRequest) (*pagination.Page[mounts.Identifier], error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	return b.list(req, req.Page, func(s *space) *sorted[*object] { return &s.tables })
}

// list answers a page of a namespace's tables or views.
func (b *Backend) list(req mounts.Request, page pagination.Request, of func(*space) *sorted[*object]) (*pagination.Page[mounts.Identifier], error) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	s := b.find(req.Object().Namespace)
	if s == nil {
		return nil, fail(req, mounts.NoSuchNamespace, req.Object(), nil)
	}
	names, next := of(s).page(page, b.options.MaxPage)
	items := make([]mounts.Identifier, len(names))
	for i, name := range names {
		items[i] = mounts.Identifier{Namespace: slices.Clone(req.Object().Namespace), Name: name}
	}
	return &pagination.Page[mounts.Identifier]{Items: items, Next: next}, nil
}

// LoadTable implements mounts.Backend.
func (b *Backend) LoadTable(ctx context.Context, req *mounts.LoadTableRequest) (*mounts.Table, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	mode := req.Snapshots
	switch mode {
	case "":
		mode = mounts.SnapshotsAll
	case mounts.SnapshotsAll, mounts.SnapshotsRefs:
	default:
		return nil, refuse(req, mounts.BadRequest, req.Table,
			fmt.Sprintf("snapshots=%q is unknown; ask for %q or %q", string(mode), mounts.SnapshotsAll, mounts.SnapshotsRefs))
	}
	b.mu.RLock()
	state := b.table(req.Table)
	b.mu.RUnlock()
	if state == nil {
		return nil, fail(req, mounts.NoSuchTable, req.Table, nil)
	}
	if etag := tag(state, mode); matches(req.IfNoneMatch, etag) {
		return &mounts.Table{ETag: etag, NotModified: true}, nil
	}
	loaded := answer(state)
	if mode == mounts.SnapshotsRefs {
		reduced, err := commit.Refs(state.metadata)
		if err != nil {
			return nil, about(req, req.Table, err)
		}
		loaded.Metadata, loaded.ETag = reduced, tag(state, mode)
	}
	return loaded, nil
}

// answer is a table as a load shows it.
func answer(o *object) *mounts.Table {
	return &mounts.Table{MetadataLocation: o.location, Metadata: o.metadata,
		Config: map[string]string{}, ETag: tag(o, mounts.SnapshotsAll)}
}

// TableExists implements mounts.Backend.
func (b *Backend) TableExists(ctx context.Context, req *mounts.TableExistsRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.table(req.Table) == nil {
		return fail(req, mounts.NoSuchTable, req.Table, nil)
	}
	return nil
}

// CreateTable implements mounts.Backend.
func (b *Backend) CreateTable(ctx context.Context, req *mounts.CreateTableRequest) (*mounts.Table, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	if problem := checkObject(req.Namespace, req.Name); problem != "" {
		return nil, refuse(req, mounts.BadRequest, req.Object(), problem)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := b.free(req, req.Object())
	if err != nil {
		return nil, err
	}
	location, err := b.place(req, req.Location)
	if err != nil {
		return nil, err
	}
	metadata, err := commit.Create(req, location, b.commitOptions())
	if err != nil {
		return nil, about(req, req.Object(), err)
	}
	if req.StageCreate {
		return &mounts.Table{Metadata: metadata, Config: map[string]string{}}, nil
	}
	created := &object{metadata: metadata, location: b.file(location, 0)}
	s.tables.put(req.Name, created)
	return answer(created), nil
}

// RegisterTable implements mounts.Backend for the documents in Options.Files.
func (b *Backend) RegisterTable(ctx context.Context, req *mounts.RegisterTableRequest) (*mounts.Table, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	if problem := checkObject(req.Namespace, req.Name); problem != "" {
		return nil, refuse(req, mounts.BadRequest, req.Object(), problem)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s, err := b.free(req, req.Object())
	if replaced := b.table(req.Object()); replaced != nil && req.Overwrite {
		s, err = b.find(req.Namespace), nil
		b.files[replaced.location] = replaced.metadata
	}
	if err != nil {
		return nil, err
	}
	registered, err := b.registered(req, req.MetadataLocation, commit.Inspect)
	if err != nil {
		return nil, err
	}
	s.tables.put(req.Name, registered)
	return answer(registered), nil
}

// registered is what a document of Options.Files makes, if inspect takes it. The
// lock must be held.
func (b *Backend) registered(req mounts.Request, location string, inspect func(json.RawMessage) (*commit.Summary, error)) (*object, error) {
	metadata, ok := b.files[location]
	if !ok {
		return nil, fail(req, mounts.MetadataMissing, req.Object(), nil)
	}
	if _, err := inspect(metadata); err != nil {
		return nil, about(req, req.Object(), err)
	}
	return &object{metadata: metadata, location: location}, nil
}

// UnregisterTable implements mounts.Backend.
func (b *Backend) UnregisterTable(ctx context.Context, req *mounts.UnregisterTableRequest) (*mounts.Table, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	forgotten, err := b.forget(req, req.Table, false)
	if err != nil {
		return nil, err
	}
	return answer(forgotten), nil
}

// DropTable implements mounts.Backend.
func (b *Backend) DropTable(ctx context.Context, req *mounts.DropTableRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	_, err := b.forget(req, req.Table, req.Purge)
	return err
}

// forget removes a table's pointer; its document stays to be registered again
// unless it is purged.
func (b *Backend) forget(req mounts.Request, id mounts.Identifier, purge bool) (*object, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	state := b.table(id)
	if state == nil {
		return nil, fail(req, mounts.NoSuchTable, id, nil)
	}
	b.find(id.Namespace).tables.remove(id.Name)
	if b.files != nil && !purge {
		b.files[state.location] = state.metadata
	}
	return state, nil
}

// RenameTable implements mounts.Backend.
func (b *Backend) RenameTable(ctx context.Context, req *mounts.RenameTableRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	return b.rename(req, req.Source, req.Destination, mounts.NoSuchTable, func(s *space) *sorted[*object] { return &s.tables })
}

// rename moves a table or view. A rename to its own name does nothing.
func (b *Backend) rename(req mounts.Request, from, to mounts.Identifier, absent mounts.Kind, of func(*space) *sorted[*object]) error {
	if problem := checkObject(to.Namespace, to.Name); problem != "" {
		return refuse(req, mounts.BadRequest, to, problem)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	source, target := b.find(from.Namespace), b.find(to.Namespace)
	switch {
	case source == nil || !of(source).has(from.Name):
		return fail(req, absent, from, nil)
	case from.Equal(to):
		return nil
	case target == nil:
		return fail(req, mounts.NoSuchNamespace, mounts.Identifier{Namespace: slices.Clone(to.Namespace)}, nil)
	case target.tables.has(to.Name):
		return &mounts.Error{Kind: mounts.AlreadyExists, Op: req.Op(), Ident: from, To: to,
			Msg: "Cannot rename {object} to {to}. Table already exists"}
	case target.views.has(to.Name):
		return &mounts.Error{Kind: mounts.AlreadyExists, Op: req.Op(), Ident: from, To: to,
			Msg: "Cannot rename {object} to {to}. View already exists"}
	}
	of(target).put(to.Name, of(source).get(from.Name))
	of(source).remove(from.Name)
	return nil
}

// ReportMetrics implements mounts.Backend. Reports are not kept.
func (b *Backend) ReportMetrics(ctx context.Context, req *mounts.ReportMetricsRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.table(req.Table) == nil {
		return fail(req, mounts.NoSuchTable, req.Table, nil)
	}
	return nil
}

// free returns the namespace that a new table or view goes into, or why its
// name cannot be had: tables and views share their names. The lock must be held.
func (b *Backend) free(req mounts.Request, id mounts.Identifier) (*space, error) {
	s := b.find(id.Namespace)
	forView := req.Op().Row().Role == viewRole
	switch {
	case s == nil:
		return nil, fail(req, mounts.NoSuchNamespace, mounts.Identifier{Namespace: slices.Clone(id.Namespace)}, nil)
	case s.tables.has(id.Name) && forView:
		return nil, refuse(req, mounts.AlreadyExists, id, "Table with same name already exists: {object}")
	case s.views.has(id.Name) && !forView:
		return nil, refuse(req, mounts.AlreadyExists, id, "View with same name already exists: {object}")
	case s.tables.has(id.Name) || s.views.has(id.Name):
		return nil, fail(req, mounts.AlreadyExists, id, nil)
	}
	return s, nil
}
