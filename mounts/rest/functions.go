package rest

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// ListFunctions implements mounts.Backend. The root holds no functions.
func (b *Backend) ListFunctions(ctx context.Context, req *mounts.ListFunctionsRequest) (*pagination.Page[mounts.Identifier], error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	n := req.Namespace
	if n.IsRoot() {
		return &pagination.Page[mounts.Identifier]{Items: []mounts.Identifier{}}, nil
	}
	if c.url, err = c.at.within(n, c, "functions"); err != nil {
		return nil, err
	}
	return fetch(ctx, b, listing[mounts.Identifier]{call: c, member: "identifiers", row: pathIn(n)}, req.Page)
}

// pathIn reads a row of a function listing: an array of the levels and the name
// (REST spec, CatalogObjectIdentifier). Its namespace is the one that was asked
// for, as with tables.
func pathIn(n mounts.Namespace) func(jsontext.Value) (mounts.Identifier, error) {
	return func(value jsontext.Value) (mounts.Identifier, error) {
		id := mounts.Identifier{Namespace: slices.Clone(n)}
		words, err := stringList(value, maxPathWords)
		if err != nil {
			return id, err
		}
		if len(words) == 0 || words[len(words)-1] == "" {
			return id, errors.New("it has no name")
		}
		id.Name = words[len(words)-1]
		return id, nil
	}
}

// maxPathWords bounds the levels of a row.
const maxPathWords = 256

// LoadFunction implements mounts.Backend. The definition passes as it is.
func (b *Backend) LoadFunction(ctx context.Context, req *mounts.LoadFunctionRequest) (*mounts.Document, error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if nowhere(req.Function) {
		return nil, c.fail(mounts.NoSuchFunction, "")
	}
	if c.url, err = c.at.object(req.Function, "functions", c); err != nil {
		return nil, err
	}
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(c, a)
	}
	found := false
	body, err := rewritten(a.body, func(name string, value jsontext.Value) (jsontext.Value, error) {
		switch name {
		case "metadata":
			found = value.Kind() == '{'
		case "config", "storage-credentials", "remote-signing-config":
			return nil, nil // in no function that the spec has, and no place for access
		}
		return value, nil
	})
	if err == nil && !found {
		err = errNoMetadata
	}
	if err != nil {
		return nil, broken(c, err)
	}
	return &mounts.Document{Body: body}, nil
}
