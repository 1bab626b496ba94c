package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	icebergio "github.com/apache/iceberg-go/io"
	"github.com/twmb/avro"
	"github.com/twmb/avro/ocf"
)

// Manifests and manifest lists are read record by record, and of each record
// only the names of files: iceberg-go's own reader holds a whole list, and
// refuses a file for what is of no interest here. The library bounds a block to
// 64 MiB, as it is stored and once it is decompressed.

// The bounds of one file.
const (
	maxAvroFile = 4 << 30
	maxRecords  = 20_000_000
)

// fileName is one file that a record names.
type fileName struct {
	path string
	size int64
}

// entryRecord is what is read of a manifest's record (spec, "Manifests").
type entryRecord struct {
	File struct {
		Path string `avro:"file_path"`
		Size int64  `avro:"file_size_in_bytes"`
	} `avro:"data_file"`
}

// listRecord is what is read of a manifest list's (spec, "Manifest Lists").
type listRecord struct {
	Path   string `avro:"manifest_path"`
	Length int64  `avro:"manifest_length"`
}

var (
	entryFields = []string{"data_file"}
	dataFields  = []string{"file_path", "file_size_in_bytes"}
	listFields  = []string{"manifest_path", "manifest_length"}
)

// damaged is the error of a file that arrived and is not what it should be.
type damaged struct{ err error }

func (d *damaged) Error() string { return "damaged: " + d.err.Error() }
func (d *damaged) Unwrap() error { return d.err }

// handed is an error of the one who was given a record, as against one of
// reading it.
type handed struct{ err error }

func (h *handed) Error() string { return h.err.Error() }
func (h *handed) Unwrap() error { return h.err }

func readManifest(ctx context.Context, files icebergio.IO, path string, each func(fileName) error) error {
	return readAvro(ctx, files, path, entrySchema, func(rd *ocf.Reader) (fileName, error) {
		var r entryRecord
		err := rd.Decode(&r)
		return fileName{r.File.Path, r.File.Size}, err
	}, each)
}

func readList(ctx context.Context, files icebergio.IO, path string, each func(fileName) error) error {
	return readAvro(ctx, files, path, func(root *avro.SchemaNode) error { return keep(root, listFields) }, func(rd *ocf.Reader) (fileName, error) {
		var r listRecord
		err := rd.Decode(&r)
		return fileName{r.Path, r.Length}, err
	}, each)
}

// entrySchema cuts a manifest's schema down to the names of files.
func entrySchema(root *avro.SchemaNode) error {
	if err := keep(root, entryFields); err != nil {
		return err
	}
	return keep(&root.Fields[0].Type, dataFields)
}

// keep leaves only some fields of a record; the first must be there.
func keep(node *avro.SchemaNode, names []string) error {
	node.Fields = slices.DeleteFunc(slices.Clone(node.Fields), func(f avro.SchemaField) bool { return !slices.Contains(names, f.Name) })
	if len(node.Fields) == 0 || !slices.ContainsFunc(node.Fields, func(f avro.SchemaField) bool { return f.Name == names[0] }) {
		return fmt.Errorf("the records have no field %s", names[0])
	}
	return nil
}

// readAvro goes through the records of a file. Its errors: those of Open, a
// *damaged, a *handed, or what reading ended with.
func readAvro(ctx context.Context, files icebergio.IO, path string, cut func(*avro.SchemaNode) error,
	decode func(*ocf.Reader) (fileName, error), each func(fileName) error) (err error) {
	file, err := files.Open(path)
	if err != nil {
		return err
	}
	source := &source{r: file, left: maxAvroFile}
	defer func() {
		if p := recover(); p != nil {
			err = &damaged{fmt.Errorf("panic: %v", p)}
		}
		err = source.judge(ctx, err)
		_ = file.Close() // it was read only
	}()
	reader, err := ocf.NewReader(source, ocf.WithReaderSchemaFunc(func(rd *ocf.Reader) (*avro.Schema, error) {
		root := rd.Schema().Root()
		if err := cut(root); err != nil {
			return nil, err
		}
		return root.Schema()
	}))
	if err != nil {
		return err
	}
	defer func() { _ = reader.Close() }()
	for n := 0; ; n++ {
		name, err := decode(reader)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case n == maxRecords:
			return fmt.Errorf("more than %d records", maxRecords)
		}
		name.size = max(name.size, 0)
		if err := each(name); err != nil {
			return &handed{err}
		}
	}
}

// source is a file that is being read: it tells a file that broke off from one
// whose content is wrong, and ends one that has no end.
type source struct {
	r      io.Reader
	left   int64
	broken error
}

func (s *source) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, fmt.Errorf("larger than %d bytes", int64(maxAvroFile))
	}
	n, err := s.r.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		s.broken = err
	}
	return n, err
}

// judge says what an error of reading means.
func (s *source) judge(ctx context.Context, err error) error {
	var h *handed
	var d *damaged
	switch {
	case err == nil, errors.As(err, &h):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case s.broken != nil:
		return s.broken
	case errors.As(err, &d):
		return err
	}
	return &damaged{err}
}

// add adds sizes that others said, without overflow.
func add(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}
