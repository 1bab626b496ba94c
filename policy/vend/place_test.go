package vend

import (
	"strings"
	"testing"
)

func TestCredentialsAreForPlacesStrictlyInsideTheWarehouse(t *testing.T) {
	v := &vendor{opt: Options{Provider: fakeProvider{}}, confines: true}
	for root, rows := range map[string]map[bool][]string{
		"s3://lake/wh": {
			true: {"s3://lake/wh/t", "s3a://lake/wh/t", "s3n://lake/wh/a/b/c", "s3://lake/wh/t//", "s3://lake/wh/é 🧊", "s3://lake/wh/*", "s3://lake/wh/...", "s3://lake/wh/a%20b", "s3://lake/wh/%"},
			false: {"", "s3://lake/wh", "s3://lake/wh/", "s3://lake", "s3://lake/", "s3://lake/wh2/t", "s3://lake/w/t", "s3://lake/WH/t", "s3://lake2/wh/t", "S3://lake/wh/t",
				"s3://lake/wh/../x", "s3://lake/wh/t/../../x", "s3://lake/wh/./t", "s3://lake/wh//t", "s3://lake//wh/t", "s3://lake/wh/%2e%2e/x", "s3://lake/wh/%2E./x", "s3://lake/wh/t%2f..%2fx",
				"s3://lake/wh/t%00", "s3://lake/wh/%252e", `s3://lake/wh\t`, "s3://lake/wh/t?x", "s3://lake/wh/t#x", "s3://lake/wh/t\x00", "s3://lake/wh/t\n", "s3://lake/wh/\xff",
				"s3://user@lake/wh/t", "s3://lake*/wh/t", "s3:///wh/t", "s3:/lake/wh/t", "lake/wh/t", "file:///lake/wh/t", "/lake/wh/t", "gs://lake/wh/t", "https://lake/wh/t",
				"s3://lake/wh/" + strings.Repeat("x", maxLocation)},
		},
		"gs://lake": {true: {"gs://lake/t", "gcs://lake/t"}, false: {"gs://lake", "gs://lake2/t", "s3://lake/t"}},
		"abfss://lake@acct.dfs.core.windows.net/wh": {
			true: {"abfss://lake@acct.dfs.core.windows.net/wh/t", "abfs://lake@acct.dfs.core.windows.net/wh/t", "wasbs://lake@acct.blob.core.windows.net/wh/t"},
			false: {"abfss://lake@acct.dfs.core.windows.net/wh", "abfss://lake2@acct.dfs.core.windows.net/wh/t", "abfss://lake@other.dfs.core.windows.net/wh/t",
				"abfss://lake@acct.dfs.core.windows.net.evil.com/wh/t", "abfss://lake@evil.com/wh/t", "abfss://lake@acct/wh/t", "abfss://acct.dfs.core.windows.net/wh/t", "abfss://lake@acct.dfs.core.windows.net:443/wh/t"},
		},
	} {
		var err error
		if v.root, err = readPlace(root); err != nil {
			t.Fatal(err)
		}
		for want, locations := range rows {
			for _, location := range locations {
				if got := v.covers(location); got != want {
					t.Errorf("%q in %q: %t", location, root, got)
				}
			}
		}
	}
	v.confines = false
	if v.covers("s3://lake/wh/t") {
		t.Error("a mount without a warehouse in a store gives credentials")
	}
}

func TestMetadataSaysOneLocationOrNone(t *testing.T) {
	for metadata, want := range map[string]string{
		`{"location":"s3://b/t"}`: "s3://b/t",
		`{"format-version":2,"x":{"location":"no","y":[{"location":"no"}]},"location":"s3://b/\u0074","z":null}`: "s3://b/t",
		` {"location" : "" } `:                               "",
		`{"properties":{"location":"no"}}`:                   "!",
		`{"location":"s3://b/t","location":"s3://b/u"}`:      "!",
		`{"location":"s3://b/t","Location":"s3://b/u"}`:      "!",
		`{"LOCATION":"s3://b/t"}`:                            "!",
		`{"location":"s3://b/t","\u006cocation":"s3://b/u"}`: "!",
		`{"location":7}`:                                     "!",
		`{"location":null}`:                                  "!",
		`{"location":{"x":1}}`:                               "!",
		`{"location":"s3://b/t"`:                             "!",
		`{"location":"s3://b/t"}{"location":"s3://b/u"}`:     "!",
		`{"location":"s3://b/t","x":}`:                       "!",
		`[]`:                                                 "!",
		`"location"`:                                         "!",
		``:                                                   "!",
		`{}`:                                                 "!",
		`{"x":` + strings.Repeat("[", 20000) + `,"location":1}`: "!",
	} {
		got, err := readLocation([]byte(metadata))
		if (err != nil) != (want == "!") || err == nil && got != want {
			t.Errorf("%.80s says %q, %v", metadata, got, err)
		}
	}
}

func FuzzReadLocation(f *testing.F) {
	f.Add(`{"location":"s3://b/t"}`)
	f.Add(`{"location":"s3://b/t","Location":"s3://b/u"}`)
	f.Fuzz(func(t *testing.T, metadata string) {
		if location, err := readLocation([]byte(metadata)); err != nil && location != "" {
			t.Errorf("both %q and %v", location, err)
		}
	})
}

func BenchmarkReadLocation(b *testing.B) {
	document := []byte(`{"format-version":2,"table-uuid":"x","location":"s3://lake/wh/t","snapshots":[` + strings.Repeat(`{"snapshot-id":1,"summary":{"operation":"append","added":"1"}},`, 300) + `{}]}`)
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		if _, err := readLocation(document); err != nil {
			b.Fatal(err)
		}
	}
}
