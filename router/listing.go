package router

import (
	"context"
	"fmt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

const (
	// maxRows and maxListing bound an answer that holds a whole listing.
	maxRows    = 1_000_000
	maxListing = 256 << 20
	// maxEmptyPages is how many empty pages in a row are walked over for a client
	// that asked for one page.
	maxEmptyPages = 100
)

// fetch asks the backend for one page.
type fetch[T any] func(ctx context.Context, page pagination.Request) (*pagination.Page[T], error)

// list answers a listing: one page where the client pages, else everything.
func list[T any](ctx context.Context, x *exchange, p paging, field string, next fetch[T], row func([]byte, T) []byte) error {
	buf := x.buffers.get()
	defer x.buffers.put(buf)
	b := append(append(append(*buf, `{"`...), field...), `":[`...)
	var token string
	var err error
	if p.one {
		b, token, err = onePage(ctx, b, p, next, row)
	} else {
		b, err = allPages(ctx, b, next, row)
	}
	*buf = b
	if err != nil {
		return err
	}
	b = append(b, ']')
	if token != "" { // never an empty one: clients would go on for ever (rule R10)
		b = appendString(append(b, `,"next-page-token":`...), token)
	}
	*buf = append(b, '}')
	if claim(x.w) {
		x.headers(reply{})
		x.buffers.write(x.w, x.r, 200, body{head: *buf})
	}
	return nil
}

// onePage walks over empty pages, since some clients take one for the end.
func onePage[T any](ctx context.Context, b []byte, p paging, next fetch[T], row func([]byte, T) []byte) ([]byte, string, error) {
	token := p.token
	for range maxEmptyPages {
		page, err := next(ctx, pagination.Request{Token: token, Size: p.size})
		if err != nil {
			return b, "", err
		}
		if len(page.Items) > 0 || page.Next == "" {
			b, _ = appendRows(b, page.Items, 0, row)
			return b, page.Next, nil
		}
		if page.Next == token {
			return b, "", stuck()
		}
		token = page.Next
	}
	return b, token, nil
}

func allPages[T any](ctx context.Context, b []byte, next fetch[T], row func([]byte, T) []byte) ([]byte, error) {
	token, rows := "", 0
	for {
		page, err := next(ctx, pagination.Request{Token: token, Size: maxPage, Whole: true})
		if err != nil {
			return b, err
		}
		b, rows = appendRows(b, page.Items, rows, row)
		switch {
		case page.Next == "" && rows <= maxRows && len(b) <= maxListing:
			return b, nil
		case rows > maxRows || len(b) > maxListing:
			return b, &mounts.Error{Kind: mounts.BadRequest, Msg: fmt.Sprintf(
				"this listing is too long for one answer (over %d rows or %d MiB); ask for pages with pageToken= and pageSize", maxRows, maxListing>>20)}
		case page.Next == token:
			return b, stuck()
		}
		token = page.Next
		if err := ctx.Err(); err != nil {
			return b, err
		}
	}
}

func appendRows[T any](b []byte, items []T, before int, row func([]byte, T) []byte) ([]byte, int) {
	for _, item := range items {
		if before > 0 {
			b = append(b, ',')
		}
		before++
		b = row(b, item)
	}
	return b, before
}

// stuck is a listing that leads to where it is.
func stuck() error {
	return &mounts.Error{Kind: mounts.BadGateway, Msg: "the listing does not advance: it names the same next page again"}
}
