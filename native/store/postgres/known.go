package postgres

import (
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// known is what an Update has read and written so far. Rows that were read are
// locked, so what is known of them holds until the end; what was read as absent
// is only remembered, and the database refuses to add it twice.
type known struct {
	namespaces map[string]knownNamespace
	objects    map[string]knownObject
	receipts   map[store.ReceiptKey]knownReceipt
	jobs       map[uuid.UUID]bool
}

type knownNamespace struct {
	found  bool
	record store.Namespace
	// shared: others may have read it too, and have to let go before it is written.
	shared bool
}

type knownObject struct {
	found  bool
	record store.Object
}

type knownReceipt struct {
	found  bool
	record store.Receipt
}

func newKnown() known {
	return known{map[string]knownNamespace{}, map[string]knownObject{}, map[store.ReceiptKey]knownReceipt{}, map[uuid.UUID]bool{}}
}

// objectKey names an object: the key of its namespace has one length.
func objectKey(ident mounts.Identifier) string { return string(keyOf(ident.Namespace)) + ident.Name }
