package commit

import (
	"fmt"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestLocationsFindsEveryLocationOfARequest(t *testing.T) {
	got, err := Locations(raws(`
		{"action":"set-location","location":"s3://b/1"},
		{"action":"add-snapshot","snapshot":{"snapshot-id":1,"manifest-list":"s3://b/2","manifests":["s3://b/3","s3:\/\/b/4"]}},
		{"action":"set-properties","updates":{"write.metadata.path":"5","write.folder-storage.path":"6","write.object-storage.path":"7","write.data.path":"8","other":"s3://x"}},
		{"action":"set-properties","updated":{"write.data.path":"9"}},
		{"action":"set-statistics","statistics":{"snapshot-id":1,"statistics-path":"10"}},
		{"action":"set-partition-statistics","partition-statistics":{"snapshot-id":1,"statistics-path":"11"}},
		{"action":"remove-properties","removals":["write.data.path"]},
		{"action":"add-snapshot","snapshot":{"snapshot-id":2,"manifest-list":null}},
		{"action":"add-view-version","view-version":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{set-location: location s3://b/1} {add-snapshot: manifest-list s3://b/2} {add-snapshot: manifests[0] s3://b/3} {add-snapshot: manifests[1] s3://b/4} ` +
		`{set-properties: write.data.path 8} {set-properties: write.folder-storage.path 6} {set-properties: write.metadata.path 5} {set-properties: write.object-storage.path 7} ` +
		`{set-properties: write.data.path 9} {set-statistics: statistics-path 10} {set-partition-statistics: statistics-path 11}]`
	if fmt.Sprint(got) != want {
		t.Fatalf("got  %v\nwant %s", got, want)
	}
}

func TestLocationsRefusesWhatTableWouldRefuse(t *testing.T) {
	for _, update := range []string{
		`{"action":"fly"}`, `7`, `{"location":"x"}`, `{"action":"set-location","location":7}`,
		`{"action":"add-snapshot","snapshot":{"manifest-list":7}}`, `{"action":"add-snapshot","snapshot":{"manifests":[7]}}`,
		`{"action":"add-snapshot","snapshot":7}`, `{"action":"set-location","location":"a","location":"b"}`,
		`{"action":"set-properties","updates":{"write.data.path":null}}`,
	} {
		if _, err := Locations(raws(update)); mounts.AsError(err).Kind != mounts.BadRequest {
			t.Errorf("%s: %v", update, err)
		}
	}
}
