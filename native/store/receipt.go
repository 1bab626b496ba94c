package store

import "time"

// ReceiptKey names a receipt: a digest of the principal and its
// Idempotency-Key, so that no principal meets another's receipts.
type ReceiptKey [32]byte

// Receipt is the remembered outcome of a request that carried an
// Idempotency-Key (REST spec, Idempotency-Key).
type Receipt struct {
	Key ReceiptKey
	// Fingerprint is a digest of the request: another request under the same key
	// is a mistake of the client.
	Fingerprint [32]byte
	// Outcome is the answer in the registry's own encoding, opaque here.
	Outcome []byte
	Created time.Time
	// Expires is when it is forgotten: from then on, that instant included, its key
	// is free again.
	Expires time.Time
}

// Expired reports whether the receipt no longer counts at a time.
func (r Receipt) Expired(now time.Time) bool { return !r.Expires.After(now) }

// MaxOutcome bounds a receipt's outcome in bytes.
const MaxOutcome = 1 << 20
