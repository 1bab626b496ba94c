package commit

import "testing"

func addKey(members string) string {
	return `{"action":"add-encryption-key","encryption-key":{` + members + `}}`
}

func removeKey(id string) string { return `{"action":"remove-encryption-key","key-id":"` + id + `"}` }

func TestEncryptionKeysAreKeptByTheirID(t *testing.T) {
	doc := must(t, made(t, 3), ``, addKey(`"key-id":"a","encrypted-key-metadata":"AQ==","encrypted-by-id":null,"properties":null,"x-kept":1`)+","+
		addKey(`"key-id":"b","encrypted-key-metadata":"Ag==","encrypted-by-id":"a","properties":{"p":"q"}`))
	wants(t, doc, `[{"key-id":"a","encrypted-key-metadata":"AQ==","x-kept":1},{"key-id":"b","encrypted-key-metadata":"Ag==","encrypted-by-id":"a","properties":{"p":"q"}}]`, "encryption-keys")
	for _, update := range []string{addKey(`"key-id":"a","encrypted-key-metadata":"AQ=="`), addKey(`"key-id":"a","encrypted-key-metadata":"/w=="`), removeKey("c")} {
		if res, err := commitTo(doc, ``, update); err != nil || res.Changed {
			t.Errorf("%s: %v, %v", update, res, err)
		}
	}
	doc = must(t, doc, ``, removeKey("a"))
	wants(t, doc, `"b"`, "encryption-keys", 0, "key-id")
	if res, err := commitTo(made(t, 2), ``, removeKey("a")); err != nil || res.Changed {
		t.Errorf("removing a key from a v2 table: %v, %v", res, err)
	}
}

func TestASnapshotNamesItsKey(t *testing.T) {
	doc := must(t, made(t, 3), ``, snap(3, 101, 0, 1, now, rows(0, 1)+`,"key-id":"a"`)+","+addKey(`"key-id":"a","encrypted-key-metadata":"AQ=="`))
	wants(t, doc, `"a"`, "snapshots", 0, "key-id")
}

func TestEnablingRowLineageOnV3ChangesNothing(t *testing.T) {
	res, err := commitTo(grown(t, 3, 1), ``, `{"action":"enable-row-lineage"}`)
	if err != nil || res.Changed {
		t.Fatalf("%v, %v", res, err)
	}
}
