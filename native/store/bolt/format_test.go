package bolt

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

// oldFile unpacks testdata/format1.db.gz, which a release that knew only format
// 1 wrote: three namespaces, a table that was swapped twice, one that was
// dropped, one that was renamed, one with the pointer of another, and a view.
func oldFile(t *testing.T) string {
	t.Helper()
	packed, err := os.Open("testdata/format1.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "catalog.db")
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileOfFormat1IsBroughtUpToDate(t *testing.T) {
	path := oldFile(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for range 2 {
		s := openFile(t, path)
		err := s.View(context.Background(), func(tx store.Tx) error {
			held, err := tx.Holders("s3://w/", 10)
			var got []string
			for _, o := range held {
				got = append(got, strings.Join(o.Namespace, "/")+"/"+o.Name+" "+o.Kind.String()+" "+o.Location)
			}
			want := []string{
				"a/orders table s3://w/orders/metadata/3.json",
				"z/renamed table s3://w/renamed/metadata/1.json",
				"a/b\x00c/twin\x00\xff table s3://w/renamed/metadata/1.json",
				"z/report view s3://w/report/metadata/1.json",
			}
			if !slices.Equal(got, want) {
				t.Errorf("the pointers are held by %q, want %q", got, want)
			}
			if err != nil {
				return err
			}
			log, err := tx.Commits(held[0].ID, 0, 10)
			if len(log) != 3 || log[2].To != "s3://w/orders/metadata/3.json" || log[2].Principal != "ann" || log[2].IdempotencyKey != "" || !log[2].Time.Equal(at) {
				t.Errorf("the log of the old file is %+v", log)
			}
			if err != nil {
				return err
			}
			n, err := tx.Namespace(mounts.Namespace{"a", "b\x00c"})
			if n.Owner != "acme" || n.Properties["k"] != "v" {
				t.Errorf("a namespace of the old file is %+v", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// And the index follows what is done from now on.
	s := openFile(t, path)
	if err := s.Update(context.Background(), func(tx store.Tx) error {
		_, err := tx.Drop(mounts.Identifier{Namespace: mounts.Namespace{"z"}, Name: "renamed"}, store.By{IdempotencyKey: "k"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_ = s.View(context.Background(), func(tx store.Tx) error {
		if held, err := tx.Holders("s3://w/renamed/", 10); err != nil || len(held) != 1 || held[0].Name != "twin\x00\xff" {
			t.Errorf("after a drop the pointer is held by %+v (%v)", held, err)
		}
		if err := tx.CreateJob(store.Job{ID: uuid.New()}); err == nil {
			t.Error("a View created a job")
		}
		return nil
	})
}

// A file that cannot be brought up to date is left as the release that wrote it
// can read it.
func TestAnUpgradeThatFailsChangesNothing(t *testing.T) {
	path := oldFile(t)
	damage := func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketTables).Put([]byte("damaged"), []byte{1, 2, 3})
	}
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(damage), db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, errRecord) || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged file: %v", err)
	}
	if db, err = bbolt.Open(path, 0o600, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_ = db.View(func(tx *bbolt.Tx) error {
		if v := tx.Bucket(bucketMeta).Get(keyFormat); len(v) != 1 || v[0] != 1 || tx.Bucket(bucketPointers) != nil {
			t.Errorf("the file has format %v now, and pointers %v", v, tx.Bucket(bucketPointers))
		}
		return nil
	})
}

func TestAFileOfANewerReleaseIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	s := openFile(t, path)
	if err := errors.Join(s.db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMeta).Put(keyFormat, []byte{format + 1})
	}), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "use the release that wrote it") {
		t.Errorf("got %v", err)
	}
}
