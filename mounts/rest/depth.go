package rest

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"sync/atomic"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// Many remotes have namespaces of one level. What lies deeper cannot exist
// there, which is for clients an ordinary absence: engines look for `a.b.t` when
// they mean the column t, or the metadata table t, of the table a.b. Such
// remotes answer those with a 400, which no client recovers from.
//
// How deep namespaces go is known from the profile, or is learnt from a remote
// that says so. The rule for that is narrow, since an error must not become an
// absence: the status is 400, the error has the spec's shape, the call was a
// read of a name of several levels (or of the children of a name), and the
// message says in words that nesting or several levels are not possible. It is
// forgotten when the settings are renewed, so a remote that learns to nest is
// believed again.

// learnt is what calls found out about a remote beyond its settings.
type learnt struct {
	// levels is how deep namespaces go; 0 if nobody knows.
	levels atomic.Int32
	// headless: it refuses HEAD though it advertises it.
	headless atomic.Bool
	// refused counts the refusals in a row of each route.
	refused [64]atomic.Int32
}

// forget is done when the remote told its settings again.
func (s *settings) forget() {
	s.learnt.levels.Store(0)
	s.learnt.headless.Store(false)
}

// heads reports whether an existence check may be sent as a HEAD. Otherwise a
// load answers it.
func (s *settings) heads(op capabilities.Op) bool {
	return s.has.Has(op) && !s.quirks.NoHEAD && !s.learnt.headless.Load()
}

// levels is how deep namespaces go; 0 is any depth, as far as is known.
func (s *settings) levels() int {
	if s.quirks.Levels > 0 {
		return s.quirks.Levels
	}
	return int(s.learnt.levels.Load())
}

// childless reports a namespace that cannot have children.
func (s *settings) childless(n mounts.Namespace) bool {
	return s.levels() > 0 && len(n) >= s.levels()
}

// beyond is the error of a request for what is too deep to exist, before
// anything is sent; nil for every other.
func (s *settings) beyond(req mounts.Request) error {
	limit := s.levels()
	if limit == 0 {
		return nil
	}
	deep := func(n mounts.Namespace) bool { return len(n) > limit }
	gone := func(kind mounts.Kind, id mounts.Identifier) error {
		return &mounts.Error{Kind: kind, Op: req.Op(), Ident: id}
	}
	object := req.Object()
	switch r := req.(type) {
	case *mounts.CreateNamespaceRequest:
		switch {
		case deep(r.Namespace.Parent()):
			return gone(mounts.NoSuchNamespace, mounts.Identifier{Namespace: r.Namespace.Parent()})
		case deep(r.Namespace):
			levels := "levels"
			if limit == 1 {
				levels = "level"
			}
			return &mounts.Error{Kind: mounts.BadRequest, Op: req.Op(), Ident: object,
				Msg: fmt.Sprintf("{object} cannot be created: namespaces of the remote catalog have no more than %d %s", limit, levels)}
		}
		return nil
	case *mounts.CommitTransactionRequest:
		for _, change := range r.Changes {
			if deep(change.Table.Namespace) {
				return gone(mounts.NoSuchTable, change.Table)
			}
		}
		return nil
	case *mounts.RenameTableRequest:
		if !deep(object.Namespace) && deep(r.Destination.Namespace) {
			return gone(mounts.NoSuchNamespace, mounts.Identifier{Namespace: r.Destination.Namespace})
		}
	case *mounts.RenameViewRequest:
		if !deep(object.Namespace) && deep(r.Destination.Namespace) {
			return gone(mounts.NoSuchNamespace, mounts.Identifier{Namespace: r.Destination.Namespace})
		}
	}
	if !deep(object.Namespace) {
		return nil
	}
	c := call{op: req.Op(), object: object}
	if r, ok := req.(*mounts.CommitTableRequest); ok {
		c.creates = r.Creates()
	}
	kind, about := said{}.absent(c)
	return gone(kind, about)
}

var (
	nestingWords = regexp.MustCompile(`(?i)\bnest(ed|ing)?\b|hierarch|\bmulti[- ]?(ple[- ]|part[- ]?)?(level|namespace|part)|\b(one|single|1)[- ]level|\blevels?\b|\bdepth\b|\bsub-?namespaces?\b|\bparent namespaces?\b`)
	refusalWords = regexp.MustCompile(`(?i)\bnot (be )?(supported|allowed|permitted|possible)|\bunsupported\b|\bdoes(n't| not) support|\bonly\b|\bsingle\b|\bmust (be|have)\b|\bcannot\b|\bat most\b|\bmore than\b|\bexceeds?\b`)
)

// flat reports a message that says that namespaces do not nest, or not so deep.
func (s said) flat() bool {
	return nestingWords.MatchString(s.message) && refusalWords.MatchString(s.message)
}

// unnested is how deep the namespaces of the remote go at most, as the answer to
// a call says; 0 if it does not.
func (s *settings) unnested(c call, a *answer) int {
	depth := len(c.object.Namespace)
	if c.op == capabilities.ListNamespaces {
		depth++ // it asks for the children
	}
	if depth < 2 || a.status != http.StatusBadRequest || c.op.Row().Class != capabilities.Read {
		return 0
	}
	if said, shaped := readRefusal(a); !shaped || !said.flat() {
		return 0
	}
	return depth - 1
}

// withoutChildren lists the children of a namespace that can have none: nothing,
// if it exists.
func (b *Backend) withoutChildren(ctx context.Context, c call, n mounts.Namespace) (*pagination.Page[mounts.Namespace], error) {
	if _, err := b.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: n}); err != nil {
		return nil, about(err, c)
	}
	return &pagination.Page[mounts.Namespace]{Items: []mounts.Namespace{}}, nil
}
