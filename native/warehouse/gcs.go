package warehouse

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"cloud.google.com/go/storage"
	icebergio "github.com/apache/iceberg-go/io"
	_ "github.com/apache/iceberg-go/io/gocloud/gcs" // registers the gs scheme
	"github.com/googleapis/gax-go/v2"
	"gocloud.dev/blob"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/iterator"
)

const (
	// gcsUserProject names the project that pays for requests.
	gcsUserProject = "gcs.user-project"
	// gcsProject names the project, for engines that want one.
	gcsProject = "gcs.project-id"
)

// gcsObjects is one bucket of Google Cloud Storage.
type gcsObjects struct {
	bucket *storage.BucketHandle
	opened *blob.Bucket
	// json: reads go through the JSON interface and not, as usual, the XML one.
	json bool
}

// gcsAttempts bounds how often a request is sent, and gcsBackoff how long the
// waits between them are; the client's own rule is to go on until the caller
// gives up, who then never learns why.
const gcsAttempts = 5

var gcsBackoff = gax.Backoff{Initial: 200 * time.Millisecond, Max: 5 * time.Second, Multiplier: 2}

func openGCS(ctx context.Context, name string, properties map[string]string) (files, error) {
	opened, err := openBucket(ctx, "gs://"+name, properties)
	if err != nil {
		return nil, err
	}
	var client *storage.Client
	if !opened.As(&client) {
		return nil, errors.New("warehouse: the FileIO library serves gs with another client than that of Google Cloud Storage")
	}
	// Every request here may be repeated: names are used once, and what is removed
	// stays removed.
	bucket := client.Bucket(name).Retryer(storage.WithPolicy(storage.RetryAlways), storage.WithMaxAttempts(gcsAttempts), storage.WithBackoff(gcsBackoff))
	if project := properties[gcsUserProject]; project != "" {
		bucket = bucket.UserProject(project)
	}
	json, _ := strconv.ParseBool(properties[icebergio.GCSUseJSONAPI])
	return store{&gcsObjects{bucket: bucket, opened: opened, json: json}}, nil
}

func (o *gcsObjects) get(ctx context.Context, key string, offset, length int64) (object, error) {
	// The client would unpack what says it is gzip, and then its size is not known.
	r, err := o.bucket.Object(key).ReadCompressed(!o.json).NewRangeReader(ctx, offset, length)
	if err != nil {
		return object{}, o.missing(ctx, key, err)
	}
	if o.json && r.Attrs.ContentEncoding == "gzip" {
		return object{}, errors.Join(fmt.Errorf("warehouse: %s is stored with the content encoding gzip, which cannot be read with %s", key, icebergio.GCSUseJSONAPI), r.Close())
	}
	return object{body: r, size: r.Attrs.Size, modified: r.Attrs.LastModified}, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// gcsChunk is what the client sends at a time; it keeps a buffer of this size.
const gcsChunk = 16 << 20

func (o *gcsObjects) put(ctx context.Context, key string, content []byte) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends an upload that did not come to its end
	w := o.bucket.Object(key).If(storage.Conditions{DoesNotExist: true}).NewWriter(ctx)
	w.ContentType = "application/json"
	w.CRC32C, w.SendCRC32C = crc32.Checksum(content, castagnoli), true
	w.ChunkSize = min(len(content)+1, gcsChunk)
	if _, err := w.Write(content); err != nil {
		return exists(errors.Join(err, w.Close()))
	}
	return exists(w.Close())
}

// exists gives the answer to a refused condition its kind.
func exists(err error) error {
	if answer := (*googleapi.Error)(nil); errors.As(err, &answer) && answer.Code == http.StatusPreconditionFailed {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

func (o *gcsObjects) remove(ctx context.Context, key string) error {
	if err := o.bucket.Object(key).Delete(ctx); err != nil {
		return o.missing(ctx, key, err)
	}
	return nil
}

func (o *gcsObjects) removeMany(ctx context.Context, keys []string) (int, error) {
	return removeEach(ctx, keys, removers, o.remove)
}

func (o *gcsObjects) list(ctx context.Context, prefix string, each func(string, int64, time.Time) error) error {
	query := &storage.Query{Prefix: prefix, Projection: storage.ProjectionNoACL}
	if err := query.SetAttrSelection([]string{"Name", "Size", "Updated"}); err != nil {
		return err
	}
	found := o.bucket.Objects(ctx, query)
	for {
		attrs, err := found.Next()
		if errors.Is(err, iterator.Done) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := each(attrs.Name, attrs.Size, attrs.Updated); err != nil {
			return err
		}
	}
}

// removeFolders has nothing to do: there are none.
func (*gcsObjects) removeFolders(context.Context, string) error { return nil }

func (o *gcsObjects) close() error { return o.opened.Close() }

// missing tells a missing object from a missing bucket, which says nothing about
// the object. The client makes the same error of both, so the bucket is asked
// for its objects of that name.
func (o *gcsObjects) missing(ctx context.Context, key string, err error) error {
	if !errors.Is(err, storage.ErrObjectNotExist) {
		return err
	}
	query := &storage.Query{Prefix: key, Projection: storage.ProjectionNoACL}
	found := o.bucket.Objects(ctx, query)
	found.PageInfo().MaxSize = 1
	attrs, listErr := found.Next()
	switch {
	case listErr != nil && !errors.Is(listErr, iterator.Done):
		return fmt.Errorf("warehouse: an object is said not to exist, and neither can its bucket be listed: %w", listErr)
	case listErr == nil && attrs.Name == key:
		return fmt.Errorf("warehouse: an object is said not to exist, and is listed: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrMissing, err)
}
