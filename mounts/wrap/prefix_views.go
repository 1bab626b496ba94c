package wrap

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/icefield/icefield/mounts"
)

// Where view documents hold a default namespace (REST spec, ViewMetadata,
// ViewVersion, AddViewVersionUpdate).
var (
	inMetadata = []string{"versions", eachItem, "default-namespace"}
	inVersion  = []string{"default-namespace"}
	inUpdate   = []string{"view-version", "default-namespace"}
)

// stripViews takes the mount's name off the default namespaces that a view is
// written with.
func (p *prefix) stripViews(req mounts.Request) (mounts.Request, error) {
	switch r := req.(type) {
	case *mounts.CreateViewRequest:
		version, err := p.stripped(req, r.ViewVersion, inVersion)
		if err != nil {
			return nil, err
		}
		out := *r
		out.ViewVersion = version
		return &out, nil
	case *mounts.ReplaceViewRequest:
		out := *r
		out.Updates = make([]json.RawMessage, len(r.Updates))
		for i, update := range r.Updates {
			var err error
			if out.Updates[i], err = p.stripped(req, update, inUpdate); err != nil {
				return nil, err
			}
		}
		return &out, nil
	}
	return req, nil
}

func (p *prefix) stripped(req mounts.Request, doc json.RawMessage, path []string) (json.RawMessage, error) {
	if len(doc) == 0 {
		return doc, nil
	}
	out, err := editArrays(doc, path, removeFirst(p.name))
	var foreign *foreignLevel
	object := req.Object()
	object.Namespace = p.add(object.Namespace)
	switch {
	case errors.As(err, &foreign):
		return nil, &mounts.Error{Kind: mounts.BadRequest, Op: req.Op(), Ident: object,
			Msg: fmt.Sprintf("the default-namespace of the view {object} must lie in the mount %q, and %s; "+
				"make a namespace of that mount the current one, or name every table in full", p.name, foreign.says())}
	case err != nil:
		return nil, &mounts.Error{Kind: mounts.BadRequest, Op: req.Op(), Ident: object, Err: err,
			Msg: "the version of the view {object} is not readable JSON"}
	}
	return out, nil
}

// restoreView puts the mount's name before the default namespace of every
// version of a view.
func (p *prefix) restoreView(req mounts.Request, v *mounts.View) (mounts.Response, error) {
	metadata, err := editArrays(v.Metadata, inMetadata, insertFirst(p.name))
	if err != nil {
		return nil, broken(req, mounts.BadGateway, fmt.Errorf("view metadata: %w", err))
	}
	out := *v
	out.Metadata = metadata
	return &out, nil
}
