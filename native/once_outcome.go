package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// outcome is what is remembered of a request: how it was answered. At most one
// field is set; none is a success that answers nothing.
type outcome struct {
	Refusal   *refusal                  `json:"refusal,omitempty"`
	Pointer   *pointer                  `json:"pointer,omitempty"`
	Namespace *mounts.NamespaceInfo     `json:"namespace,omitempty"`
	Updated   *mounts.UpdatedProperties `json:"updated,omitempty"`
	// Staged says that the metadata of a staged table follows.
	Staged bool `json:"staged,omitempty"`

	document []byte
}

// refusal is an error that would be given again. Its kind is kept by name, as
// numbers may mean something else to another version.
type refusal struct {
	Kind  string            `json:"kind"`
	Ident mounts.Identifier `json:"ident"`
	To    mounts.Identifier `json:"to"`
	Msg   string            `json:"msg,omitempty"`
}

// pointer is one value of an object's pointer.
type pointer struct {
	ID         uuid.UUID `json:"id"`
	Kind       string    `json:"kind"`
	Location   string    `json:"location"`
	Generation uint64    `json:"generation"`
}

// nothing is the outcome of an operation that answers nothing.
func nothing() outcome { return outcome{} }

// pointsTo is the outcome of an operation that answers a table or view: the
// object as the transaction left it, or, if it removed it, found it.
func pointsTo(o store.Object) outcome {
	return outcome{Pointer: &pointer{ID: o.ID, Kind: o.Kind.String(), Location: o.Location, Generation: o.Generation}}
}

// staged is the outcome of a staged create, which nothing else keeps: uuid and
// location must be the same when it is asked for again.
func staged(metadata []byte) outcome { return outcome{Staged: true, document: metadata} }

func refused(e *mounts.Error) outcome {
	return outcome{Refusal: &refusal{Kind: e.Kind.Error(), Ident: e.Ident, To: e.To, Msg: e.Msg}}
}

// encode is one line of JSON, and behind it the document.
func (o outcome) encode() []byte {
	line, err := json.Marshal(o)
	if err != nil { // strings, numbers and lists of them
		panic(fmt.Sprintf("native: an outcome cannot be encoded: %v", err))
	}
	return append(append(line, '\n'), o.document...)
}

func decodeOutcome(text []byte) (*outcome, error) {
	line, document, _ := bytes.Cut(text, []byte{'\n'})
	o := &outcome{}
	if err := json.Unmarshal(line, o); err != nil {
		return nil, fmt.Errorf("native: a receipt cannot be read: %w", err)
	}
	o.document = document
	return o, nil
}

// replay answers a request as it was answered before.
func (b *Backend) replay(ctx context.Context, req mounts.Request, out *outcome) (mounts.Response, error) {
	switch {
	case out.Refusal != nil:
		return nil, out.Refusal.error(req)
	case out.Namespace != nil:
		return out.Namespace, nil
	case out.Updated != nil:
		return out.Updated, nil
	case out.Staged:
		return &mounts.Table{Metadata: out.document, Config: b.warehouse.ClientHints()}, nil
	case out.Pointer != nil:
		resp, err := b.replayPointer(ctx, req.Object(), out.Pointer)
		if err != nil {
			return nil, fail(req, unrepeatable(req, err))
		}
		return resp, nil
	}
	return nil, nil
}

func (r *refusal) error(req mounts.Request) error {
	e := &mounts.Error{Kind: mounts.Internal, Op: req.Op(), Ident: r.Ident, To: r.To, Msg: r.Msg}
	for _, kind := range mounts.Kinds() {
		if kind.Error() == r.Kind {
			e.Kind = kind
		}
	}
	return e
}

// replayPointer answers with the metadata that the pointer led to. If that file
// is gone by now, as an old one that later commits removed, the answer is the
// newest state of the object, if it still has the name that the request gave it:
// whoever may read that name need not be let read another.
func (b *Backend) replayPointer(ctx context.Context, name mounts.Identifier, p *pointer) (mounts.Response, error) {
	o := store.Object{ID: p.ID, Location: p.Location, Generation: p.Generation, Kind: store.Table}
	if p.Kind == store.View.String() {
		o.Kind = store.View
	}
	doc, err := b.document(ctx, o, mounts.SnapshotsAll)
	for errors.Is(err, mounts.MetadataMissing) {
		now, lookup := b.object(ctx, name, o.Kind)
		switch {
		case errors.Is(lookup, mounts.NoSuchTable), errors.Is(lookup, mounts.NoSuchView):
			return nil, err
		case lookup != nil:
			return nil, lookup
		case now.ID != o.ID || now.Generation == o.Generation:
			return nil, err
		}
		o = now
		doc, err = b.document(ctx, o, mounts.SnapshotsAll)
	}
	if err != nil {
		return nil, err
	}
	if o.Kind == store.View {
		return presentView(o, doc), nil
	}
	return b.present(o, doc, mounts.SnapshotsAll), nil
}

// unrepeatable is the error of a change that was made and whose answer cannot be given
// again. To a commit it must not be a refusal, after which engines delete what
// they wrote; that the outcome is unknown makes them look.
func unrepeatable(req mounts.Request, err error) error {
	e := *fault(err)
	if e.Kind == mounts.MetadataMissing {
		e.Msg = "the change was made when it was first asked for, but its answer cannot be given again: the metadata file of {object} was removed since"
		if req.Op().Row().Class != capabilities.Commit {
			return &e
		}
		e.Kind = mounts.Internal
	}
	e.OutcomeUnknown = true
	return &e
}
