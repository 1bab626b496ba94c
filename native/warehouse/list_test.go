package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func listed(t *testing.T, w *Warehouse, folder Location) (found []string) {
	t.Helper()
	err := w.List(context.Background(), folder, func(e Entry) error {
		if e.Modified.IsZero() {
			t.Errorf("%s has no time", e)
		}
		found = append(found, fmt.Sprintf("%s %d", strings.TrimPrefix(e.String(), folder.String()+"/"), e.Size))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func TestAFolderIsListedWithEverythingBelowItAndNothingBesideIt(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		for _, name := range []string{"t/a", "t/data/x=1/f f", "t/data/100%/é", "t/data/a+b%20c", "t/metadata/v1", "t2/a", "t-x/b", "u"} {
			mustWrite(t, w, name, len(name))
		}
		want := []string{"a 3", "data/100%/é 14", "data/a+b%20c 14", "data/x=1/f f 14", "metadata/v1 13"}
		if got := listed(t, w, w.Root().Join("t")); !slices.Equal(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		if got := listed(t, w, w.Root().Join("nothing", "here")); len(got) != 0 {
			t.Errorf("a folder that is not there holds %q", got)
		}
		if got := listed(t, w, w.Root()); len(got) != 8 {
			t.Errorf("the warehouse holds %q", got)
		}
		stop := errors.New("stop")
		calls := 0
		err := w.List(context.Background(), w.Root(), func(Entry) error { calls++; return stop })
		if !errors.Is(err, stop) || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}

func TestAListedFolderCanBeRemovedWhole(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		ctx := context.Background()
		names := []string{"t/a b", "t/x/100%/y", "t/x/é+%20"}
		count := 70 // more than go at a time; of S3, more than one batch
		if w.Root().scheme == "s3" {
			count = 1205
		}
		for i := range count {
			names = append(names, fmt.Sprintf("t/data/%d/f%d", i%7, i))
		}
		for _, name := range append(names, "t2/stays") {
			mustWrite(t, w, name, 1)
		}
		table := w.Root().Join("t")
		all := []Location{table.Join("was", "never", "there")}
		err := w.List(ctx, table, func(e Entry) error { all = append(all, e.Location); return nil })
		if err != nil || len(all) != len(names)+1 {
			t.Fatalf("listed %d (%v)", len(all), err)
		}
		if gone, err := w.RemoveAll(ctx, all); err != nil || gone != len(all) {
			t.Errorf("%d are gone (%v), want %d", gone, err, len(all))
		}
		if gone, err := w.RemoveAll(ctx, nil); err != nil || gone != 0 {
			t.Errorf("removing nothing: %d, %v", gone, err)
		}
		if err := w.RemoveEmptyFolders(ctx, table); err != nil {
			t.Error(err)
		}
		if got := listed(t, w, w.Root()); !slices.Equal(got, []string{"t2/stays 1"}) {
			t.Errorf("the warehouse still holds %d: %.200q", len(got), got)
		}
		mustWrite(t, w, "t/again/f", 1) // the folders come back
	})
}

func TestHadoopsChecksumsGoWithTheirFiles(t *testing.T) {
	w := opened(t, t.TempDir(), nil)
	ctx := context.Background()
	for _, name := range []string{"part-0", ".part-0.crc", "part-1", ".part-1.crc", ".crc", "other.crc"} {
		mustWrite(t, w, name, 3)
	}
	gone, err := w.RemoveAll(ctx, []Location{w.Root().Join("part-0"), w.Root().Join("never-there")})
	if err != nil || gone != 2 {
		t.Fatalf("%d are gone, %v", gone, err)
	}
	var left []string
	if err := w.List(ctx, w.Root(), func(e Entry) error {
		left = append(left, e.Base())
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(left)
	if want := []string{".crc", ".part-1.crc", "other.crc", "part-1"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

func TestNothingOutsideTheWarehouseIsTouched(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		ctx := context.Background()
		mustWrite(t, w, "f", 1)
		other, err := Parse("s3://lake/other/f")
		if err != nil {
			t.Fatal(err)
		}
		if w.Root().scheme == "file" {
			if other, err = Parse(t.TempDir() + "/f"); err != nil {
				t.Fatal(err)
			}
		}
		_, read := w.Read(ctx, other)
		_, all := w.RemoveAll(ctx, []Location{w.Root().Join("f"), other})
		_, root := w.RemoveAll(ctx, []Location{w.Root()})
		_, open := w.IO(ctx).Open(other.String())
		_, dots := w.IO(ctx).Open(w.Root().String() + "/../f")
		for what, err := range map[string]error{
			"read": read, "remove all": all, "remove the root": root, "open": open, "open with dots": dots,
			"write": w.Write(ctx, other, nil), "write the root": w.Write(ctx, w.Root(), nil), "remove": w.Remove(ctx, other),
			"list":    w.List(ctx, other, func(Entry) error { return nil }),
			"folders": w.RemoveEmptyFolders(ctx, other), "io remove": w.IO(ctx).Remove(other.String()),
		} {
			var bad *BadLocation
			if !errors.As(err, &bad) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if got := listed(t, w, w.Root()); !slices.Equal(got, []string{"f 1"}) {
			t.Errorf("the warehouse holds %q", got)
		}
	})
}

func TestSymbolicLinksDoNotLeadOutOfALocalWarehouse(t *testing.T) {
	ctx := context.Background()
	top := t.TempDir()
	secret := filepath.Join(top, "outside", "secret")
	if err := os.MkdirAll(filepath.Dir(secret), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := opened(t, filepath.Join(top, "wh"), nil)
	mustWrite(t, w, "t/inside", 6)
	for name, target := range map[string]string{"folder": filepath.Dir(secret), "up": "../../outside", "file": secret, "near": "inside"} {
		if err := os.Symlink(target, filepath.Join(top, "wh", "t", name)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) Location { return w.Root().Join("t").Join(names...) }
	for _, l := range []Location{at("folder", "secret"), at("up", "secret"), at("file")} {
		var bad *BadLocation
		if content, err := w.Read(ctx, l); !errors.As(err, &bad) {
			t.Errorf("read %q through %s (%v)", content, l, err)
		}
		if _, err := w.IO(ctx).Open(l.String()); !errors.As(err, &bad) {
			t.Errorf("opened %s: %v", l, err)
		}
	}
	for _, folder := range []string{"folder", "up"} {
		var bad *BadLocation
		if err := w.Write(ctx, at(folder, "new", "f"), nil); !errors.As(err, &bad) {
			t.Errorf("wrote through %s: %v", folder, err)
		}
		if err := w.Remove(ctx, at(folder, "secret")); !errors.As(err, &bad) {
			t.Errorf("removed through %s: %v", folder, err)
		}
		if err := w.List(ctx, at(folder), func(e Entry) error { t.Errorf("listed %s", e); return nil }); !errors.As(err, &bad) {
			t.Errorf("listed through %s: %v", folder, err)
		}
	}
	if content, err := w.Read(ctx, at("near")); err != nil || len(content) != 6 {
		t.Errorf("a link inside the warehouse: %q, %v", content, err)
	}
	// The links are files of the folder, and are what is removed of it.
	var all []Location
	if err := w.List(ctx, at(), func(e Entry) error { all = append(all, e.Location); return nil }); err != nil || len(all) != 5 {
		t.Errorf("listed %v (%v)", all, err)
	}
	if gone, err := w.RemoveAll(ctx, all); gone != 5 || err != nil {
		t.Errorf("%d are gone: %v", gone, err)
	}
	if err := w.RemoveEmptyFolders(ctx, at()); err != nil {
		t.Error(err)
	}
	if content, err := os.ReadFile(secret); string(content) != "secret" {
		t.Errorf("outside there is %q (%v)", content, err)
	}
	if names, err := os.ReadDir(filepath.Dir(secret)); len(names) != 1 {
		t.Errorf("outside there is %v (%v)", names, err)
	}
}

func TestOnlyEmptyFoldersAreRemoved(t *testing.T) {
	w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
	ctx := context.Background()
	folder := strings.TrimPrefix(w.Root().String(), "file://")
	mustWrite(t, w, "t/full/f", 1)
	mustWrite(t, w, "beside/f", 1)
	for _, empty := range []string{"t/a/b/c", "t/full/d", "t/full/e", "beside/empty"} {
		if err := os.MkdirAll(filepath.Join(folder, empty), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a", filepath.Join(folder, "t", "full", "link")); err != nil {
		t.Fatal(err)
	}
	if err := w.RemoveEmptyFolders(ctx, w.Root().Join("t")); err != nil {
		t.Fatal(err)
	}
	var left []string
	if err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		left = append(left, strings.TrimPrefix(path, folder))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"", "/beside", "/beside/empty", "/beside/f", "/t", "/t/full", "/t/full/f", "/t/full/link"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	// A file in the place of a folder stays, also if it came after the look.
	parent, err := os.Open(filepath.Join(folder, "t", "full"))
	if err != nil {
		t.Fatal(err)
	}
	defer parent.Close()
	if err := removeEmpty(parent, "f"); err != nil {
		t.Error(err)
	}
	if got := listed(t, w, w.Root().Join("t")); len(got) != 2 {
		t.Errorf("left are %q", got)
	}
	if err := w.RemoveEmptyFolders(ctx, w.Root()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); err != nil {
		t.Errorf("the warehouse itself was removed: %v", err)
	}
}

func TestWritersAndTheRemovalOfEmptyFoldersDoNotDisturbEachOther(t *testing.T) {
	w := opened(t, filepath.Join(t.TempDir(), "wh"), nil)
	ctx, cancel := context.WithCancel(context.Background())
	table := w.Root().Join("t")
	var removers, writers sync.WaitGroup
	removers.Go(func() {
		for ctx.Err() == nil {
			if err := w.RemoveEmptyFolders(ctx, table); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	for i := range 4 {
		writers.Go(func() {
			for range 25 {
				l := table.Join("metadata", fmt.Sprint("d", i%2), fmt.Sprint(i))
				if err := w.Write(ctx, l, []byte("x")); err != nil {
					t.Error(err)
					return
				}
				if content, err := w.Read(ctx, l); err != nil || len(content) != 1 {
					t.Errorf("%s: %q, %v", l, content, err)
				}
				if err := w.Remove(ctx, l); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	cancel()
	removers.Wait()
}

func TestAWarehouseFolderThatWentAwayIsNotAMissingFile(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "wh")
	w := opened(t, dir, nil)
	l := mustWrite(t, w, "t/f", 1)
	if err := os.Rename(dir, dir+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(ctx, w.Root().Join("t", "g")); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a file of a folder that was replaced: %v", err)
	}
	if err := os.RemoveAll(dir + ".old"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(ctx, l); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a file of a folder that was removed: %v", err)
	}
	if err := w.Write(ctx, w.Root().Join("t", "h"), nil); err == nil || !strings.Contains(err.Error(), "restart the server") {
		t.Errorf("a write to it: %v", err)
	}
}

func TestAnOpenFileIsReadInOrderAndAtAnyPlace(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		ctx := context.Background()
		content := []byte(strings.Repeat("0123456789", 10000))
		l := w.Root().Join("t", "f.avro")
		if err := w.Write(ctx, l, content); err != nil {
			t.Fatal(err)
		}
		files := w.IO(ctx)
		file, err := files.Open(l.String())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if info, err := file.Stat(); err != nil || info.Size() != int64(len(content)) || info.Name() != "f.avro" || info.IsDir() || info.ModTime().IsZero() {
			t.Errorf("%+v, %v", info, err)
		}
		part := make([]byte, 7)
		if n, err := file.ReadAt(part, 55555); n != 7 || err != nil || string(part) != "5678901" {
			t.Errorf("%d, %v, %q", n, err, part)
		}
		if n, err := file.ReadAt(part, int64(len(content))-3); n != 3 || !errors.Is(err, io.EOF) || string(part[:3]) != "789" {
			t.Errorf("%d, %v, %q", n, err, part)
		}
		if n, err := file.ReadAt(part, int64(len(content))); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("%d, %v", n, err)
		}
		if _, err := io.ReadFull(file, part); err != nil || string(part) != "0123456" {
			t.Errorf("%q, %v", part, err)
		}
		if at, err := file.Seek(-4, io.SeekEnd); err != nil || at != int64(len(content))-4 {
			t.Errorf("%d, %v", at, err)
		}
		if rest, err := io.ReadAll(file); err != nil || string(rest) != "6789" {
			t.Errorf("%q, %v", rest, err)
		}
		if at, err := file.Seek(0, io.SeekStart); err != nil || at != 0 {
			t.Errorf("%d, %v", at, err)
		}
		if whole, err := io.ReadAll(file); err != nil || string(whole) != string(content) {
			t.Errorf("%d bytes, %v", len(whole), err)
		}
		if _, err := files.Open(w.Root().Join("t", "other").String()); !errors.Is(err, fs.ErrNotExist) || !errors.Is(err, ErrMissing) {
			t.Errorf("a missing file: %v", err)
		}
		if err := files.Remove(l.String()); err != nil {
			t.Error(err)
		}
		if err := files.Remove(l.String()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removing it again: %v", err)
		}
	})
}
