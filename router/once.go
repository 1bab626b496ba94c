package router

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// once is a change's Idempotency-Key, until its request is known whole.
type once struct {
	key string
	// body is the digest of the body, decompressed; zero for none.
	body [sha256.Size]byte
}

// readOnce reads the Idempotency-Key of a change; nil for none, and for any
// other operation. The spec asks for a UUIDv7; any UUID is as good. Two
// spellings of one UUID are one key.
func (x *exchange) readOnce() (*once, error) {
	if !capabilities.Changes().Has(x.row.Op) {
		return nil, nil
	}
	lines := x.r.Header["Idempotency-Key"]
	switch {
	case len(lines) == 0:
		return nil, nil
	case len(lines) > 1:
		return nil, badField("the header Idempotency-Key", "stands more than once in the request")
	case len(lines[0]) == 36:
		if key, err := uuid.Parse(lines[0]); err == nil {
			return &once{key: key.String()}, nil
		}
	}
	return nil, badField("the header Idempotency-Key", "must be a UUID of 36 characters")
}

// of completes the key with what the request asks for: who asks, the operation,
// the catalog that the path leads to, the object, what the query says of a drop,
// and the body byte by byte. How the path spells the object's name does not count,
// nor do headers: what they ask for beside the change (credentials, a coding) is
// answered anew each time.
func (o *once) of(catalog *Catalog, principal string, req mounts.Request) *mounts.Once {
	digest := sha256.New()
	object := req.Object()
	if principal != nobody {
		sum(digest, "icefield principal 1", principal)
	}
	sum(digest, "icefield request 1", req.Op().String(), catalog.Prefix, object.Name)
	sum(digest, object.Namespace...)
	if drop, ok := req.(*mounts.DropTableRequest); ok {
		sum(digest, fmt.Sprint(drop.Purge))
	}
	digest.Write(o.body[:])
	result := &mounts.Once{Key: o.key}
	digest.Sum(result.Fingerprint[:0])
	return result
}

// nobody is the principal of requests whose receipts are older than principals,
// and stay valid.
const nobody = "anonymous"

// sum adds a list of texts that no other list of texts is mistaken for.
func sum(digest hash.Hash, texts ...string) {
	b := binary.AppendUvarint(nil, uint64(len(texts)))
	for _, text := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	digest.Write(b)
}

// appendPeriod spells a duration as ISO 8601 does, to the second, rounded down.
func appendPeriod(b []byte, d time.Duration) []byte {
	seconds := int64(d / time.Second)
	b = append(b, "PT"...)
	for _, unit := range [...]struct {
		seconds int64
		letter  byte
	}{{3600, 'H'}, {60, 'M'}, {1, 'S'}} {
		if n := seconds / unit.seconds; n > 0 || unit.letter == 'S' && len(b) > 0 && b[len(b)-1] == 'T' {
			b = append(appendInt(b, int(n)), unit.letter)
		}
		seconds %= unit.seconds
	}
	return b
}
