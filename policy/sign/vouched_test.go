package sign

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// A metadata file can be written anew by whoever gets writes of the table signed.
// What it says then of the table's location has nothing signed: not where the
// registry's pointer says otherwise.
func TestAMetadataFileThatWasWrittenAnewHasNothingSigned(t *testing.T) {
	location, pointer := "", "s3://lake/wh/mine/metadata/00001-x.metadata.json"
	next := mounts.Dispatch(func(context.Context, mounts.Request) (mounts.Response, error) {
		doc, err := json.Marshal(map[string]any{"location": location})
		return &mounts.Table{Metadata: doc, MetadataLocation: pointer}, err
	}, mounts.Unsupported{})
	b, err := Around(next, Options{Warehouse: "s3://lake/wh", Storage: storage()})
	if err != nil {
		t.Fatal(err)
	}
	for _, forged := range []string{"s3://lake/wh/victim", "s3://lake/wh/victim/data", "s3a://lake/wh/victim", "s3://lake/wh/mine/data", "s3://lake/wh/mine1"} {
		location = forged
		for _, key := range []string{"/lake/wh/victim/data/x", "/lake/wh/mine/data/x"} {
			if _, err := signFor(b, mounts.ReadStorage, "mine", ask("GET", endpoint+key)); !errors.Is(err, mounts.Forbidden) {
				t.Errorf("%s, said to lie at %s: %v", key, forged, err)
			}
		}
	}
	location = "s3a://lake/wh/mine/"
	if _, err := signFor(b, mounts.ReadStorage, "mine", ask("GET", endpoint+"/lake/wh/mine/data/x")); err != nil {
		t.Errorf("where it lies: %v", err)
	}
	pointer = "s3://lake/wh/mine/00001-x.metadata.json"
	if _, err := signFor(b, mounts.ReadStorage, "mine", ask("GET", endpoint+"/lake/wh/mine/data/x")); !errors.Is(err, mounts.Forbidden) {
		t.Errorf("with its metadata elsewhere: %v", err)
	}
}
