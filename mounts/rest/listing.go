package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// listing is one remote listing. R is its row.
type listing[R any] struct {
	call   call
	query  string // further parameters, encoded
	member string // the answer's list
	row    func(jsontext.Value) (R, error)
}

// fetch makes one page of a listing out of one page of the remote.
func fetch[R any](ctx context.Context, b *Backend, l listing[R], want pagination.Request) (*pagination.Page[R], error) {
	from := readCursor(want.Token)
	if from.served == 0 || from.size == 0 {
		from.size = l.call.at.page(want.Size)
	}
	l.call.url += "?pageToken=" + segment(from.token) + "&pageSize=" + strconv.Itoa(from.size) + l.query
	a, err := b.do(ctx, l.call)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(l.call, a)
	}
	rows, next, err := readPage(a.body, l.member, l.row, l.call.quirks().MissingLists)
	if err != nil {
		return nil, broken(l.call, err)
	}
	if next != "" && next == from.token {
		return nil, broken(l.call, errors.New("the next page's token is the token of this page"))
	}
	page := &pagination.Page[R]{Items: rows[min(from.served, len(rows)):]}
	if want.Size > 0 && !want.Whole && len(page.Items) > want.Size {
		page.Items = page.Items[:want.Size]
		page.Next = cursor{token: from.token, size: from.size, served: from.served + want.Size}.String()
	} else if next != "" {
		page.Next = cursor{token: next}.String()
	}
	page.Items = slices.Clip(page.Items)
	return page, nil
}

// page is the page size to ask the remote for.
func (s *settings) page(wanted int) int {
	switch {
	case wanted > 0:
		return min(wanted, maxPageSize)
	case s.pageSize > 0:
		return s.pageSize
	}
	return defaultPageSize
}

// readPage reads a listing's answer. A list that is missing or null is an error,
// since it would look like an empty one, except of a remote that is known to
// leave empty lists out.
func readPage[R any](body []byte, member string, row func(jsontext.Value) (R, error), lenient bool) (rows []R, next string, err error) {
	found, told := false, false
	err = members(body, func(name string, value jsontext.Value) error {
		switch name {
		case "error":
			told = true
		case member:
			found = true
			rows = []R{}
			if lenient && value.Kind() == 'n' {
				return nil
			}
			if err := elements(value, func(element jsontext.Value) error {
				if len(rows) == maxRows {
					return errors.New("too many rows in one answer")
				}
				r, err := row(element)
				if errors.Is(err, errDeeper) {
					return nil
				}
				if err != nil {
					return fmt.Errorf("row %d: %w", len(rows), err)
				}
				rows = append(rows, r)
				return nil
			}); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		case "next-page-token":
			if value.Kind() == 'n' {
				return nil
			}
			token, ok := stringValue(value)
			if !ok || len(token) > maxToken {
				return errors.New("next-page-token is no string, or endless")
			}
			next = token
		}
		return nil
	})
	if err == nil && !found && (!lenient || told) {
		err = fmt.Errorf("the list %q is missing", member)
	}
	if err == nil && rows == nil {
		rows = []R{}
	}
	return rows, next, err
}

// errDeeper is a row that lies below a direct child of what was listed. Some
// remotes (SeaweedFS) list all of those too; they are left out.
var errDeeper = errors.New("it lies deeper than a child of the namespace that was listed")

// deepest is how many levels below the listed namespace a row may have.
const deepest = 64

// childOf reads a row of a namespace listing, which must be a direct child of
// the parent, with its full path; errDeeper if it lies below one.
func childOf(parent mounts.Namespace) func(jsontext.Value) (mounts.Namespace, error) {
	return func(value jsontext.Value) (mounts.Namespace, error) {
		levels, err := stringList(value, len(parent)+deepest)
		if err != nil {
			return nil, err
		}
		child := mounts.Namespace(levels)
		if len(child) > len(parent)+1 && child[:len(parent)].Equal(parent) {
			return nil, errDeeper
		}
		if len(child) != len(parent)+1 || !child.Parent().Equal(parent) {
			return nil, errors.New("it is not a direct child of the namespace that was listed")
		}
		if last := child[len(parent)]; last == "" || strings.ContainsRune(last, 0x1f) {
			return nil, errors.New("a level is empty or holds the character 0x1F")
		}
		return child, nil
	}
}

// named reads a row of a table or view listing. Its namespace is the one that
// was asked for, whatever the row says (Gravitino has listed another one).
func named(n mounts.Namespace) func(jsontext.Value) (mounts.Identifier, error) {
	return func(value jsontext.Value) (mounts.Identifier, error) {
		id := mounts.Identifier{Namespace: slices.Clone(n)}
		if value.Kind() != '{' {
			return id, errWrongType
		}
		err := members(value, func(name string, v jsontext.Value) error {
			if name == "name" {
				id.Name, _ = stringValue(v)
			}
			return nil
		})
		if err == nil && id.Name == "" {
			err = errors.New("it has no name")
		}
		return id, err
	}
}
