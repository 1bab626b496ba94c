package pagination

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// MaxToken bounds a sealed token, in bytes, in both directions: what a client
// may send, and what a remote's own token may grow to once sealed.
const MaxToken = 8 << 10

const (
	tokenVersion = 2
	keyIDSize    = 8
)

// Listing identifies what is being listed. A token is good for exactly one
// listing.
type Listing struct {
	// Scope is the catalog that lists: the tree's name, or a mount view's.
	Scope string
	// Kind is the listing operation's name, as "listTables".
	Kind string
	// Parent holds the levels of the namespace that is listed; none is the root.
	Parent []string
}

func (l Listing) bytes() []byte {
	var b strings.Builder
	for _, part := range append([]string{l.Scope, l.Kind}, l.Parent...) {
		fmt.Fprintf(&b, "%d:%s", len(part), part)
	}
	return []byte(b.String())
}

// Position is a place in a listing: the source that the next row comes from and
// that source's own cursor.
type Position struct {
	Source string
	Cursor string
}

// Keyring seals positions, each under the key of its source. It is immutable
// and safe for concurrent use.
type Keyring struct {
	bySource map[string]sealKey
	byID     map[string]sealKey
}

type sealKey struct {
	source string
	id     []byte
	aead   cipher.AEAD
}

// NewKeyring derives one key for each source: from the server's secret where
// there is one, else from the source's own material (its configuration). Servers
// with the same secret, or the same configuration of a source, understand each
// other's tokens; changing one source leaves the others' tokens valid.
func NewKeyring(secret []byte, material map[string][]byte) (*Keyring, error) {
	ring := &Keyring{bySource: map[string]sealKey{}, byID: map[string]sealKey{}}
	for source, own := range material {
		input := own
		if len(secret) > 0 {
			input = secret
		}
		derived, err := hkdf.Key(sha256.New, input, nil, "icefield page token v1\x00"+source, keyIDSize+32)
		if err != nil {
			return nil, fmt.Errorf("derive the page token key of %q: %w", source, err)
		}
		block, err := aes.NewCipher(derived[keyIDSize:])
		if err != nil {
			return nil, fmt.Errorf("page token key of %q: %w", source, err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("page token key of %q: %w", source, err)
		}
		key := sealKey{source: source, id: derived[:keyIDSize], aead: aead}
		ring.bySource[source], ring.byID[string(key.id)] = key, key
	}
	return ring, nil
}

// Seal makes the token that leads to pos in listing. The zero cursor of a
// source is a position like any other. It fails when the keyring has no key for
// pos.Source or the token would be longer than MaxToken.
func (k *Keyring) Seal(listing Listing, pos Position) (string, error) {
	return k.SealUpTo(MaxToken, listing, pos)
}

// SealUpTo is Seal for what does not travel in a URL and may get longer.
func (k *Keyring) SealUpTo(longest int, listing Listing, pos Position) (string, error) {
	key, ok := k.bySource[pos.Source]
	if !ok {
		return "", fmt.Errorf("no page token key for source %q", pos.Source)
	}
	// The key says whose cursor it is. The cursor stands as it is, so that a token
	// is a third longer than it, whatever it is made of.
	plain := []byte(pos.Cursor)
	out := make([]byte, 0, 1+keyIDSize+key.aead.NonceSize()+len(plain)+key.aead.Overhead())
	out = append(append(out, tokenVersion), key.id...)
	nonce := make([]byte, key.aead.NonceSize())
	rand.Read(nonce)
	out = append(out, nonce...)
	out = key.aead.Seal(out, nonce, plain, listing.bytes())
	token := base64.RawURLEncoding.EncodeToString(out)
	if len(token) > longest {
		return "", fmt.Errorf("a page token of %d bytes is over the limit of %d", len(token), longest)
	}
	return token, nil
}

// Open reads a token. It reports false for every token that Seal did not make
// for this very listing: the caller starts the listing again, since a repeated
// row is visible to a client and a skipped one is not.
func (k *Keyring) Open(listing Listing, token string) (Position, bool) {
	return k.OpenUpTo(MaxToken, listing, token)
}

// OpenUpTo is Open for what SealUpTo made.
func (k *Keyring) OpenUpTo(longest int, listing Listing, token string) (Position, bool) {
	if token == "" || len(token) > longest {
		return Position{}, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) < 1+keyIDSize || raw[0] != tokenVersion {
		return Position{}, false
	}
	key, ok := k.byID[string(raw[1:1+keyIDSize])]
	if !ok {
		return Position{}, false
	}
	sealed := raw[1+keyIDSize:]
	if len(sealed) < key.aead.NonceSize() {
		return Position{}, false
	}
	nonce, box := sealed[:key.aead.NonceSize()], sealed[key.aead.NonceSize():]
	plain, err := key.aead.Open(nil, nonce, box, listing.bytes())
	if err != nil {
		return Position{}, false
	}
	return Position{Source: key.source, Cursor: string(plain)}, true
}
