package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native/jobs/jobstest"
)

// objects lists the keys of the bucket.
func objects(t *testing.T, server string) []string {
	t.Helper()
	var keys []string
	for token := ""; ; {
		response, err := http.Get(server + "/lake?list-type=2&continuation-token=" + token)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(response.Body)
		response.Body.Close()
		var page struct {
			Contents              []struct{ Key string }
			NextContinuationToken string
		}
		if err := xml.Unmarshal(content, &page); err != nil {
			t.Fatalf("%v\n%s", err, content)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range page.Contents {
			keys = append(keys, o.Key)
		}
		if token = page.NextContinuationToken; token == "" {
			return keys
		}
	}
}

// TestPurgeOnS3 also has files that the metadata spells s3a.
func TestPurgeOnS3(t *testing.T) {
	ctx := context.Background()
	server := s3Server(t)
	b := s3Registry(t, server.URL, 0)
	put := func(location string, content []byte) error {
		_, key, _ := strings.Cut(location, "://lake/")
		request, err := http.NewRequest(http.MethodPut, server.URL+"/lake/"+key, bytes.NewReader(content))
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("PUT %s: %s", key, response.Status)
		}
		return nil
	}
	space := mounts.Namespace{"a"}
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: space}); err != nil {
		t.Fatal(err)
	}
	if err := put("s3://lake/wh/t2/data/x.parquet", []byte("beside")); err != nil {
		t.Fatal(err)
	}
	before := objects(t, server.URL)
	created, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: space, Name: "t", Schema: mounttest.Schema(), Location: "s3a://lake/wh/t"})
	if err != nil {
		t.Fatal(err)
	}
	layout := jobstest.NewOn(t, "s3://lake/wh/t", put)
	layout.Append(jobstest.Snapshot{Manifests: 2, Files: 600, Deletes: 2, Also: []string{"s3://lake/wh/t2/data/x.parquet", "s3://other/wh/t/data/y.parquet"}})
	commit := &mounts.CommitTableRequest{Table: mounts.Identifier{Namespace: space, Name: "t"}}
	for _, u := range layout.Updates {
		text, err := json.Marshal(u)
		if err != nil {
			t.Fatal(err)
		}
		commit.Updates = append(commit.Updates, text)
	}
	if _, err := b.CommitTable(ctx, commit); err != nil {
		t.Fatal(err)
	}
	if err := put("s3://lake/wh/t/data/foreign.parquet", []byte("not named")); err != nil {
		t.Fatal(err)
	}
	if got := len(objects(t, server.URL)); got < 1200 {
		t.Fatalf("only %d objects", got)
	}
	if err := b.DropTable(ctx, &mounts.DropTableRequest{Table: commit.Table, Purge: true}); err != nil {
		t.Fatal(err)
	}
	limit := time.NewTimer(time.Minute)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var job mounts.Job
	for job.State != "done" {
		list, err := b.Jobs(ctx, "", 10)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		job = list[0]
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("%+v", job)
		}
	}
	// Data and delete files, manifests, the list, and two metadata files.
	if job.Deleted != 1202+3+1+2 || job.Skipped != 2 || job.LastError != "" {
		t.Errorf("%+v", job)
	}
	want := append(before, "wh/t/data/foreign.parquet")
	if got := objects(t, server.URL); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("left are %q, want %q (created at %s)", got, want, created.MetadataLocation)
	}
}
