package policy

import (
	"bytes"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxSigning bounds a request to sign. The largest hold the body of a deletion of
// a thousand objects.
const maxSigning = 4 << 20

var (
	errSigningLarge  = errors.New("the request to sign is larger than any storage request whose signing covers a body")
	errSigningFormat = errors.New("the request to sign is not a JSON object with a method, each member in it once")
	errSigningMethod = errors.New(`the request to sign has no method, as "GET"`)
)

// readsOnly reports whether a storage request that is to be signed (REST spec,
// RemoteSignRequest) only reads: its method is GET or HEAD, spelled so. It is
// strict, since whoever signs reads the body again: a member that is there twice,
// or whose name another reader could take for the method, is refused.
func readsOnly(body []byte) (bool, error) {
	if len(body) > maxSigning {
		return false, errSigningLarge
	}
	dec := jsontext.NewDecoder(bytes.NewReader(body)) // refuses duplicates and invalid UTF-8
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return false, errSigningFormat
	}
	method := ""
	for dec.PeekKind() == '"' {
		tok, err := dec.ReadToken()
		if err != nil {
			return false, errSigningFormat
		}
		name := tok.String()
		if !strings.EqualFold(name, "method") {
			if err := dec.SkipValue(); err != nil {
				return false, errSigningFormat
			}
			continue
		}
		if name != "method" {
			return false, errSigningFormat
		}
		value, err := dec.ReadToken()
		if err != nil || value.Kind() != '"' || value.String() == "" {
			return false, errSigningMethod
		}
		method = value.String()
	}
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '}' {
		return false, errSigningFormat
	}
	if _, err := dec.ReadToken(); err == nil { // something behind it
		return false, errSigningFormat
	}
	if method == "" {
		return false, errSigningMethod
	}
	return method == "GET" || method == "HEAD", nil
}
