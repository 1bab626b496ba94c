package sign

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// The bounds of a request to sign. The largest hold the body of a deletion of a
// thousand objects.
const (
	maxBody        = 4 << 20
	maxURI         = 8 << 10
	maxHeaders     = 64
	maxHeaderBytes = 32 << 10
	maxKey         = 1024 // of S3
)

// request is a request to sign as it was sent: well-formed, and nothing more.
type request struct {
	region, method, uri string
	// header has names in lower case and single values.
	header map[string]string
	// body is the storage request's; hasBody tells it from none.
	body    string
	hasBody bool
}

// bad refuses what cannot be a request to sign.
func bad(format string, args ...any) error {
	return &mounts.Error{Kind: mounts.BadRequest, Msg: "the request to sign " + fmt.Sprintf(format, args...), Answered: true}
}

// forbid refuses what could be signed and is not.
func forbid(format string, args ...any) error {
	return &mounts.Error{Kind: mounts.Forbidden, Msg: "no storage request of {object} is signed " + fmt.Sprintf(format, args...), Answered: true}
}

// quoted is a piece of the request fit for a message. Messages replace {names}.
func quoted(text string) string {
	if len(text) > 64 {
		text = text[:64] + "…"
	}
	return fmt.Sprintf("%q", strings.NewReplacer("{", "(", "}", ")").Replace(text))
}

// members are the ones that a request may have, in the only spelling.
var members = []string{"region", "method", "uri", "headers", "body", "provider", "properties"} // read only

// readRequest reads the JSON. A member that is there twice, or whose name another
// reader could take for one, is refused: whoever decided read the same bytes.
func readRequest(text []byte) (*request, error) {
	if len(text) > maxBody {
		return nil, bad("has %d bytes, and %d are the most", len(text), maxBody)
	}
	r := &request{header: map[string]string{}}
	dec := jsontext.NewDecoder(bytes.NewReader(text)) // refuses duplicates and invalid UTF-8
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, bad("is no JSON object")
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, bad("is no JSON object with each member in it once")
		}
		name := token.String()
		for _, known := range members {
			if name != known && strings.EqualFold(name, known) {
				return nil, bad("has a member %s; it is called %q", quoted(name), known)
			}
		}
		if err := r.member(name, dec); err != nil {
			return nil, err
		}
	}
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '}' {
		return nil, bad("is no JSON object with each member in it once")
	}
	if _, err := dec.ReadToken(); err == nil {
		return nil, bad("goes on behind its end")
	}
	switch {
	case r.method == "":
		return nil, bad("has no method")
	case r.uri == "":
		return nil, bad("has no uri")
	case len(r.uri) > maxURI:
		return nil, bad("has a uri of %d bytes, and %d are the most", len(r.uri), maxURI)
	}
	return r, nil
}

func (r *request) member(name string, dec *jsontext.Decoder) error {
	switch name {
	case "region":
		return text(name, dec, &r.region)
	case "method":
		return text(name, dec, &r.method)
	case "uri":
		return text(name, dec, &r.uri)
	case "provider":
		var provider string
		if err := text(name, dec, &provider); err != nil {
			return err
		}
		if provider != "" && provider != "s3" {
			return bad("is for the provider %s; only requests to s3 are signed", quoted(provider))
		}
		return nil
	case "body":
		r.hasBody = dec.PeekKind() == '"'
		return text(name, dec, &r.body)
	case "headers":
		return r.headers(dec)
	}
	if err := dec.SkipValue(); err != nil {
		return bad("is no JSON object with each member in it once")
	}
	return nil
}

// text reads a string, or null as none.
func text(name string, dec *jsontext.Decoder, to *string) error {
	token, err := dec.ReadToken()
	switch {
	case err != nil || token.Kind() != '"' && token.Kind() != 'n':
		return bad("has a member %q that is no string", name)
	case token.Kind() == '"':
		*to = token.String()
	}
	return nil
}

// headers reads an object of names and lists of values. A value in place of a
// list counts as one. Several values of one name, and one name in two spellings,
// are refused: what is signed of them would be a matter of taste.
func (r *request) headers(dec *jsontext.Decoder) error {
	malformed := bad("has a member \"headers\" that is no object of names and lists of strings")
	token, err := dec.ReadToken()
	switch {
	case err != nil:
		return malformed
	case token.Kind() == 'n':
		return nil
	case token.Kind() != '{':
		return malformed
	}
	size := 0
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return malformed
		}
		name := token.String()
		value, err := oneValue(name, dec)
		if err != nil {
			return err
		}
		lower := strings.ToLower(name)
		switch _, twice := r.header[lower]; {
		case !headerName(name):
			return bad("has a header name that none can have")
		case twice:
			return bad("has the header %s twice", quoted(name))
		case !headerValue(value):
			return bad("has a value of the header %s that none can have", quoted(name))
		}
		if size += len(name) + len(value); size > maxHeaderBytes || len(r.header) == maxHeaders {
			return bad("has too many headers")
		}
		r.header[lower] = value
	}
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '}' {
		return malformed
	}
	return nil
}

func oneValue(name string, dec *jsontext.Decoder) (string, error) {
	malformed := bad("has a header %s with other than one value", quoted(name))
	if dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return "", malformed
		}
		return token.String(), nil
	}
	var value string
	for i, kind := range []jsontext.Kind{'[', '"', ']'} {
		token, err := dec.ReadToken()
		if err != nil || token.Kind() != kind {
			return "", malformed
		}
		if i == 1 {
			value = token.String()
		}
	}
	return value, nil
}

// headerName reports a token of RFC 9110, section 5.6.2.
func headerName(name string) bool {
	if name == "" || len(name) > 256 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return true
}

// headerValue reports visible ASCII with blanks inside: what every signer and
// every store see alike.
func headerValue(value string) bool {
	for i := range len(value) {
		if value[i] < ' ' || value[i] > '~' {
			return false
		}
	}
	return value == strings.TrimSpace(value)
}
