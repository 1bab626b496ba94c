package mounts

import (
	"encoding/json"
	"testing"
)

func TestACommitCreatesOnlyIfARequirementSaysSo(t *testing.T) {
	for text, want := range map[string]bool{
		`[{"type":"assert-create"}]`:                                         true,
		`[{"type":"assert-table-uuid","uuid":"x"},{"type":"assert-create"}]`: true,
		// As catalogs in Java and in Go would read them.
		`[{"type":"Assert-Create"}]`:            true,
		`[{"type":"x","Type":"assert-create"}]`: true,
		`[{"Type":"x","type":"assert-create"}]`: true,
		`[]`:                                    false,
		`[{"type":"assert-ref-snapshot-id","ref":"assert-create"}]`: false,
		`[{"type":7}, "assert-create", null]`:                       false,
	} {
		var req CommitTableRequest
		if err := json.Unmarshal([]byte(text), &req.Requirements); err != nil {
			t.Fatal(err)
		}
		if req.Creates() != want {
			t.Errorf("%s: %v", text, req.Creates())
		}
	}
}
