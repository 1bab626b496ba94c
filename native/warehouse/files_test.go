package warehouse

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// each runs a test over a local and an S3 warehouse.
func each(t *testing.T, run func(t *testing.T, w *Warehouse)) {
	t.Run("file", func(t *testing.T) {
		run(t, opened(t, filepath.Join(t.TempDir(), "wh"), nil))
	})
	t.Run("s3", func(t *testing.T) {
		run(t, opened(t, "s3://lake/wh", fakeS3(t, "lake")))
	})
}

func opened(t *testing.T, root string, storage map[string]string) *Warehouse {
	t.Helper()
	w, err := Open(context.Background(), root, storage)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// fakeS3 starts an S3 server with one bucket and returns how to reach it.
func fakeS3(t *testing.T, bucket string) map[string]string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return map[string]string{"s3.endpoint": server.URL, "s3.region": "us-east-1",
		"s3.access-key-id": "test", "s3.secret-access-key": "secret-of-the-test"}
}

func TestFilesComeBackAsTheyWereWritten(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		ctx := context.Background()
		for _, name := range []string{"t/metadata/00000-x.metadata.json", "a b/é🧊/+%20/x=1/f'", "100%/f"} {
			l, err := w.Confine(w.Root().String() + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Read(ctx, l); !errors.Is(err, ErrMissing) {
				t.Errorf("%s before it was written: %v", l, err)
			}
			content := bytes.Repeat([]byte(name), 1000)
			if err := w.Write(ctx, l, content); err != nil {
				t.Fatal(err)
			}
			if got, err := w.Read(ctx, l); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%s came back as %d bytes (%v)", l, len(got), err)
			}
			if err := w.Remove(ctx, l); err != nil {
				t.Error(err)
			}
			if _, err := w.Read(ctx, l); !errors.Is(err, ErrMissing) {
				t.Errorf("%s after its removal: %v", l, err)
			}
			if err := w.Remove(ctx, l); err != nil {
				t.Errorf("removing what is not there: %v", err)
			}
		}
		if _, err := w.files.read(ctx, mustWrite(t, w, "big", 11), 10); !errors.Is(err, ErrTooLarge) {
			t.Errorf("a file over the limit: %v", err)
		}
	})
}

func mustWrite(t *testing.T, w *Warehouse, name string, size int) Location {
	t.Helper()
	l := w.Root().Join(name)
	if err := w.Write(context.Background(), l, make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLocalFilesAreNeverOverwritten(t *testing.T) {
	w := opened(t, t.TempDir(), nil)
	l := mustWrite(t, w, "f", 3)
	if err := w.Write(context.Background(), l, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second write to a name: %v", err)
	}
	if got, err := w.Read(context.Background(), l); err != nil || len(got) != 3 {
		t.Errorf("it left %q (%v)", got, err)
	}
}

func TestWhatIsNoFileIsMissingAndWhatCannotBeReadIsNot(t *testing.T) {
	w := opened(t, t.TempDir(), nil)
	ctx := context.Background()
	mustWrite(t, w, "f", 1)
	for _, l := range []Location{w.Root(), w.Root().Join("f", "below")} {
		if _, err := w.Read(ctx, l); !errors.Is(err, ErrMissing) {
			t.Errorf("%s: %v", l, err)
		}
	}
	// A link that leads to itself is there, and cannot be read, whoever asks.
	if err := os.Symlink("loop", strings.TrimPrefix(w.Root().Join("loop").String(), "file://")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Read(ctx, w.Root().Join("loop")); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("an unreadable file: %v", err)
	}
}

func TestAPipeInTheWarehouseHoldsNobodyUp(t *testing.T) {
	w := opened(t, t.TempDir(), nil)
	l := w.Root().Join("v1.metadata.json")
	if err := syscall.Mkfifo(strings.TrimPrefix(l.String(), "file://"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() {
		_, err := w.Read(context.Background(), l)
		read <- err
	}()
	select {
	case err := <-read:
		if !errors.Is(err, ErrMissing) {
			t.Errorf("reading a pipe: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("reading a pipe waits for whoever writes into it")
	}
}

func TestAMissingBucketIsNotAMissingFile(t *testing.T) {
	storage := fakeS3(t, "lake")
	w := opened(t, "s3://other/wh", storage)
	if _, err := w.Read(context.Background(), w.Root().Join("f")); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a file of a bucket that does not exist: %v", err)
	}
	down := map[string]string{}
	maps.Copy(down, storage)
	server := httptest.NewServer(nil)
	server.Close()
	down["s3.endpoint"] = server.URL
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w = opened(t, "s3://lake/wh", down)
	if _, err := w.Read(ctx, w.Root().Join("f")); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a file of a server that is down: %v", err)
	}
}

func TestHintsForClientsHoldNoSecrets(t *testing.T) {
	w := opened(t, "s3://lake/wh", map[string]string{"s3.endpoint": "http://127.0.0.1:9", "client.region": "eu-west-1",
		"s3.access-key-id": "AKIA", "s3.secret-access-key": "SECRET", "s3.session-token": "TOKEN"})
	want := map[string]string{"s3.endpoint": "http://127.0.0.1:9", "client.region": "eu-west-1", "s3.region": "eu-west-1", "s3.path-style-access": "true"}
	if got := w.ClientHints(); !maps.Equal(got, want) {
		t.Errorf("clients are told %v, want %v", got, want)
	}
	w.ClientHints()["s3.endpoint"] = "changed"
	if w.ClientHints()["s3.endpoint"] == "changed" {
		t.Error("callers share one map")
	}
	for _, tt := range []struct {
		storage map[string]string
		want    string
	}{
		{map[string]string{"s3.region": "us-east-1"}, ""},
		{map[string]string{"s3.region": "us-east-1", "s3.path-style-access": "true"}, "true"},
		{map[string]string{"s3.endpoint": "http://127.0.0.1:9", "s3.path-style-access": "false"}, "false"},
		{map[string]string{"s3.endpoint": "http://127.0.0.1:9", "s3.force-virtual-addressing": "true"}, ""},
	} {
		if got := clientHints("s3", tt.storage)["s3.path-style-access"]; got != tt.want {
			t.Errorf("%v tells clients path style %q, want %q", tt.storage, got, tt.want)
		}
	}
	if local := opened(t, t.TempDir(), nil).ClientHints(); local == nil || len(local) != 0 {
		t.Errorf("a local warehouse tells clients %v", local)
	}
}
