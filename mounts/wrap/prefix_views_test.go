package wrap

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// viewScript keeps what a view was written with and answers with metadata.
func viewScript(answer string) (*[]json.RawMessage, mounts.Backend) {
	var written []json.RawMessage
	return &written, Prefix(scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		switch r := req.(type) {
		case *mounts.CreateViewRequest:
			written = append(written, r.ViewVersion)
		case *mounts.ReplaceViewRequest:
			written = append(written, r.Updates...)
		}
		return &mounts.View{MetadataLocation: "l", Metadata: json.RawMessage(answer)}, nil
	}), "prod")
}

var prodView = mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "v"}

func viewRequests() []mounts.Request {
	return []mounts.Request{
		&mounts.LoadViewRequest{View: prodView}, &mounts.CreateViewRequest{Namespace: prodView.Namespace, Name: "v"},
		&mounts.RegisterViewRequest{Namespace: prodView.Namespace, Name: "v"}, &mounts.ReplaceViewRequest{View: prodView},
	}
}

func TestDefaultNamespacesOfEveryVersionAreRestoredAndNothingElseIsTouched(t *testing.T) {
	const inner = `{ "view-uuid" : "u", "versions":[{"version-id":9007199254740993,"default-namespace":["a","b\u0000<&>"],"x":{"default-namespace":["q"]},
  "representations":[{"sql":"select '<b>&\u003c' from t","default-namespace":[1]}]}, {"default-namespace": [ ] ,"y":1.0e5},{"default-namespace":null},{}],
  "default-namespace":["top"],"future":{"versions":[{"default-namespace":["z"]}]},"versions":[{"default-namespace":[ "twice" ]}]}`
	want := strings.NewReplacer(`["a","b`, `["prod","a","b`, `"default-namespace": [ ]`, `"default-namespace": ["prod" ]`, `[ "twice" ]`, `["prod", "twice" ]`).Replace(inner)
	for _, req := range viewRequests() {
		_, b := viewScript(inner)
		resp, err := mounts.Invoke(t.Context(), b, req)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(resp.(*mounts.View).Metadata); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", req.Op(), got, want)
		}
	}
}

func TestUnreadableViewMetadataIsABadAnswer(t *testing.T) {
	for _, broken := range []string{`{"versions":[{"default-namespace":["a"`, `{"versions":[}`, `not json`, strings.Repeat(`{"versions":[`, 20000)} {
		for _, req := range viewRequests() {
			_, b := viewScript(broken)
			if e := is(t, ask(b, req), mounts.BadGateway); e.OutcomeUnknown != changes(req) {
				t.Errorf("%s: %+v", req.Op(), e)
			}
		}
	}
}

func TestDefaultNamespacesAreStrippedFromWrites(t *testing.T) {
	version := func(n string) string {
		return `{"version-id":1, "default-namespace":` + n + `,"representations":[{"sql":"a<b"}],"n":9007199254740993}`
	}
	for outer, inner := range map[string]string{
		`["prod","a"]`:            `["a"]`,
		`["prod"]`:                `[]`,
		`[ "prod" , "a" , "b" ]`:  `[ "a" , "b" ]`,
		`["\u0070rod","\u0061"]`:  `["\u0061"]`,
		`null`:                    `null`,
		`["prod","prod"]`:         `["prod"]`,
		`["prod", "prod", "a,b"]`: `[ "prod", "a,b"]`,
	} {
		written, b := viewScript(`{}`)
		if err := ask(b, &mounts.CreateViewRequest{Namespace: prodView.Namespace, Name: "v", ViewVersion: json.RawMessage(version(outer))}); err != nil {
			t.Fatal(err)
		}
		if got := squeeze((*written)[0]); got != squeeze([]byte(version(inner))) {
			t.Errorf("%s became %s", outer, got)
		}
		other := `{"action":"set-properties","updates":{"default-namespace":"x"}}`
		update := `{"action":"add-view-version","view-version":` + version(outer) + `}`
		written, b = viewScript(`{}`)
		if err := ask(b, &mounts.ReplaceViewRequest{View: prodView, Updates: []json.RawMessage{[]byte(other), []byte(update)}}); err != nil {
			t.Fatal(err)
		}
		if got := squeeze((*written)[1]); string((*written)[0]) != other || got != squeeze([]byte(`{"action":"add-view-version","view-version":`+version(inner)+`}`)) {
			t.Errorf("%s became %s", outer, got)
		}
	}
}

func squeeze(b []byte) string { return strings.ReplaceAll(string(b), " ", "") }

