package warehouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/io/gocloud/blobfs"
	_ "github.com/apache/iceberg-go/io/gocloud/s3" // registers the s3 schemes
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
)

// s3Objects is one S3 bucket, or one of a server that speaks like S3.
type s3Objects struct {
	bucket string
	client *s3.Client
	opened *blob.Bucket
	// unconditional: the server refuses conditional writes, so it gets plain ones.
	unconditional atomic.Bool
	// oneByOne: the server refuses to remove many objects at once.
	oneByOne atomic.Bool
}

func openS3(ctx context.Context, name string, storage map[string]string) (files, error) {
	opened, err := openBucket(ctx, "s3://"+name, s3Properties(storage))
	if err != nil {
		return nil, err
	}
	o := &s3Objects{bucket: name, opened: opened}
	if !opened.As(&o.client) {
		return nil, errors.New("warehouse: the FileIO library serves s3 with another client than that of AWS")
	}
	return store{o}, nil
}

// openBucket lets the FileIO library set a client up from FileIO properties.
func openBucket(ctx context.Context, location string, properties map[string]string) (*blob.Bucket, error) {
	opened, err := icebergio.LoadFS(context.WithoutCancel(ctx), properties, location)
	if err != nil {
		return nil, fmt.Errorf("warehouse: cannot set up the client of %s: %w", location, err)
	}
	f, ok := opened.(*blobfs.FileIO)
	if !ok {
		return nil, fmt.Errorf("warehouse: the FileIO library serves %s with %T", location, opened)
	}
	return f.Bucket, nil
}

func (o *s3Objects) get(ctx context.Context, key string, offset, length int64) (object, error) {
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &key}
	if length >= 0 {
		in.Range = new(fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	}
	out, err := o.client.GetObject(ctx, in)
	if err != nil {
		return object{}, missingKey(err)
	}
	found := object{body: out.Body, size: aws.ToInt64(out.ContentLength), modified: aws.ToTime(out.LastModified)}
	if length >= 0 && found.size != length {
		return object{}, errors.Join(fmt.Errorf("warehouse: %d bytes of an object were asked for, and %d came", length, found.size), out.Body.Close())
	}
	return found, nil
}

func (o *s3Objects) put(ctx context.Context, key string, content []byte) error {
	in := &s3.PutObjectInput{Bucket: &o.bucket, Key: &key, Body: bytes.NewReader(content), ContentType: new("application/json")}
	if !o.unconditional.Load() {
		in.IfNoneMatch = new("*")
	}
	_, err := o.client.PutObject(ctx, in)
	if in.IfNoneMatch != nil && s3Code(err) == "NotImplemented" {
		// A server that knows nothing of conditions says so, or ignores them.
		o.unconditional.Store(true)
		return o.put(ctx, key, content)
	}
	if code := s3Code(err); code == "PreconditionFailed" || code == "ConditionalRequestConflict" {
		return fmt.Errorf("%w: %w", fs.ErrExist, err)
	}
	return err
}

func (o *s3Objects) remove(ctx context.Context, key string) error {
	_, err := o.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &o.bucket, Key: &key})
	return missingKey(err)
}

// s3Batch is how many objects S3 removes at once.
const s3Batch = 1000

func (o *s3Objects) removeMany(ctx context.Context, keys []string) (gone int, _ error) {
	var failed failures
	single := make([]string, 0, len(keys))
	for chunk := range slices.Chunk(keys, s3Batch) {
		batch := make([]types.ObjectIdentifier, 0, len(chunk))
		for _, key := range chunk {
			if o.oneByOne.Load() || strings.ContainsFunc(key, unicode.IsControl) || !utf8.ValidString(key) {
				single = append(single, key) // a control character has no place in XML
				continue
			}
			batch = append(batch, types.ObjectIdentifier{Key: &key})
		}
		if len(batch) == 0 {
			continue
		}
		out, err := o.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &o.bucket, Delete: &types.Delete{Objects: batch, Quiet: new(true)}})
		switch code := s3Code(err); {
		case code == "NotImplemented" || code == "MethodNotAllowed" || code == "MissingContentMD5" || code == "InvalidRequest":
			o.oneByOne.Store(true)
			for _, id := range batch {
				single = append(single, *id.Key)
			}
		case err != nil:
			return gone, fmt.Errorf("warehouse: removing %d files: %w", len(batch), err)
		default:
			gone += len(batch)
			for _, e := range out.Errors {
				if aws.ToString(e.Code) != "NoSuchKey" {
					gone--
					failed.add(fmt.Errorf("warehouse: removing %s: %s: %s", aws.ToString(e.Key), aws.ToString(e.Code), aws.ToString(e.Message)))
				}
			}
		}
	}
	n, err := removeEach(ctx, single, removers, o.remove)
	if err != nil {
		failed.add(err)
	}
	return gone + n, failed.err()
}

func (o *s3Objects) list(ctx context.Context, prefix string, each func(string, int64, time.Time) error) error {
	pages := s3.NewListObjectsV2Paginator(o.client, &s3.ListObjectsV2Input{Bucket: &o.bucket, Prefix: &prefix, EncodingType: types.EncodingTypeUrl})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, found := range page.Contents {
			key := aws.ToString(found.Key)
			if page.EncodingType == types.EncodingTypeUrl {
				if key, err = url.QueryUnescape(key); err != nil {
					return fmt.Errorf("warehouse: the server listed a key that cannot be read: %w", err)
				}
			}
			if err := each(key, aws.ToInt64(found.Size), aws.ToTime(found.LastModified)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFolders has nothing to do: there are none.
func (*s3Objects) removeFolders(context.Context, string) error { return nil }

func (o *s3Objects) close() error { return o.opened.Close() }

// missingKey tells a missing object from a missing bucket, which says nothing
// about the object.
func missingKey(err error) error {
	if s3Code(err) == "NoSuchKey" {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return err
}

// s3Code is the server's own word for an error, or "".
func s3Code(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// usesPathStyle decides as the FileIO library does: a custom endpoint is asked
// by path unless something says otherwise.
func usesPathStyle(storage map[string]string) bool {
	if v, err := strconv.ParseBool(storage[forceVirtual]); err == nil {
		return !v
	}
	if v, err := strconv.ParseBool(storage[pathStyle]); err == nil {
		return v
	}
	return storage[icebergio.S3EndpointURL] != ""
}

// s3Properties adds the library's own spelling of the Java property for
// path style, if that was given.
func s3Properties(storage map[string]string) map[string]string {
	props := map[string]string{}
	maps.Copy(props, storage)
	if storage[pathStyle] != "" {
		props[forceVirtual] = strconv.FormatBool(!usesPathStyle(storage))
	}
	return props
}
