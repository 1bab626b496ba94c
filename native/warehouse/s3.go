package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/io/gocloud/blobfs"
	_ "github.com/apache/iceberg-go/io/gocloud/s3" // registers the s3 schemes
	"github.com/aws/smithy-go"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// FileIO properties that are read here; the library reads the rest.
const (
	pathStyle    = "s3.path-style-access"
	forceVirtual = "s3.force-virtual-addressing"
	s3Region     = "s3.region"
	clientRegion = "client.region"
)

// bucket is one S3 bucket.
type bucket struct{ *blobfs.FileIO }

func openS3(ctx context.Context, name string, storage map[string]string) (files, error) {
	opened, err := icebergio.LoadFS(context.WithoutCancel(ctx), serverProperties(storage), "s3://"+name)
	if err != nil {
		return nil, fmt.Errorf("warehouse: cannot set up the S3 client of bucket %s: %w", name, err)
	}
	f, ok := opened.(*blobfs.FileIO)
	if !ok {
		return nil, fmt.Errorf("warehouse: the FileIO library serves s3 with %T", opened)
	}
	return bucket{f}, nil
}

func (b bucket) read(ctx context.Context, l Location, limit int64) (content []byte, err error) {
	r, err := b.NewReader(ctx, l.path(), nil)
	if err != nil {
		return nil, missingObject(err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if r.Size() > limit {
		return nil, ErrTooLarge
	}
	content = make([]byte, r.Size())
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, fmt.Errorf("warehouse: reading %s: %w", l, err)
	}
	return content, nil
}

func (b bucket) write(ctx context.Context, l Location, content []byte) error {
	return b.WriteAll(ctx, l.path(), content, &blob.WriterOptions{ContentType: "application/json"})
}

func (b bucket) remove(ctx context.Context, l Location) error {
	return missingObject(b.Bucket.Delete(ctx, l.path()))
}

func (b bucket) close() error { return b.Bucket.Close() }

// missingObject tells a missing object from a missing bucket, which the library
// does not: the second says nothing about the object.
func missingObject(err error) error {
	if err == nil || gcerrors.Code(err) != gcerrors.NotFound {
		return err
	}
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() == "NoSuchBucket" {
		return err
	}
	return fmt.Errorf("%w: %w", ErrMissing, err)
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

// serverProperties adds the library's own spelling of the Java property for
// path style, if that was given.
func serverProperties(storage map[string]string) map[string]string {
	props := map[string]string{}
	maps.Copy(props, storage)
	if storage[pathStyle] != "" {
		props[forceVirtual] = strconv.FormatBool(!usesPathStyle(storage))
	}
	return props
}

// clientHints picks what engines need and no secret is in: by a list of what
// passes, so that a property nobody thought of stays here. The region goes out
// under both of its names, since Java reads one and PyIceberg the other.
func clientHints(scheme string, storage map[string]string) map[string]string {
	hints := map[string]string{}
	if scheme != "s3" {
		return hints
	}
	for _, key := range [...]string{icebergio.S3EndpointURL, s3Region, clientRegion, forceVirtual} {
		if v := storage[key]; v != "" {
			hints[key] = v
		}
	}
	if hints[s3Region] == "" && hints[clientRegion] != "" {
		hints[s3Region] = hints[clientRegion]
	}
	if hints[clientRegion] == "" && hints[s3Region] != "" {
		hints[clientRegion] = hints[s3Region]
	}
	if usesPathStyle(storage) {
		hints[pathStyle] = "true"
	} else if storage[pathStyle] != "" {
		hints[pathStyle] = "false"
	}
	return hints
}
