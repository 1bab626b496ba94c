package router

import (
	"bytes"
	"context"
	"crypto/sha256"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/router/middleware"
)

// maxDepth bounds the nesting of a body: far more than any schema or filter has,
// far less than what hurts a reader that recurses.
const maxDepth = 1000

// decode reads a JSON body into v. Refused with BadRequest: an empty or cut-off
// body, an encoding other than gzip, what is not JSON or not UTF-8, a name that
// stands twice in an object, a value of another type than the field's (the
// message names the field), anything behind the value, and nesting over
// maxDepth; with TooLarge: more than maxBody bytes, as sent or decompressed.
// Numbers inside raw fields keep every digit. It returns the body, whose further
// members are told by extra.
func (x *exchange) decode(ctx context.Context, v any) ([]byte, error) {
	data, err := x.readBody(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, v, json.WithUnmarshalers(json.UnmarshalFromFunc(decodeProperties))); err != nil {
		return nil, decodeError(err)
	}
	return data, nil
}

// decodeAll is decode for a request that keeps the members it does not know.
func (x *exchange) decodeAll(ctx context.Context, v any, into *map[string]stdjson.RawMessage, ignored ...string) error {
	data, err := x.decode(ctx, v)
	if err == nil {
		*into, err = extra(data, v, ignored...)
	}
	return err
}

// raw reads a body that is passed on as it is: any JSON object.
func (x *exchange) raw(ctx context.Context) (stdjson.RawMessage, error) {
	data, err := x.readBody(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	if err := checkObject(data); err != nil {
		return nil, err
	}
	return data, nil
}

func checkObject(data []byte) error {
	var value jsontext.Value
	if err := json.Unmarshal(data, &value); err != nil {
		return decodeError(err)
	}
	if value.Kind() != '{' {
		return badBody("must be a JSON object")
	}
	return nil
}

func badBody(flaw string) error { return badField("the request body", flaw) }

func (x *exchange) readBody(ctx context.Context) ([]byte, error) {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		return nil, badBody("is empty; it must be a JSON object")
	}
	lift := x.readBy(ctx)
	sent := &sentBody{Reader: x.r.Body}
	var reader io.Reader = sent
	size := x.r.ContentLength
	switch coding := strings.TrimSpace(x.header("Content-Encoding")); {
	case coding == "", strings.EqualFold(coding, "identity"):
	case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
		unzip, err := gzip.NewReader(reader)
		if err != nil {
			return nil, x.readError(err, sent)
		}
		reader, size = unzip, 0
	default:
		return nil, badField("the Content-Encoding", fmt.Sprintf("must be gzip or identity, not %q", clip(coding)))
	}
	var data bytes.Buffer
	if size > 0 {
		data.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	}
	n, err := data.ReadFrom(io.LimitReader(reader, x.maxBody+1))
	switch {
	case err != nil:
		return nil, x.readError(err, sent)
	case n > x.maxBody:
		return nil, x.tooLarge()
	case len(bytes.TrimSpace(data.Bytes())) == 0:
		return nil, badBody("is empty; it must be a JSON object")
	}
	lift()
	if x.once != nil {
		x.once.body = sha256.Sum256(data.Bytes())
	}
	return data.Bytes(), nil
}

func (x *exchange) tooLarge() error {
	if x.maxBody == x.MaxBody {
		return middleware.TooLarge(x.MaxBody)
	}
	return &mounts.Error{Kind: mounts.TooLarge, Msg: fmt.Sprintf("the request body is larger than the %d bytes that it may have on this route", x.maxBody)}
}

// sentBody is a body as it comes, and remembers why it broke off.
type sentBody struct {
	io.Reader
	err error
}

func (s *sentBody) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// readError tells a body that did not come from one that came and cannot be
// decompressed: only the first is worth sending again.
func (x *exchange) readError(err error, sent *sentBody) error {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return x.tooLarge()
	case sent.err == nil:
		if err == io.EOF { // gzip of nothing at all
			return badBody("is empty; it must be a JSON object")
		}
		return &mounts.Error{Kind: mounts.BadRequest, Msg: "the request body is not the gzip that its Content-Encoding says", Err: err}
	}
	return &mounts.Error{Kind: mounts.BadRequest, Msg: "the request body broke off or did not arrive in time", Err: err}
}

// checkDepth counts brackets outside of strings. It need not know more: what is
// not JSON is found later.
func checkDepth(data []byte) error {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return badBody(fmt.Sprintf("is nested deeper than %d levels", maxDepth))
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

// decodeProperties reads a map of properties, whose values must be strings. A
// null would otherwise become the empty string without a word.
func decodeProperties(d *jsontext.Decoder, into *map[string]string) error {
	if d.PeekKind() == 'n' {
		_, err := d.ReadToken()
		*into = nil
		return err
	}
	if d.PeekKind() != '{' {
		return errors.ErrUnsupported // the ordinary decoding, which refuses it
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	out := map[string]string{}
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := key.String()
		if kind := d.PeekKind(); kind != '"' && kind != 0 {
			return &wrongType{pointer: string(d.StackPointer()), want: "a string", got: kindName(kind)}
		}
		value, err := d.ReadToken()
		if err != nil {
			return err
		}
		out[name] = value.String()
	}
	*into = out
	_, err := d.ReadToken()
	return err
}

type wrongType struct{ pointer, want, got string }

func (w *wrongType) Error() string {
	return fmt.Sprintf("%s must be %s, not %s", field(w.pointer), w.want, w.got)
}

// decodeError says in the client's terms what is wrong with a body. The
// library's own text names Go types, so it goes to the log only.
func decodeError(err error) error {
	var typed *wrongType
	var semantic *json.SemanticError
	var syntactic *jsontext.SyntacticError
	text := "the request body is not valid JSON"
	switch {
	case errors.As(err, &typed):
		text = typed.Error()
	case errors.As(err, &syntactic):
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			text = field(string(syntactic.JSONPointer)) + " stands twice in the request body"
		case errors.Is(err, io.ErrUnexpectedEOF):
			text = "the request body ends in the middle of its JSON"
		default:
			text = fmt.Sprintf("the request body is not valid JSON (at byte %d)", syntactic.ByteOffset)
		}
	case errors.As(err, &semantic):
		text = fmt.Sprintf("%s must be %s, not %s", field(string(semantic.JSONPointer)), wanted(semantic.GoType), kindName(semantic.JSONKind))
	}
	return &mounts.Error{Kind: mounts.BadRequest, Msg: plainText(text), Err: err}
}

// field spells a JSON pointer for a message.
func field(pointer string) string {
	if pointer == "" {
		return "the request body"
	}
	return fmt.Sprintf("the field %q", clip(strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")))
}

func wanted(t reflect.Type) string {
	if t == nil {
		return "of another type"
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "of another type"
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a truth value"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "something else"
}

// absent reports a raw field that is missing or null.
func absent(raw stdjson.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null"
}

// optional makes a null the same as a missing field.
func optional(raw stdjson.RawMessage) stdjson.RawMessage {
	if absent(raw) {
		return nil
	}
	return raw
}

// checkObjects refuses a list whose elements are not all objects.
func checkObjects(field string, list []stdjson.RawMessage) error {
	for i, raw := range list {
		if len(raw) == 0 || raw[0] != '{' {
			return badField(fmt.Sprintf("%s[%d]", field, i), "must be an object")
		}
	}
	return nil
}
