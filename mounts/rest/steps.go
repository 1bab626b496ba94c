package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// Some web servers (Vert.x under Nessie) take the names "." and ".." for steps in
// the path, encoded or not, and answer with what lies there: a listing for the
// table ".", its namespace for the table "..".

// step reports a name that some servers take for a step in the path.
func step(name string) bool { return name == "." || name == ".." }

// steps reports a call whose path such a name stands in. What is wrong with its
// answer is about the name: were it about the remote, a client could close the
// mount to everybody by asking for it.
func (c call) steps() bool {
	return c.object.Name != "" && step(c.object.Name) || len(c.object.Namespace) == 1 && step(c.object.Namespace[0])
}

// misled is the error of a read whose answer is of something else, since the
// remote went where the name led it.
func misled(c call, cause error) error {
	return &mounts.Error{Kind: mounts.BadRequest, Op: c.op, Ident: c.object, To: c.to, Err: unquoted(cause), Answered: true,
		Msg: "the remote catalog's web server takes the name for a step in the path and answers for something else; it does not have such a name"}
}

// meant makes sure that a table or view whose name may be a step is what a DELETE
// would reach: the one of ".." reaches its namespace on a server that takes the
// step, and would drop it. Nothing was sent when it returns an error.
func (b *Backend) meant(ctx context.Context, c call) error {
	if c.method != http.MethodDelete || !step(c.object.Name) {
		return nil
	}
	look := call{op: capabilities.LoadTable, kind: kindCatalog, method: http.MethodGet, object: c.object, at: c.at}
	if c.op == capabilities.DropView {
		look.op = capabilities.LoadView
	}
	look.url, _, _ = strings.Cut(c.url, "?")
	a, err := b.do(ctx, look)
	switch {
	case err != nil:
	case a.status != http.StatusOK:
		err = refusal(look, a)
	default:
		if _, unread := readLoaded(a.body); unread != nil {
			err = misled(look, unread)
		}
	}
	return about(err, c)
}
