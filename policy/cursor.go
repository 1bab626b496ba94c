package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/icefield/icefield/pagination"
)

// cursor is a place in a listing of the next Backend: the token that fetches a
// page of it, of how many rows, and the row of that page that was passed last.
// That row is told by a hash of its name, with its index as a hint: when it is
// gone the page starts again, since a repeated row is visible to a client and a
// skipped one is not.
type cursor struct {
	token  string
	size   int
	index  int
	passed string
	// hides tells that rows of the listing are hidden; it is not written.
	hides bool
}

// padding is what the length of a cursor is a multiple of, so that a token tells
// nothing of the names that it stands between. Where rows are hidden it is more:
// the token of the next Backend says behind which row its page begins, or nothing
// for the first, and a sealed name of 1024 bytes fits.
const (
	padding       = 128
	hiddenPadding = 2048
)

// String writes the cursor, padded.
func (c cursor) String() string {
	var b strings.Builder
	for _, n := range [...]int{c.size, c.index, len(c.token)} {
		b.WriteString(strconv.Itoa(n))
		b.WriteByte(',')
	}
	if b.WriteString(c.passed); c.passed == "" {
		b.WriteString(strings.Repeat("-", shortSize))
	}
	b.WriteString(c.token)
	to := padding
	if c.hides {
		to = hiddenPadding
	}
	if over := b.Len() % to; over != 0 {
		b.WriteString(strings.Repeat(".", to-over))
	}
	return b.String()
}

// readCursor reads what String wrote.
func readCursor(s string) (c cursor, ok bool) {
	var n [3]int
	for i := range n {
		text, rest, found := strings.Cut(s, ",")
		v, err := strconv.Atoi(text)
		if !found || err != nil || v < 0 {
			return cursor{}, false
		}
		n[i], s = v, rest
	}
	if len(s) < shortSize+n[2] || n[0] > manyRows {
		return cursor{}, false
	}
	c = cursor{size: n[0], index: n[1], passed: s[:shortSize], token: s[shortSize : shortSize+n[2]]}
	if c.passed[0] == '-' {
		c.passed = ""
	}
	return c, true
}

// open is the cursor of a client's token; the listing's start for one that is
// not of this listing.
func (g *Guard) open(listing pagination.Listing, token string) cursor {
	pos, ok := g.ring.Open(listing, token)
	if !ok || pos.Source != GuardSource {
		return cursor{}
	}
	c, _ := readCursor(pos.Cursor)
	return c
}

// after is the index of the first row of a page of n that was not passed yet.
func (c cursor) after(n int, name func(int) string) int {
	if c.passed == "" {
		return 0
	}
	if c.index < n && short(name(c.index)) == c.passed {
		return c.index + 1
	}
	for i := range n {
		if short(name(i)) == c.passed {
			return i + 1
		}
	}
	return 0
}

const shortSize = 16

func short(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:shortSize/2])
}
