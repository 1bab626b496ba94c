package native

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// Properties that say how metadata files are kept.
const (
	propertyMetadataPath  = "write.metadata.path"
	propertyMetadataCodec = "write.metadata.compression-codec"
	propertyDeleteOld     = "write.metadata.delete-after-commit.enabled"
)

const (
	metadataSuffix     = ".metadata.json"
	gzipMetadataSuffix = ".gz.metadata.json"
)

// document returns the metadata document that a pointer leads to, whole or cut
// down to its refs, from the cache or from storage. It may be shared and must
// not be changed.
func (b *Backend) document(ctx context.Context, o store.Object, mode mounts.Snapshots) ([]byte, error) {
	key := keyOf(o)
	key.refs = mode == mounts.SnapshotsRefs
	if doc, ok := b.cache.get(key); ok {
		return doc, nil
	}
	if key.refs {
		whole, err := b.document(ctx, o, mounts.SnapshotsAll)
		if err != nil {
			return nil, err
		}
		doc, err := commit.Refs(whole)
		if err != nil {
			return nil, err
		}
		b.cache.put(key, doc)
		return doc, nil
	}
	l, err := warehouse.Parse(o.Location)
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.Internal, Err: fmt.Errorf("native: the stored pointer: %w", err)}
	}
	doc, err := b.read(ctx, l)
	if err != nil {
		return nil, err
	}
	if !isObject(doc) {
		return nil, damaged(errors.New("it is no JSON object"))
	}
	b.cache.put(key, doc)
	return doc, nil
}

// errDamaged is a metadata file that is there and does not hold what was written.
var errDamaged = errors.New("a damaged metadata file")

func damaged(cause error) error {
	return &mounts.Error{Kind: mounts.Internal, Err: fmt.Errorf("%w: %w", errDamaged, cause),
		Msg: "the metadata file of {object} is damaged; nothing was changed. Restore the file, or drop {object} and register an earlier metadata file"}
}

// isObject reports whether a document is one JSON object. Documents go out to
// clients between a head and a tail, as they are, so half a one would make an
// answer that nobody can read.
func isObject(doc []byte) bool {
	value := jsontext.Value(doc)
	return value.Kind() == '{' && value.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// read reads a metadata file, compressed or not. MetadataMissing only if it is
// certainly not there.
func (b *Backend) read(ctx context.Context, l warehouse.Location) ([]byte, error) {
	content, err := b.warehouse.Read(ctx, l)
	if err == nil && bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		if content, err = gunzip(content); err != nil && !errors.Is(err, warehouse.ErrTooLarge) {
			return nil, damaged(err)
		}
	}
	switch {
	case err == nil:
		return content, nil
	case errors.Is(err, warehouse.ErrMissing):
		return nil, &mounts.Error{Kind: mounts.MetadataMissing, Msg: missingFile + l.String(), Err: err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil, err
	}
	return nil, &mounts.Error{Kind: mounts.Internal, Err: err,
		Msg: "the metadata file of {object} cannot be read; the server's log has the cause under the request id"}
}

func gunzip(content []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, warehouse.MaxFile+1))
	if err == nil && len(plain) > warehouse.MaxFile {
		err = warehouse.ErrTooLarge
	}
	return plain, err
}

// write writes the next metadata document of the object that lies at place,
// under a name that was never used. After an error nothing is left of it.
func (b *Backend) write(ctx context.Context, kind store.Kind, place warehouse.Location, previous string, doc []byte) (location string, summary *commit.Summary, err error) {
	if summary, err = inspect(kind, doc); err != nil {
		return "", nil, err
	}
	folder := place.Join(metadataFolder)
	if chosen := summary.Properties[propertyMetadataPath]; chosen != "" {
		if folder, err = b.warehouse.Confine(chosen); err != nil {
			return "", nil, &mounts.Error{Kind: mounts.BadRequest, Msg: "the property " + propertyMetadataPath + " is refused: " + err.Error()}
		}
		folder = keptIn(folder, place)
	}
	suffix, content := metadataSuffix, doc
	if compressed(kind, summary.Properties) {
		suffix, content = gzipMetadataSuffix, gzipped(doc)
	}
	file := folder.Join(fmt.Sprintf("%05d-%s%s", nextVersion(previous), uuid.New(), suffix))
	if err := b.warehouse.Write(ctx, file, content); err != nil {
		if !errors.Is(err, fs.ErrExist) {
			b.remove(ctx, file.String())
		}
		if ctx.Err() != nil {
			return "", nil, ctx.Err()
		}
		return "", nil, &mounts.Error{Kind: mounts.Internal, Err: err,
			Msg: "the metadata file of {object} cannot be written; nothing was changed, and the server's log has the cause under the request id"}
	}
	return file.String(), summary, nil
}

func gzipped(doc []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(doc) // a Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// versionOf matches the names that this and other catalogs give metadata files:
// 00003-<uuid>.metadata.json, and Hadoop's v3.metadata.json.
var versionOf = regexp.MustCompile(`^v?(\d{1,9})[-.]`)

// nextVersion is one more than the version in the previous file's name; 0 for
// the first file, and after a name without one.
func nextVersion(previous string) int {
	match := versionOf.FindStringSubmatch(path.Base(previous))
	if match == nil {
		return 0
	}
	n, _ := strconv.Atoi(match[1]) // nine digits at most
	return n + 1
}

// removeTimeout bounds the removal of a file that nobody needs.
const removeTimeout = 10 * time.Second

// remove deletes files that no pointer holds. It works after the client left; a
// file that stays is in nobody's way, so a failure is only logged.
func (b *Backend) remove(ctx context.Context, locations ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	for _, location := range locations {
		l, err := warehouse.Parse(location)
		if err == nil {
			err = b.warehouse.Remove(ctx, l)
		}
		if err != nil {
			b.log.WarnContext(ctx, "a metadata file that is not needed stays in the warehouse", "file", location, "error", err)
		}
	}
}
