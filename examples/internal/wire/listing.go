package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// Page is one page of a listing; each name is its levels joined by 0x1F.
type Page struct {
	Names []string
	Next  string // the token of the next page; empty on the last one
}

// maxPages bounds a walk: a catalog that hands out tokens for ever fails it.
const maxPages = 2000

// Listing is one listing of a catalog: the namespaces in a namespace, or its tables.
type Listing struct {
	catalog *Catalog
	path    string
	query   url.Values
}

// Namespaces is the listing of the namespaces directly below parent; no levels is the root.
func (c *Catalog) Namespaces(parent ...string) *Listing {
	query := url.Values{}
	if len(parent) > 0 {
		query.Set("parent", strings.Join(parent, c.separator))
	}
	return &Listing{c, "/namespaces", query}
}

// Tables is the listing of the tables in a namespace.
func (c *Catalog) Tables(levels ...string) *Listing {
	return &Listing{c, c.Namespace(levels...) + "/tables", url.Values{}}
}

// All asks for everything in one answer; it is an error if the answer has a page token.
func (l *Listing) All() ([]string, error) {
	page, err := l.page(l.query)
	if err != nil {
		return nil, err
	}
	if page.Next != "" {
		return nil, fmt.Errorf("an answer to a request without pageToken has the token %q", page.Next)
	}
	return page.Names, nil
}

// Page asks for one page; the token of the first one is empty.
func (l *Listing) Page(size int, token string) (*Page, error) {
	query := url.Values{"pageToken": {token}, "pageSize": {strconv.Itoa(size)}}
	for name, values := range l.query {
		query[name] = values
	}
	return l.page(query)
}

// Walk goes through all pages; it is an error if a page is longer than size or a token comes twice.
func (l *Listing) Walk(size int) (names []string, pages int, err error) {
	seen := map[string]bool{}
	for token := ""; ; {
		page, err := l.Page(size, token)
		if err != nil {
			return nil, pages, fmt.Errorf("page %d: %w", pages+1, err)
		}
		pages++
		if len(page.Names) > size {
			return nil, pages, fmt.Errorf("page %d has %d names, asked for %d", pages, len(page.Names), size)
		}
		names = append(names, page.Names...)
		if page.Next == "" {
			return names, pages, nil
		}
		if seen[page.Next] || pages > maxPages {
			return nil, pages, fmt.Errorf("the walk does not end: page %d, token %q", pages, page.Next)
		}
		seen[page.Next] = true
		token = page.Next
	}
}

func (l *Listing) page(query url.Values) (*Page, error) {
	var body struct {
		Namespaces  *[][]string `json:"namespaces"`
		Identifiers *[]struct {
			Namespace []string `json:"namespace"`
			Name      string   `json:"name"`
		} `json:"identifiers"`
		Next *string `json:"next-page-token"`
	}
	path := l.path
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	if err := l.catalog.do(http.MethodGet, path, nil, &body); err != nil {
		return nil, err
	}
	page := &Page{}
	switch {
	case l.path == "/namespaces" && body.Namespaces != nil:
		for _, levels := range *body.Namespaces {
			page.Names = append(page.Names, strings.Join(levels, "\x1f"))
		}
	case l.path != "/namespaces" && body.Identifiers != nil:
		for _, identifier := range *body.Identifiers {
			page.Names = append(page.Names, strings.Join(append(identifier.Namespace, identifier.Name), "\x1f"))
		}
	default:
		return nil, fmt.Errorf("GET %s: the answer lacks its list", path)
	}
	if body.Next != nil {
		if *body.Next == "" {
			return nil, fmt.Errorf("GET %s: the page token is an empty string, which clients take for another page", path)
		}
		page.Next = *body.Next
	}
	return page, nil
}
