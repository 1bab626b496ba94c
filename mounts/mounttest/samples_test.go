package mounttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/mounts/mounttest"
)

func TestRequestsHaveOneOfEveryOperation(t *testing.T) {
	seen := map[string]int{}
	for _, req := range mounttest.Requests() {
		seen[req.Op().Row().Method]++
		if req.Object().IsZero() {
			t.Errorf("%s is about nothing", req.Op())
		}
	}
	for _, row := range capabilities.Operations() {
		if seen[row.Method] != 1 {
			t.Errorf("%s: %d requests for Backend.%s, want one", row.Name, seen[row.Method], row.Method)
		}
	}
}

func TestRequestsAreFreshAndFilled(t *testing.T) {
	first, second := mounttest.Requests(), mounttest.Requests()
	for i := range first {
		if first[i] == second[i] {
			t.Errorf("%s is shared between calls", first[i].Op())
		}
		if !reflect.DeepEqual(first[i], second[i]) {
			t.Errorf("%s differs from call to call", first[i].Op())
		}
	}
}

func TestLedgerAnswersEveryRequest(t *testing.T) {
	b := mounttest.Ledger()
	if b.Capabilities() != capabilities.All() {
		t.Error("the ledger cannot do everything")
	}
	for _, req := range mounttest.Requests() {
		resp, err := mounts.Invoke(context.Background(), b, req)
		method, _ := reflect.TypeFor[mounts.Backend]().MethodByName(req.Op().Row().Method)
		if err != nil || (method.Type.NumOut() == 2) == (resp == nil) {
			t.Errorf("%s: %v, %v", req.Op(), resp, err)
		}
	}
}

func TestMetadataHasTheSizeAskedForAndIsUnderstood(t *testing.T) {
	smallest := len(mounttest.Metadata(0))
	for _, size := range []int{smallest, smallest + 1, 10_000, 20_000, 20 << 10, 100_000, 1 << 20} {
		doc := mounttest.Metadata(size)
		if len(doc) != size {
			t.Errorf("asked for %d bytes, got %d", size, len(doc))
		}
		if !bytes.Equal(doc, mounttest.Metadata(size)) {
			t.Errorf("two documents of %d bytes differ", size)
		}
		var shape struct {
			Snapshots  []json.RawMessage
			Properties map[string]string
		}
		if err := json.Unmarshal(doc, &shape); err != nil {
			t.Fatal(err)
		}
		if padding := len(shape.Properties["comment"]); padding > 2000 && size > smallest {
			t.Errorf("%d of %d bytes are padding", padding, size)
		}
		if _, err := commit.Inspect(doc); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestAppendFitsOnEveryMetadata(t *testing.T) {
	id := mounts.Identifier{Namespace: mounts.Namespace{"n"}, Name: "t"}
	for _, size := range []int{0, 20_000} {
		doc := mounttest.Metadata(size)
		for i := range int64(3) {
			result, err := commit.Table(&commit.Base{Metadata: doc, Location: "s3://sample-bucket/m.json"}, mounttest.Append(id, doc, 7+i), commit.Options{})
			if err != nil {
				t.Fatalf("%d bytes, append %d: %v", size, i, err)
			}
			doc = result.Metadata
		}
	}
}

func TestNamesAreLegalAndDistinct(t *testing.T) {
	texts, labels := map[string]bool{}, map[string]bool{}
	for _, name := range mounttest.Names() {
		if name.Text == "" || !utf8.ValidString(name.Text) || bytes.ContainsRune([]byte(name.Text), 0x1f) {
			t.Errorf("%q is no legal name", name.Text)
		}
		if texts[name.Text] || labels[name.Label] {
			t.Errorf("%q (%s) stands twice", name.Text, name.Label)
		}
		texts[name.Text], labels[name.Label] = true, true
	}
}
