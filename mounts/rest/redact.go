package rest

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const redacted = "<redacted>"

// longestTold is the longest piece of a secret that may stand in a message; a
// server that shortens what it repeats ("token abcdefgh… is expired") must not
// tell half of it.
const longestTold = 11

// hidden takes secrets out of a text, in every form in which a server may have
// repeated them: as they are, in pieces, percent-encoded once or twice, escaped
// for JSON, in hexadecimal, and in Base64 at any offset, as in a Basic login.
func hidden(text string, secrets []string) string {
	for _, secret := range secrets {
		if secret == "" {
			continue
		}
		all := forms(secret)
		if len(text) >= len(secret) { // no form is shorter
			for _, form := range all {
				text = strings.ReplaceAll(text, form, redacted)
			}
		}
		for _, form := range all { // also where the server cut it short
			text = withoutPieces(text, form)
		}
	}
	return text
}

// forms are the spellings of a secret, without repetition.
func forms(secret string) []string {
	all := []string{secret}
	add := func(forms ...string) {
		for _, form := range forms {
			// A shorter form would be found in innocent words.
			if form != secret && len(form) >= 6 {
				all = append(all, form)
			}
		}
	}
	for _, escaped := range []string{escape(secret, unreserved), url.QueryEscape(secret), url.PathEscape(secret)} {
		add(escaped, lowerHex(escaped), url.QueryEscape(escaped))
	}
	if quoted, err := json.Marshal(secret, jsontext.EscapeForHTML(true)); err == nil {
		inner := strings.Trim(string(quoted), `"`)
		add(inner, strings.ReplaceAll(inner, "/", `\/`))
	}
	add(hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))))
	for _, spelt := range []string{secret, url.QueryEscape(secret)} { // Basic holds the latter (RFC 6749, 2.3.1)
		for offset := range 3 {
			add(base64At(base64.RawStdEncoding, spelt, offset), base64At(base64.RawURLEncoding, spelt, offset))
		}
	}
	return all
}

// base64At is what of a secret's Base64 form is the same whatever stands around
// it, if it begins offset bytes after a multiple of three.
func base64At(e *base64.Encoding, secret string, offset int) string {
	encoded := e.EncodeToString([]byte(strings.Repeat("\x00", offset) + secret))
	from := (offset*8 + 5) / 6
	to := (offset + len(secret)) * 8 / 6
	return encoded[min(from, to):to]
}

// lowerHex spells percent-encoding with small letters.
func lowerHex(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
			i += 2
		}
	}
	return string(b)
}

// withoutPieces takes out every piece of the secret that is longer than
// longestTold.
func withoutPieces(text, secret string) string {
	const window = longestTold + 1
	if len(secret) < window {
		return text
	}
	var b strings.Builder
	kept := 0
	for i := 0; i+window <= len(text); {
		if !strings.Contains(secret, text[i:i+window]) {
			i++
			continue
		}
		end := i + window
		for end < len(text) && strings.Contains(secret, text[i:end+1]) {
			end++
		}
		b.WriteString(text[kept:i])
		b.WriteString(redacted)
		kept, i = end, end
	}
	b.WriteString(text[kept:])
	return b.String()
}

// hushed is an error whose text repeats no secret. It does not unwrap to what it
// was made of, whose text does; errors.Is sees through it.
type hushed struct {
	err  error
	text string
}

func hush(err error, secrets []string) error {
	err = innermost(err)
	return &hushed{err: err, text: plain(err.Error(), secrets)}
}

func (h *hushed) Error() string        { return h.text }
func (h *hushed) Is(target error) bool { return errors.Is(h.err, target) }

// quoted are pieces of an answer that a JSON error shows.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"?`)

// pointers are the JSON pointers that name nothing but members of the spec.
var pointers = regexp.MustCompile(`^"(?:/(?:\d{1,9}|defaults|overrides|endpoints|namespaces?|identifiers|name|properties|updated|removed|missing|` +
	`next-page-token|metadata|metadata-location|config|storage-credentials|prefix|plan-id|plan-tasks|file-scan-tasks|delete-files|status|` +
	`uri|headers|error|message|type|code|versions|default-namespace|representations))*"$`)

// unquoted is the error of an answer that cannot be read, without the pieces of
// it that a JSON library quotes: whoever sent it may have put a secret there.
func unquoted(err error) error {
	text := quoted.ReplaceAllStringFunc(err.Error(), func(piece string) string {
		if pointers.MatchString(piece) {
			return piece
		}
		return `"…"`
	})
	return &hushed{err: err, text: plain(text, nil)}
}
