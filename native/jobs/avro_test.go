package jobs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	icebergio "github.com/apache/iceberg-go/io"

	"github.com/icefield/icefield/native/jobs/jobstest"
)

// memory is an IO of one file, which breaks off with an error if it has one.
type memory struct {
	content []byte
	broken  error
}

func (m memory) Open(string) (icebergio.File, error) {
	return &memoryFile{Reader: bytes.NewReader(m.content), broken: m.broken}, nil
}
func (memory) Remove(string) error { return errors.ErrUnsupported }

type memoryFile struct {
	*bytes.Reader
	broken error
}

func (f *memoryFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if errors.Is(err, io.EOF) && f.broken != nil {
		return n, f.broken
	}
	return n, err
}
func (*memoryFile) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
func (*memoryFile) Close() error               { return nil }

// written are a manifest and a manifest list as they lie on disk.
func written(t testing.TB) (manifest, list []byte) {
	t.Helper()
	layout := jobstest.New(t, "file://"+t.TempDir()+"/t")
	layout.Append(jobstest.Snapshot{Manifests: 2, Files: 3})
	read := func(location string) []byte {
		content, err := os.ReadFile(jobstest.Path(location))
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	return read(layout.Manifests[0]), read(layout.Lists[0])
}

// FuzzManifests: whatever lies where a manifest or list should be, reading it
// ends, with a sound error that says that the file is damaged.
func FuzzManifests(f *testing.F) {
	manifest, list := written(f)
	for _, seed := range [][]byte{manifest, list, manifest[:len(manifest)/2], {}, []byte("Obj\x01"), bytes.Repeat([]byte{0xff}, 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, read := range []func(context.Context, icebergio.IO, string, func(fileName) error) error{readManifest, readList} {
			names := 0
			err := read(context.Background(), memory{content: content}, "x", func(n fileName) error {
				if names++; n.size < 0 {
					t.Errorf("a size of %d", n.size)
				}
				return nil
			})
			var d *damaged
			if err != nil && !errors.As(err, &d) {
				t.Errorf("%v (%T)", err, err)
			}
		}
	})
}

func TestAFileThatBreaksOffIsNotDamaged(t *testing.T) {
	manifest, _ := written(t)
	broken := errors.New("connection reset")
	for _, size := range []int{0, 10, 300, len(manifest) - 20, len(manifest)} {
		err := readManifest(context.Background(), memory{manifest[:size], broken}, "x", func(fileName) error { return nil })
		var d *damaged
		if !errors.Is(err, broken) || errors.As(err, &d) {
			t.Errorf("after %d of %d bytes: %v", size, len(manifest), err)
		}
	}
}

func TestAnErrorOfTheCallerIsItsOwn(t *testing.T) {
	manifest, _ := written(t)
	mine, names := errors.New("mine"), 0
	err := readManifest(context.Background(), memory{content: manifest}, "x", func(fileName) error { names++; return mine })
	var h *handed
	if !errors.As(err, &h) || !errors.Is(err, mine) || names != 1 {
		t.Errorf("%v after %d names", err, names)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := readManifest(ctx, memory{content: manifest[:100]}, "x", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
}
