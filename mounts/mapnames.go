package mounts

import (
	"github.com/icefield/icefield/pagination"
)

// MapRequest returns a copy of req in which every namespace went through f; the
// first error of f is returned instead.
func MapRequest(req Request, f func(Namespace) (Namespace, error)) (Request, error) {
	mapped, err := req.mapNames(f)
	if err != nil {
		return nil, err
	}
	return mapped, nil
}

// MapResponse returns a copy of resp in which every namespace went through f.
// Metadata is not looked into.
func MapResponse(resp Response, f func(Namespace) Namespace) Response {
	switch r := resp.(type) {
	case *pagination.Page[Namespace]:
		out := &pagination.Page[Namespace]{Items: make([]Namespace, len(r.Items)), Next: r.Next}
		for i, item := range r.Items {
			out.Items[i] = f(item)
		}
		return out
	case *pagination.Page[Identifier]:
		out := &pagination.Page[Identifier]{Items: make([]Identifier, len(r.Items)), Next: r.Next}
		for i, item := range r.Items {
			out.Items[i] = Identifier{Namespace: f(item.Namespace), Name: item.Name}
		}
		return out
	case *NamespaceInfo:
		return &NamespaceInfo{Namespace: f(r.Namespace), Properties: r.Properties}
	}
	return resp
}

// mapper applies f to names and keeps the first error.
type mapper struct {
	f   func(Namespace) (Namespace, error)
	err error
}

func (m *mapper) namespace(n *Namespace) {
	if m.err != nil {
		return
	}
	*n, m.err = m.f(*n)
}

func (m *mapper) identifiers(in []Identifier) []Identifier {
	if in == nil {
		return nil
	}
	out := make([]Identifier, len(in))
	for i, id := range in {
		out[i] = id
		m.namespace(&out[i].Namespace)
	}
	return out
}
