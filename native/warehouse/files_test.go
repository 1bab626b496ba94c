package warehouse

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

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

func TestFilesAreNeverOverwritten(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		l := mustWrite(t, w, "f", 3)
		if err := w.Write(context.Background(), l, []byte("other")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("a second write to a name: %v", err)
		}
		if got, err := w.Read(context.Background(), l); err != nil || !bytes.Equal(got, make([]byte, 3)) {
			t.Errorf("it left %q (%v)", got, err)
		}
	})
}

func TestOfWritersToOneNameOneWins(t *testing.T) {
	each(t, func(t *testing.T, w *Warehouse) {
		l := w.Root().Join("t", "f")
		won := make([]bool, 8)
		var group sync.WaitGroup
		for i := range won {
			group.Go(func() {
				err := w.Write(context.Background(), l, []byte{byte(i)})
				won[i] = err == nil
				if err != nil && !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		group.Wait()
		got, err := w.Read(context.Background(), l)
		if err != nil || len(got) != 1 {
			t.Fatalf("%q, %v", got, err)
		}
		for i := range won {
			if won[i] != (int(got[0]) == i) {
				t.Errorf("writer %d was told %v, and the file is that of %d", i, won[i], got[0])
			}
		}
	})
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
	for _, service := range services() {
		t.Run(service.name, func(t *testing.T) {
			ctx := context.Background()
			authority, storage := service.start(t)
			w := opened(t, service.scheme+"://"+service.absent(authority)+"/wh", storage)
			l := w.Root().Join("f")
			if _, err := w.Read(ctx, l); err == nil || errors.Is(err, ErrMissing) {
				t.Errorf("a file of a bucket that does not exist: %v", err)
			}
			if _, err := w.IO(ctx).Open(l.String()); err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("opening it: %v", err)
			}
			if err := w.Remove(ctx, l); err == nil {
				t.Error("it was removed")
			}
			if gone, err := w.RemoveAll(ctx, []Location{l, w.Root().Join("g")}); err == nil || gone != 0 {
				t.Errorf("%d of it are gone (%v)", gone, err)
			}
			if err := w.Write(ctx, l, []byte("x")); err == nil || errors.Is(err, fs.ErrExist) {
				t.Errorf("it was written: %v", err)
			}
			if err := w.List(ctx, w.Root(), func(Entry) error { return nil }); err == nil {
				t.Error("a bucket that does not exist is listed as an empty one")
			}
		})
	}
}

func TestAServerThatIsDownHasNoMissingFiles(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	for root, storage := range map[string]map[string]string{
		"s3://lake/wh": s3At(server.URL),
		"gs://lake/wh": gcsAt(server.URL),
		"abfss://lake@account.dfs.core.windows.net/wh": {"adls.endpoint": strings.TrimPrefix(server.URL, "http://"), "adls.protocol": "http",
			"adls.sas-token.account.dfs.core.windows.net": "sv=2024-01-01&sig=SECRET"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		w := opened(t, root, storage)
		l := w.Root().Join("f")
		_, err := w.Read(ctx, l)
		if err == nil || errors.Is(err, ErrMissing) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a file of a server that is down: %v", root, err)
		} else if strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: the error holds the secret: %v", root, err)
		}
		if gone, err := w.RemoveAll(ctx, []Location{l}); err == nil || gone != 0 {
			t.Errorf("%s: %d are gone (%v)", root, gone, err)
		}
		if err := w.List(ctx, w.Root(), func(Entry) error { return nil }); err == nil {
			t.Errorf("%s: an empty list", root)
		}
		if err := w.Write(ctx, l, nil); err == nil || errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: a write: %v", root, err)
		}
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
