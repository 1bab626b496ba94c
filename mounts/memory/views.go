package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

const viewRole = capabilities.Views

// ListViews implements mounts.Backend. The root holds no views.
func (b *Backend) ListViews(ctx context.Context, req *mounts.ListViewsRequest) (*pagination.Page[mounts.Identifier], error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	return b.list(req, req.Page, func(s *space) *sorted[*object] { return &s.views })
}

// LoadView implements mounts.Backend.
func (b *Backend) LoadView(ctx context.Context, req *mounts.LoadViewRequest) (*mounts.View, error) {
	if err := b.enter(ctx, req); err != nil {
		return nil, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	state := b.view(req.View)
	if state == nil {
		return nil, fail(req, mounts.NoSuchView, req.View, nil)
	}
	return answerView(state), nil
}

// CreateView implements mounts.Backend.
func (b *Backend) CreateView(ctx context.Context, req *mounts.CreateViewRequest) (*mounts.View, error) {
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
	metadata, err := b.firstView(req, location)
	if err != nil {
		return nil, err
	}
	created := &object{metadata: metadata, location: b.file(location, 0)}
	s.views.put(req.Name, created)
	return answerView(created), nil
}

// RenameView implements mounts.Backend.
func (b *Backend) RenameView(ctx context.Context, req *mounts.RenameViewRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	return b.rename(req, req.Source, req.Destination, mounts.NoSuchView, func(s *space) *sorted[*object] { return &s.views })
}

// DropView implements mounts.Backend.
func (b *Backend) DropView(ctx context.Context, req *mounts.DropViewRequest) error {
	if err := b.enter(ctx, req); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.view(req.View) == nil {
		return fail(req, mounts.NoSuchView, req.View, nil)
	}
	b.find(req.View.Namespace).views.remove(req.View.Name)
	return nil
}

func answerView(o *object) *mounts.View {
	return &mounts.View{MetadataLocation: o.location, Metadata: o.metadata, Config: map[string]string{}}
}

// viewVersion is what the catalog reads of a view version; the rest of it is
// kept as it came (view spec, versions).
type viewVersion struct {
	TimestampMS      *int64             `json:"timestamp-ms"`
	Summary          *map[string]string `json:"summary"`
	DefaultNamespace *[]string          `json:"default-namespace"`
	Representations  []struct {
		Type    string `json:"type"`
		SQL     string `json:"sql"`
		Dialect string `json:"dialect"`
	} `json:"representations"`
}

// firstView builds the metadata of a new view (view spec, format version 1).
// The catalog numbers version and schema itself.
func (b *Backend) firstView(req *mounts.CreateViewRequest, location string) (json.RawMessage, error) {
	bad := func(msg string) error { return refuse(req, mounts.BadRequest, req.Object(), msg) }
	var schema, version map[string]json.RawMessage
	var known viewVersion
	if json.Unmarshal(req.Schema, &schema) != nil || schema["fields"] == nil {
		return nil, bad("schema must be a struct with fields")
	}
	if json.Unmarshal(req.ViewVersion, &version) != nil || json.Unmarshal(req.ViewVersion, &known) != nil {
		return nil, bad("view-version must be an object as the view spec defines it")
	}
	switch {
	case known.TimestampMS == nil:
		return nil, bad("view-version needs a timestamp-ms")
	case known.Summary == nil:
		return nil, bad("view-version needs a summary")
	case known.DefaultNamespace == nil:
		return nil, bad("view-version needs a default-namespace")
	case len(known.Representations) == 0:
		return nil, bad("view-version needs at least one representation")
	}
	dialects := map[string]bool{}
	for _, r := range known.Representations {
		switch dialect := strings.ToLower(r.Dialect); {
		case r.Type != "sql":
			return nil, bad(fmt.Sprintf("the representation type %q is unknown; only sql is defined", r.Type))
		case r.SQL == "" || dialect == "":
			return nil, bad("an sql representation needs sql and dialect")
		case dialects[dialect]:
			return nil, refuse(req, mounts.InvalidArgument, req.Object(),
				"Invalid view version: Cannot add multiple queries for dialect "+dialect)
		default:
			dialects[dialect] = true
		}
	}
	schema["schema-id"] = json.RawMessage("0")
	version["schema-id"], version["version-id"] = json.RawMessage("0"), json.RawMessage("1")
	properties := maps.Clone(req.Properties)
	if properties == nil {
		properties = map[string]string{}
	}
	metadata, err := json.Marshal(map[string]any{
		"view-uuid":          b.options.NewUUID().String(),
		"format-version":     1,
		"location":           location,
		"current-version-id": 1,
		"versions":           []any{version},
		"version-log":        []any{map[string]int64{"version-id": 1, "timestamp-ms": *known.TimestampMS}},
		"schemas":            []any{schema},
		"properties":         properties,
	})
	if err != nil {
		return nil, fail(req, mounts.Internal, req.Object(), err)
	}
	return metadata, nil
}
