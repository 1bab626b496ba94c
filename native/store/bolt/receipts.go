package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/icefield/icefield/native/store"
)

// timeKey begins the keys of an index by time: it sorts as the times do, those
// before 1970 too.
func timeKey(at time.Time) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 0, 8+32), uint64(at.UnixMicro())^1<<63)
}

// Receipt implements store.Tx.
func (t *tx) Receipt(key store.ReceiptKey) (store.Receipt, error) {
	record := t.b.Bucket(bucketReceipts).Get(key[:])
	if record == nil {
		return store.Receipt{}, store.ErrNotFound
	}
	return decodeReceipt(key, record)
}

// PutReceipt implements store.Tx.
func (t *tx) PutReceipt(r store.Receipt, now time.Time) error {
	if record := t.b.Bucket(bucketReceipts).Get(r.Key[:]); record != nil {
		before, err := decodeReceipt(r.Key, record)
		if err != nil {
			return err
		}
		if !before.Expired(now) {
			return store.ErrExists
		}
	}
	return t.putReceipt(r)
}

// putReceipt writes a receipt over one that may be there.
func (t *tx) putReceipt(r store.Receipt) error {
	if len(r.Outcome) > store.MaxOutcome {
		return fmt.Errorf("bolt: an outcome of %d bytes is too long to be remembered; at most %d", len(r.Outcome), store.MaxOutcome)
	}
	if err := t.deleteReceipt(r.Key); err != nil {
		return err
	}
	if err := t.put(bucketExpiry, append(timeKey(r.Expires), r.Key[:]...), []byte{}); err != nil {
		return err
	}
	return t.put(bucketReceipts, r.Key[:], encodeReceipt(r))
}

// deleteReceipt forgets a receipt, if there is one, and its index entry.
func (t *tx) deleteReceipt(key store.ReceiptKey) error {
	record := t.b.Bucket(bucketReceipts).Get(key[:])
	if record == nil {
		return nil
	}
	r, err := decodeReceipt(key, record)
	if err != nil {
		return err
	}
	if err := t.delete(bucketExpiry, append(timeKey(r.Expires), key[:]...)); err != nil {
		return err
	}
	return t.delete(bucketReceipts, key[:])
}

// PruneReceipts implements store.Tx.
func (t *tx) PruneReceipts(now time.Time, limit int) (int, error) {
	last := append(timeKey(now), bytes.Repeat([]byte{0xFF}, len(store.ReceiptKey{}))...)
	pruned := t.keysUntil(bucketExpiry, last, limit)
	for _, entry := range pruned {
		if err := t.deleteReceipt(store.ReceiptKey(entry[8:])); err != nil {
			return 0, err
		}
	}
	return len(pruned), nil
}

// keysUntil lists the first keys of a bucket up to last and with it, at most
// limit of them, as copies: deleting would move a cursor.
func (t *tx) keysUntil(bucket, last []byte, limit int) [][]byte {
	var keys [][]byte
	cursor := t.b.Bucket(bucket).Cursor()
	for key, _ := cursor.First(); len(keys) < limit && key != nil && bytes.Compare(key, last) <= 0; key, _ = cursor.Next() {
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}
