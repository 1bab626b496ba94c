package bolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/storetest"
)

func fresh(t *testing.T) storetest.Opener {
	path := filepath.Join(t.TempDir(), "sub", "catalog.db")
	return func() (store.Store, error) { return Open(path) }
}

func TestStore(t *testing.T) { storetest.Run(t, fresh) }

func TestPortable(t *testing.T) { storetest.RunPortable(t, fresh) }

func TestKeysSortLikeNamesAndNeverMix(t *testing.T) {
	names := []string{"a", "a\x00", "a\x00\x01", "a\x00\xff", "a\x01", "ab", "b", "\x00", "\xff", "a\xff", "\x00\x01"}
	slices.Sort(names)
	for i, name := range names {
		if got := lastLevel(namespaceKey(mounts.Namespace{name})[2:]); got != name {
			t.Errorf("%q comes back as %q", name, got)
		}
		if i > 0 && string(namespaceKey(mounts.Namespace{names[i-1]})) >= string(namespaceKey(mounts.Namespace{name})) {
			t.Errorf("%q does not sort before %q", names[i-1], name)
		}
		for _, other := range names {
			if other != name && strings.HasPrefix(string(namespaceKey(mounts.Namespace{other})), string(namespaceKey(mounts.Namespace{name}))) {
				t.Errorf("the key of %q begins with that of %q", other, name)
			}
			if strings.HasPrefix(string(namespaceKey(mounts.Namespace{"x", other})), string(childrenPrefix(mounts.Namespace{name}))) {
				t.Errorf("x.%q counts as a child of %q", other, name)
			}
		}
	}
}

func TestDamagedRecordsAreErrors(t *testing.T) {
	whole := encodeObject(store.Object{ID: uuid.New(), Location: "l", Previous: "p", Generation: 7})
	if o, err := decodeObject(mounts.Identifier{}, store.Table, whole); err != nil || o.Location != "l" || o.Generation != 7 {
		t.Fatalf("%+v, %v", o, err)
	}
	for size := range whole {
		if _, err := decodeObject(mounts.Identifier{}, store.Table, whole[:size]); !errors.Is(err, errRecord) {
			t.Errorf("the first %d of %d bytes were read as a record", size, len(whole))
		}
	}
}

// holderEnv makes the test binary a process that opens the named file, says so,
// and holds it until its input ends.
const holderEnv = "ICEFIELD_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holderEnv); path != "" {
		s, err := Open(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("held")
		_, _ = os.Stdin.Read(make([]byte, 1))
		_ = s.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestASecondProcessIsToldWhichFileAndWhatToDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	holder := exec.Command(os.Args[0])
	holder.Env = append(os.Environ(), holderEnv+"="+path)
	in, _ := holder.StdinPipe()
	out, _ := holder.StdoutPipe()
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4)
	if _, err := out.Read(line); err != nil || string(line) != "held" {
		t.Fatalf("the holder said %q (%v)", line, err)
	}
	begin := time.Now()
	_, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "in use by another process; stop that one") {
		t.Errorf("the second opener was told %v", err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("and had to wait %v for it", took)
	}
	_ = in.Close()
	if err := holder.Wait(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

func TestAFileThatIsNoRegistryIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path+" is not a registry file") {
		t.Errorf("got %v", err)
	}
	if _, err := Open(""); err == nil {
		t.Error("no name was accepted as a file")
	}
}

func TestAWithdrawnWriteIsNotDoneAndATakenOneIsUnknown(t *testing.T) {
	opened, err := Open(filepath.Join(t.TempDir(), "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	inside, release := make(chan struct{}), make(chan struct{})
	ctx, leave := context.WithCancel(context.Background())
	var taken error
	var group sync.WaitGroup
	group.Go(func() {
		taken = opened.Update(ctx, func(tx store.Tx) error {
			close(inside)
			<-release
			return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"taken"}})
		})
	})
	<-inside
	leave()
	group.Wait()
	if !errors.Is(taken, store.ErrOutcomeUnknown) || !errors.Is(taken, context.Canceled) {
		t.Errorf("a write whose caller left while it ran: %v", taken)
	}
	// The committer is busy, so this one cannot be taken.
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err = opened.Update(short, func(tx store.Tx) error {
		return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"withdrawn"}})
	})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a write that was not taken: %v", err)
	}
	close(release)
	var names []string
	if err := opened.Update(context.Background(), func(tx store.Tx) (err error) {
		names, err = tx.Children(nil, "", 10)
		return err
	}); err != nil || !slices.Equal(names, []string{"taken"}) {
		t.Errorf("afterwards there are %q (%v)", names, err)
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s, err := Open(filepath.Join(b.TempDir(), "catalog.db"))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			space := mounts.Namespace{"n"}
			if err := s.Update(context.Background(), func(tx store.Tx) error {
				if err := tx.CreateNamespace(store.Namespace{Path: space}); err != nil {
					return err
				}
				for w := range writers {
					if _, err := tx.Create(store.Object{Namespace: space, Name: fmt.Sprint("t", w), Kind: store.Table, ID: uuid.New(), Location: "l"}, store.By{}); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			var group sync.WaitGroup
			for w := range writers {
				group.Go(func() {
					id, last := mounts.Identifier{Namespace: space, Name: fmt.Sprint("t", w)}, "l"
					for i := w; i < b.N; i += writers {
						next := fmt.Sprintf("file:///warehouse/some/where/t%d/metadata/%05d-00000000-0000-0000-0000-000000000000.metadata.json", w, i)
						if err := s.Update(context.Background(), func(tx store.Tx) error {
							_, err := tx.Swap(id, last, next, store.By{Principal: "p", RequestID: "r"})
							return err
						}); err != nil {
							b.Error(err)
							return
						}
						last = next
					}
				})
			}
			group.Wait()
		})
	}
}