func TestADefaultNamespaceElsewhereIsRefusedBeforeAnythingIsSent(t *testing.T) {
	for _, foreign := range []string{`["other","a"]`, `["a"]`, `[]`, `["PROD"]`, `[1]`, `[["prod"]]`} {
		written, b := viewScript(`{}`)
		version := json.RawMessage(`{"default-namespace":` + foreign + `}`)
		for _, req := range []mounts.Request{
			&mounts.CreateViewRequest{Namespace: prodView.Namespace, Name: "v", ViewVersion: version},
			&mounts.ReplaceViewRequest{View: prodView, Updates: []json.RawMessage{[]byte(`{"action":"add-view-version","view-version":` + string(version) + `}`)}},
		} {
			e := is(t, ask(b, req), mounts.BadRequest)
			if len(*written) != 0 || e.OutcomeUnknown || !strings.Contains(e.Message(), `"prod"`) || !strings.Contains(e.Message(), "prod.a.v") {
				t.Errorf("%s: %s", foreign, e.Message())
			}
		}
	}
	_, b := viewScript(`{}`)
	is(t, ask(b, &mounts.CreateViewRequest{Namespace: prodView.Namespace, Name: "v", ViewVersion: []byte(`{"default-namespace":["prod"`)}), mounts.BadRequest)
}

// TestUpThenDownIsTheIdentity: whatever is in a document, byte for byte.
func TestUpThenDownIsTheIdentity(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	edited := 0
	for range 5000 {
		doc := []byte(randomValue(random, 4))
		for _, path := range [][]string{inMetadata, inVersion, inUpdate} {
			up, err := editArrays(doc, path, insertFirst("prod"))
			if err != nil {
				t.Fatalf("%s: %v", doc, err)
			}
			if !json.Valid(up) {
				t.Fatalf("%s became %s", doc, up)
			}
			down, err := editArrays(up, path, removeFirst("prod"))
			if err != nil || !bytes.Equal(down, doc) {
				t.Fatalf("%s\nup   %s\ndown %s, %v", doc, up, down, err)
			}
			if !bytes.Equal(up, doc) {
				edited++
			}
		}
	}
	if edited < 500 {
		t.Errorf("only %d documents had anything to edit", edited)
	}
}

// randomValue writes a JSON value in which the interesting keys are frequent.
func randomValue(r *rand.Rand, depth int) string {
	blank := func() string { return []string{"", " ", "\n\t"}[r.IntN(3)] }
	text := func() string {
		return []string{`"a"`, `"prod"`, `"<&>"`, `"\u0070,]"`, `"é🧊\\\""`, `""`}[r.IntN(6)]
	}
	list := func(item func() string) string {
		items := make([]string, r.IntN(4))
		for i := range items {
			items[i] = blank() + item() + blank()
		}
		return strings.Join(items, ",")
	}
	if depth == 0 {
		return []string{text(), "null", "true", fmt.Sprint(r.Int64()), "1.50e-7"}[r.IntN(5)]
	}
	switch r.IntN(6) {
	case 0:
		return randomValue(r, 0)
	case 1:
		return "[" + blank() + list(text) + "]"
	case 2:
		return "[" + list(func() string { return randomValue(r, depth-1) }) + "]"
	}
	return "{" + list(func() string {
		key := []string{"versions", "default-namespace", "view-version", "other"}[r.IntN(4)]
		value := randomValue(r, depth-1)
		switch key {
		case "versions":
			value = "[" + list(func() string { return randomValue(r, depth-1) }) + "]"
		case "default-namespace":
			value = "[" + blank() + list(text) + "]"
		}
		return `"` + key + `":` + blank() + value
	}) + blank() + "}"
}

func FuzzEditingViewMetadata(f *testing.F) {
	f.Add([]byte(`{"versions":[{"default-namespace":["a"]},{"default-namespace": [ ] }]}`))
	f.Add([]byte(`{"versions":[{"default-namespace":["a",`))
	f.Add([]byte(`{"versions":[[{"default-namespace":[["a"],{}]}]],"versions":[{"default-namespace":[1]}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		before := bytes.Clone(doc)
		up, err := editArrays(doc, inMetadata, insertFirst("prod"))
		if !bytes.Equal(doc, before) {
			t.Fatalf("the document was changed in place: %q", doc)
		}
		if err != nil || !json.Valid(doc) {
			return
		}
		if !json.Valid(up) {
			t.Fatalf("%q became %q", doc, up)
		}
		if down, err := editArrays(up, inMetadata, removeFirst("prod")); err != nil || !bytes.Equal(down, doc) {
			t.Fatalf("%q came back as %q, %v", doc, down, err)
		}
	})
}
