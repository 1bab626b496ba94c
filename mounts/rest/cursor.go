package rest

import (
	"strconv"
	"strings"
)

const (
	// defaultPageSize is asked for where neither the caller nor the remote names
	// a size, maxPageSize at most.
	defaultPageSize = 1000
	maxPageSize     = 10_000
	// maxRows bounds the rows of one answer of a remote that does not page.
	maxRows = 2 << 20
	// maxToken bounds a remote's page token, so that ours, which holds it, fits
	// into pagination.MaxToken.
	maxToken = 4 << 10
)

// cursor is a place in a remote listing: the token that fetched the remote's
// page, the size that was asked for with it, and how many rows of that page have
// been served. A remote page is fetched again only where it was left in the
// middle.
type cursor struct {
	token        string
	size, served int
}

func (c cursor) String() string {
	return strconv.Itoa(c.size) + "." + strconv.Itoa(c.served) + "." + c.token
}

// readCursor reads what String made. Anything else begins the listing again:
// a repeated row is visible to a client, a skipped one is not.
func readCursor(s string) cursor {
	size, rest, _ := strings.Cut(s, ".")
	served, token, ok := strings.Cut(rest, ".")
	if !ok {
		return cursor{}
	}
	c := cursor{token: token}
	var err1, err2 error
	c.size, err1 = strconv.Atoi(size)
	c.served, err2 = strconv.Atoi(served)
	if err1 != nil || err2 != nil || c.size < 0 || c.size > maxPageSize || c.served < 0 || c.served > maxRows || len(token) > maxToken {
		return cursor{}
	}
	return c
}
