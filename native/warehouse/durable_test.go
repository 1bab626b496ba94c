package warehouse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// flushes watches what a local warehouse flushes: names from the root on, sorted.
func flushes(t *testing.T, w *Warehouse, fail string) (flushed func() []string) {
	t.Helper()
	var mu sync.Mutex
	var names []string
	root := strings.TrimPrefix(w.Root().String(), "file://")
	w.files.(*local).sync = func(f *os.File) error {
		name, err := filepath.EvalSymlinks(fmt.Sprint("/proc/self/fd/", f.Fd()))
		if err != nil {
			return err
		}
		name = "." + strings.TrimPrefix(name, root)
		mu.Lock()
		defer mu.Unlock()
		names = append(names, name)
		if name == fail {
			return errors.New("the disk is broken")
		}
		return f.Sync()
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		got := names
		names = nil
		slices.Sort(got)
		return got
	}
}

func TestAWriteFlushesTheFileAndEveryNameThatLeadsToIt(t *testing.T) {
	w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
	root := strings.TrimPrefix(w.Root().String(), "file://")
	flushed := flushes(t, w, "")
	mustWrite(t, w, "ns/t/metadata/0", 1)
	if got, want := flushed(), []string{".", "./ns", "./ns/t", "./ns/t/metadata", "./ns/t/metadata/0"}; !slices.Equal(got, want) {
		t.Errorf("the first write flushed %q, want %q", got, want)
	}
	mustWrite(t, w, "ns/t/metadata/1", 1)
	if got, want := flushed(), []string{"./ns/t/metadata", "./ns/t/metadata/1"}; !slices.Equal(got, want) {
		t.Errorf("the second write flushed %q, want %q", got, want)
	}
	// A folder that an engine made may be on no disk yet.
	if err := os.MkdirAll(filepath.Join(root, "ns/u/metadata"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w, "ns/u/metadata/0", 1)
	if got, want := flushed(), []string{".", "./ns", "./ns/u", "./ns/u/metadata", "./ns/u/metadata/0"}; !slices.Equal(got, want) {
		t.Errorf("a write to a folder that others made flushed %q, want %q", got, want)
	}
	// So may one that took the place of another.
	if err := os.RemoveAll(filepath.Join(root, "ns/t")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "ns/t/metadata"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w, "ns/t/metadata/2", 1)
	if got, want := flushed(), []string{".", "./ns", "./ns/t", "./ns/t/metadata", "./ns/t/metadata/2"}; !slices.Equal(got, want) {
		t.Errorf("a write to a folder that was replaced flushed %q, want %q", got, want)
	}
	mustWrite(t, w, "top", 1)
	if got, want := flushed(), []string{".", "./top"}; !slices.Equal(got, want) {
		t.Errorf("a write to the root flushed %q, want %q", got, want)
	}
}

func TestAWriteThatMayBeLostIsAnError(t *testing.T) {
	for _, fail := range []string{".", "./ns", "./ns/t", "./ns/t/metadata", "./ns/t/metadata/0"} {
		w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
		flushed := flushes(t, w, fail)
		if err := w.Write(context.Background(), w.Root().Join("ns", "t", "metadata", "0"), []byte("x")); err == nil {
			t.Errorf("%s was not flushed, and the write was well", fail)
		}
		flushed()
		// What was not flushed is not taken for flushed by the next write.
		if err := w.Write(context.Background(), w.Root().Join("ns", "t", "metadata", "1"), []byte("x")); err == nil && !strings.HasSuffix(fail, "/0") {
			t.Errorf("%s was not flushed again: %q", fail, flushed())
		}
	}
}

func TestManyWritersFlushAllTheSame(t *testing.T) {
	w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
	flushed := flushes(t, w, "")
	var group sync.WaitGroup
	for i := range 8 * fewWriters {
		group.Go(func() {
			for n := range 3 {
				mustWrite(t, w, fmt.Sprintf("t%d/%d", i, n), 1)
			}
		})
	}
	group.Wait()
	got := flushed()
	for i := range 8 * fewWriters {
		for n := range 3 {
			if !slices.Contains(got, fmt.Sprintf("./t%d/%d", i, n)) {
				t.Errorf("file %d of folder %d was not flushed", n, i)
			}
		}
		folder := fmt.Sprint("./t", i)
		count := 0
		for _, name := range got {
			if name == folder {
				count++
			}
		}
		if count != 3 {
			t.Errorf("folder %d was flushed %d times for its 3 files", i, count)
		}
	}
}

func TestAFolderThatWasReplacedIsNotWrittenToAnyMore(t *testing.T) {
	w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
	root := strings.TrimPrefix(w.Root().String(), "file://")
	mustWrite(t, w, "t/metadata/0", 1)
	if err := os.Rename(filepath.Join(root, "t"), filepath.Join(root, "old")); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w, "t/metadata/1", 1) // the name is free: the folder is made again
	if err := os.Rename(filepath.Join(root, "t"), filepath.Join(root, "older")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, "t/metadata"), 0o755); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w, "t/metadata/2", 1)
	outside := t.TempDir()
	if err := os.Rename(filepath.Join(root, "t"), filepath.Join(outside, "t")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(outside, "t"), filepath.Join(root, "t")); err != nil {
		t.Fatal(err)
	}
	// The very folder that is open was moved out, and a link leads to it.
	var bad *BadLocation
	if err := w.Write(context.Background(), w.Root().Join("t", "metadata", "3"), nil); !errors.As(err, &bad) {
		t.Errorf("a write through a link that leads out: %v", err)
	}
	want := []string{"old/metadata/0 1", "older/metadata/1 1"}
	if got := listed(t, w, w.Root()); !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "t ") }), want) {
		t.Errorf("the warehouse holds %q, want %q", got, want)
	}
}

func TestOpenFoldersAreBounded(t *testing.T) {
	w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
	f := w.files.(*local)
	f.sync = func(*os.File) error { return nil }
	before := descriptors(t)
	for range 2 {
		for i := range maxFolders + 50 {
			l := w.Root().Join(fmt.Sprint("t", i), "f")
			if err := w.Write(context.Background(), l, nil); err != nil {
				t.Fatal(err)
			}
			if err := w.Remove(context.Background(), l); err != nil {
				t.Fatal(err)
			}
		}
	}
	if open := len(f.folders.open); open > maxFolders {
		t.Errorf("%d folders are open", open)
	}
	if open := descriptors(t) - before; open > 2*maxFolders+16 {
		t.Errorf("%d descriptors are open", open)
	}
	if err := w.RemoveEmptyFolders(context.Background(), w.Root()); err != nil {
		t.Fatal(err)
	}
	if open := descriptors(t) - before; open > 16 {
		t.Errorf("%d descriptors stay open of folders that were removed", open)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}
