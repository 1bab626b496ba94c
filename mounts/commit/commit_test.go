package commit

import "testing"

func TestARealClientsCreateMakesACompleteTable(t *testing.T) {
	for version := 1; version <= 3; version++ {
		doc := made(t, version)
		t.Logf("%s", doc)
		doc = grown(t, version, 3)
		t.Logf("%s", doc)
	}
}
