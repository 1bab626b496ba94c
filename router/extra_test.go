package router

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// extras finds the unknown members that a request kept, in the order of the
// changes of a transaction.
func extras(req mounts.Request) []map[string]json.RawMessage {
	switch r := req.(type) {
	case *mounts.CreateNamespaceRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.UpdateNamespacePropertiesRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.CreateTableRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.RegisterTableRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.CommitTableRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.CommitTransactionRequest:
		all := []map[string]json.RawMessage{r.Extra}
		for _, change := range r.Changes {
			all = append(all, change.Extra)
		}
		return all
	case *mounts.RenameTableRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.CreateViewRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.RegisterViewRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.ReplaceViewRequest:
		return []map[string]json.RawMessage{r.Extra}
	case *mounts.RenameViewRequest:
		return []map[string]json.RawMessage{r.Extra}
	}
	return nil
}

// TestUnknownMembersOfABodyAreKeptByteForByte over every operation that has a
// body of its own.
func TestUnknownMembersOfABodyAreKeptByteForByte(t *testing.T) {
	for op, sample := range calls() {
		if !capabilities.Changes().Has(op) || sample.body == "" {
			continue
		}
		b, backend := scripted(typical)
		w := over(t, backend)
		const more = `{"x-new": { "n":9007199254740993.10 , "s":"\u00e9\/"}, "x-null":null,`
		body := more + strings.TrimPrefix(sample.body, "{")
		if op == capabilities.CommitTransaction {
			body = more + strings.TrimPrefix(strings.ReplaceAll(sample.body, `{"identifier"`, `{"x-one":[ 1 ],"identifier"`), "{")
		}
		w.do(op.Row().Verb, "/v1"+sample.path, body)
		if len(b.asked) != 1 {
			t.Errorf("%s: asked %d times", op, len(b.asked))
			continue
		}
		kept := extras(b.asked[0])
		if len(kept) == 0 {
			t.Errorf("%s keeps nothing", op)
			continue
		}
		if len(kept[0]) != 2 || string(kept[0]["x-new"]) != `{ "n":9007199254740993.10 , "s":"\u00e9\/"}` || string(kept[0]["x-null"]) != "null" {
			t.Errorf("%s kept %s", op, spellExtra(kept[0]))
		}
		for _, one := range kept[1:] {
			if len(one) != 1 || string(one["x-one"]) != "[ 1 ]" {
				t.Errorf("a change of %s kept %s", op, spellExtra(one))
			}
		}
		// Without any there is nothing to carry.
		w.do(op.Row().Verb, "/v1"+sample.path, sample.body)
		for _, one := range extras(b.asked[1]) {
			if one != nil {
				t.Errorf("%s kept %s of a body of known members", op, spellExtra(one))
			}
		}
	}
}

func spellExtra(extra map[string]json.RawMessage) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		fmt.Fprintf(&b, "%s=%s ", name, extra[name])
	}
	return b.String()
}

func TestTooManyUnknownMembersAreRefused(t *testing.T) {
	b, backend := scripted(typical)
	w := over(t, backend)
	members := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `,"x%d":%d`, i, i)
		}
		return text.String()
	}
	const path = "/v1/namespaces/a/tables/t"
	w.do("POST", path, `{"updates":[]`+members(maxExtra)+`}`)
	if len(b.asked) != 1 {
		t.Errorf("%d unknown members are refused", maxExtra)
	}
	for url, body := range map[string]string{
		path:                      `{"updates":[]` + members(maxExtra+1) + `}`,
		"/v1/transactions/commit": `{"table-changes":[{"identifier":{"namespace":["a"],"name":"t"}` + members(maxExtra+1) + `}]}`,
	} {
		if message := w.do("POST", url, body).wantError(t, 400, "BadRequestException"); !strings.Contains(message, "64") {
			t.Errorf("%s: %q", url, message)
		}
	}
	if len(b.asked) != 1 {
		t.Errorf("asked %d times", len(b.asked))
	}
}

// TestALostReportIsNoErrorOfTheEngine, and one that is wrong is.
func TestALostReportIsNoErrorOfTheEngine(t *testing.T) {
	for _, kind := range mounts.Kinds() {
		lost := kind == mounts.Unavailable || kind == mounts.Timeout || kind == mounts.BadGateway || kind == mounts.RateLimited
		w := over(t, failing(fmt.Errorf("wrapped: %w", &mounts.Error{Kind: kind, OutcomeUnknown: kind == mounts.Timeout})))
		got := w.do("POST", "/v1/namespaces/a/tables/t/metrics", `{"report-type":"scan-report"}`)
		if (got.status == 204) != lost {
			t.Errorf("%v: answered %d %s", kind, got.status, got.body)
		}
	}
}

// Some catalogs behind a mount take a member whose name differs in its case for
// the one that is known, and the last of two. What they would do is not what was
// decided about here.
func TestNoMemberPassesThatAnotherReaderTakesForAKnownOne(t *testing.T) {
	b, backend := scripted(typical)
	w := over(t, backend)
	for url, bodies := range map[string][]string{
		"/v1/tables/rename": {`{"source":{"namespace":["a"],"name":"t"},"destination":{"namespace":["a"],"name":"u"},"Source":{"namespace":["a"],"name":"other"}}`,
			`{"source":{"namespace":["a"],"name":"t"},"destination":{"namespace":["a"],"name":"u"},"de\u017ftination":{"namespace":["b"],"name":"u"}}`},
		"/v1/namespaces/a/tables/t": {`{"updates":[],"Identifier":{"namespace":["a"],"name":"other"}}`, `{"updates":[],"UPDATES":[{"action":"set-location"}]}`},
		"/v1/transactions/commit": {`{"table-changes":[{"identifier":{"namespace":["a"],"name":"t"},"updates":[],"Identifier":{"namespace":["a"],"name":"other"}}]}`,
			`{"table-changes":[{"identifier":{"namespace":["a"],"name":"t"},"updates":[]}],"Table-Changes":[]}`},
		"/v1/namespaces/a/register": {`{"name":"t","metadata-location":"s3://a/b","Overwrite":true}`},
		"/v1/namespaces/a/tables":   {`{"name":"t","schema":{"type":"struct","fields":[]},"Name":"other"}`},
	} {
		for _, body := range bodies {
			if message := w.do("POST", url, body).wantError(t, 400, "BadRequestException"); !strings.Contains(message, "it is called") {
				t.Errorf("%s: %q", body, message)
			}
		}
	}
	if len(b.asked) != 0 {
		t.Errorf("asked %d times", len(b.asked))
	}
}
