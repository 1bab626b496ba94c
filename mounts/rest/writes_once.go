package rest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// key is the Idempotency-Key that goes with the changes of a caller, to a remote
// that says it honours them; empty for none. A remote that does not say so is
// sent none, so that nobody between takes it for a leave to send a change twice.
func (b *Backend) key(ctx context.Context) string {
	caller := mounts.CallerFrom(ctx)
	if caller.Once == nil || b.KeyLifetime() <= 0 {
		return ""
	}
	return remoteKey(caller.Principal, caller.Once.Key)
}

// anonymous is how a client without a login is called (router).
const anonymousPrincipal = "anonymous"

// remoteKey is the key that a client's key becomes. All callers of a mount are
// one to its remote, and keys of different principals have nothing to do with
// each other: so each principal's key is another one there, the same for the
// same key on every replica. It keeps the time and the version of the client's,
// which the spec wants to be a UUIDv7. Where nobody is told from anybody it is
// the client's own.
func remoteKey(principal, key string) string {
	id, err := uuid.Parse(key)
	if err != nil || principal == "" || principal == anonymousPrincipal {
		return key
	}
	digest := sha256.New()
	digest.Write([]byte("icefield remote key 1"))
	digest.Write(binary.AppendUvarint(nil, uint64(len(principal))))
	digest.Write([]byte(principal))
	digest.Write(id[:])
	sum := digest.Sum(nil)
	version, variant := id[6]&0xf0, id[8]&0xc0
	copy(id[6:], sum)
	id[6], id[8] = version|id[6]&0x0f, variant|id[8]&0x3f
	return id.String()
}
