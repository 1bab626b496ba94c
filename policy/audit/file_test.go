package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy/audit/audittest"
)

func trailPath(t *testing.T) string { return filepath.Join(t.TempDir(), "audit.jsonl") }

func readIDs(t *testing.T, path string) []string {
	t.Helper()
	lines, torn, err := audittest.Read(path)
	require.NoError(t, err)
	require.Zero(t, torn)
	return ids(lines)
}

// look makes a file compare itself with its path at the next write.
func look(log *Log) { log.sink.(*file).checked = time.Time{} }

func TestAFileIsForItsOwnerAlone(t *testing.T) {
	path := trailPath(t)
	log := openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "a"))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, log.Close())
	log = openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "b"))
	require.NoError(t, log.Close())
	require.Equal(t, []string{"a", "b"}, readIDs(t, path), "a file is continued")
}

func TestWhatCannotWorkIsRefusedAtTheStart(t *testing.T) {
	folder := t.TempDir()
	plain := filepath.Join(folder, "plain")
	require.NoError(t, os.WriteFile(plain, nil, 0o600))
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for path, says := range map[string]string{
		"":                                      "path is missing",
		folder + "/no/such/audit.jsonl":         "does not exist; make it",
		plain + "/audit.jsonl":                  "not a folder",
		folder:                                  "is a folder",
		pipe:                                    "nobody reads the pipe",
		"/proc/audit.jsonl":                     "cannot be opened",
		folder + "/" + strings.Repeat("x", 300): "cannot be opened",
	} {
		_, err := Open(Options{Sink: File, Path: path})
		require.ErrorContains(t, err, says, path)
	}
}

func TestALineThatACrashCutShortDoesNotHideTheNext(t *testing.T) {
	path := trailPath(t)
	require.NoError(t, os.WriteFile(path, []byte(`{"time":"2026-`), 0o600))
	log := openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "a"))
	require.NoError(t, log.Close())
	lines, torn, err := audittest.Read(path)
	require.NoError(t, err)
	require.Equal(t, 1, torn)
	require.Equal(t, []string{"a"}, ids(lines))
}

func TestAFileThatIsFullIsRenamed(t *testing.T) {
	path := trailPath(t)
	log := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: 1000, Keep: 3})
	for i := range 40 {
		require.NoError(t, log.Record(context.Background(), numberedEvent(i), true))
	}
	require.NoError(t, log.Close())
	found, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.Len(t, found, 4, "three of the old files are kept")
	for _, name := range found {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(1000))
		require.Positive(t, info.Size())
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
	all := readIDs(t, path)
	for i, id := range all {
		require.Equal(t, strconv.Itoa(40-len(all)+i), id, "the newest are there, in order")
	}
}

func TestAFileIsNotRenamedIfSomethingElseDoesThat(t *testing.T) {
	path := trailPath(t)
	log := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: -1})
	for i := range 100 {
		require.NoError(t, log.Record(context.Background(), numberedEvent(i), true))
	}
	require.NoError(t, log.Close())
	require.Len(t, readIDs(t, path), 100)
	require.NoFileExists(t, path+".1")
}

func TestARotationThatFailsLosesNothing(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"path.1 is in the way": func(t *testing.T, path string) {
			require.NoError(t, os.MkdirAll(path+".1/full", 0o700))
			require.NoError(t, os.MkdirAll(path+".2/full", 0o700))
		},
		"an older one is in the way": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+".1", []byte(`{"request_id":"old"}`+"\n"), 0o600))
			require.NoError(t, os.MkdirAll(path+".2/full", 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := trailPath(t)
			spoil(t, path)
			var out strings.Builder
			log := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: 500, Keep: 2, Logger: textLogger(&out)})
			for i := range 20 {
				require.NoError(t, log.Record(context.Background(), numberedEvent(i), true))
			}
			require.NoError(t, log.Close())
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			lines, torn := audittest.Parse(text)
			require.Zero(t, torn)
			require.Len(t, lines, 20)
			require.Equal(t, 1, strings.Count(out.String(), "it grows on"), out.String())
			if name == "an older one is in the way" {
				old, err := os.ReadFile(path + ".1")
				require.NoError(t, err)
				require.Contains(t, string(old), "old", "and overwrites nothing")
			}
		})
	}
}

func TestANewFileThatCannotBeMadeLeavesTheRenamedOneInUse(t *testing.T) {
	path := trailPath(t)
	log := openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "a"))
	require.NoError(t, os.Rename(path, path+".1"))
	require.NoError(t, os.Mkdir(path, 0o700)) // nothing can be opened there
	look(log)
	require.NoError(t, record(log, "b"))
	require.Error(t, log.Reopen(context.Background()))
	require.NoError(t, record(log, "c"))
	require.NoError(t, os.Remove(path))
	require.NoError(t, log.Reopen(context.Background()))
	require.NoError(t, record(log, "d"))
	require.NoError(t, log.Close())
	require.Equal(t, []string{"a", "b", "c", "d"}, readIDs(t, path))
}

func TestAFileThatIsRenamedOrRemovedIsMadeAgain(t *testing.T) {
	path := trailPath(t)
	log := openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "a"))
	require.NoError(t, os.Rename(path, path+".1"))
	look(log)
	require.NoError(t, record(log, "b"))
	require.Equal(t, []string{"a", "b"}, readIDs(t, path))
	require.NoError(t, os.Remove(path))
	look(log)
	require.NoError(t, record(log, "c"))
	require.NoError(t, log.Close())
	require.Equal(t, []string{"a", "c"}, readIDs(t, path))
}

func TestWhatNothingNamesAnyMoreDoesNotCountAsWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs")
	require.NoError(t, os.Mkdir(folder, 0o700))
	path := filepath.Join(folder, "audit.jsonl")
	log := openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "a"))
	require.NoError(t, os.RemoveAll(folder))
	look(log)
	requireRefused(t, record(log, "b"))
	requireRefused(t, record(log, "c"))
	require.Equal(t, errGone.Error(), log.Status().Reason)
	require.NoError(t, os.Mkdir(folder, 0o700))
	look(log)
	require.NoError(t, record(log, "d"))
	require.NoError(t, log.Close())
	require.Equal(t, []string{"lost 0 refused 2", "d"}, readIDs(t, path))
}

func TestReopenFollowsTheToolThatRotates(t *testing.T) {
	path := trailPath(t)
	log := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: -1})
	require.NoError(t, record(log, "a"))
	require.NoError(t, os.Rename(path, path+".1"))
	require.NoError(t, log.Reopen(context.Background()))
	require.NoError(t, record(log, "b"))
	require.NoError(t, log.Close())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	lines, _ := audittest.Parse(text)
	require.Equal(t, []string{"b"}, ids(lines))
}

func TestALinkStaysALink(t *testing.T) {
	folder := t.TempDir()
	path, target := filepath.Join(folder, "link"), filepath.Join(folder, "audit.jsonl")
	require.NoError(t, os.Symlink(target, path))
	log := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: 500})
	for i := range 5 {
		require.NoError(t, log.Record(context.Background(), numberedEvent(i), true))
	}
	require.NoError(t, log.Close())
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, readIDs(t, target))
	require.FileExists(t, target+".1")
	info, err := os.Lstat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
}

func TestServersMayShareAFileAndRotateIt(t *testing.T) {
	path := trailPath(t)
	const servers, writers, each = 3, 4, 100
	var all sync.WaitGroup
	for s := range servers {
		log := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: 20000, Keep: 1000})
		var own sync.WaitGroup
		for w := range writers {
			own.Go(func() {
				for i := range each {
					if err := record(log, fmt.Sprintf("%d-%d-%d", s, w, i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Go(func() {
			own.Wait()
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	for _, id := range readIDs(t, path) {
		seen[id]++
	}
	require.Len(t, seen, servers*writers*each)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
	require.FileExists(t, path+".2")
}

func TestAFullDiskIsARefusal(t *testing.T) {
	log, err := Open(Options{Sink: File, Path: "/dev/full", FailClosed: true, Logger: quiet})
	require.NoError(t, err)
	requireRefused(t, record(log, "a"))
	note(t, log, "read")
	require.Equal(t, Failing, log.Status().State)
	require.Equal(t, "no space left on device", log.Status().Reason)
	require.ErrorContains(t, log.Close(), "events lost: 1")
}

func TestAPipeMayLoseItsReaderAndFindAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	log := openTestFile(t, Options{Path: path, FailClosed: true})
	require.NoError(t, record(log, "a"))
	require.NoError(t, reader.Close())
	requireRefused(t, record(log, "b"))
	require.Equal(t, "broken pipe", log.Status().Reason)
	reader, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	require.NoError(t, record(log, "c"))
	require.NoError(t, log.Close())
	text := make([]byte, 10000)
	n, err := reader.Read(text)
	require.NoError(t, err)
	lines, torn := audittest.Parse(text[:n])
	require.Zero(t, torn)
	require.Equal(t, []string{"a", "lost 0 refused 1", "c"}, ids(lines), "what the first did not read is still in the pipe")
	require.NoError(t, reader.Close())
}

func TestAPipeGetsSmallWritesThatDoNotMix(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	require.Equal(t, 4096, placeOf(w).group())
	require.True(t, placeOf(w).patient, "a write that nobody reads can be given up")
	f, err := os.Create(trailPath(t))
	require.NoError(t, err)
	defer f.Close()
	require.Equal(t, 1<<20, placeOf(f).group())
	require.False(t, placeOf(f).patient)
}

func TestOnlyOneOfThoseThatShareAFileRotatesIt(t *testing.T) {
	path := trailPath(t)
	one, err := openAppend(path)
	require.NoError(t, err)
	defer one.Close()
	two, err := openAppend(path)
	require.NoError(t, err)
	defer two.Close()
	release, mine := exclusive(one)
	require.True(t, mine)
	_, mine = exclusive(two)
	require.False(t, mine, "while the other is at it")
	release()
	release, mine = exclusive(two)
	require.True(t, mine)
	release()
}

func TestWhoComesTooLateDoesNotRotateTheNewFile(t *testing.T) {
	path := trailPath(t)
	late := openTestFile(t, Options{Path: path, FailClosed: true, MaxSize: 600})
	require.NoError(t, record(late, "a"))
	require.NoError(t, os.Rename(path, path+".1")) // another server was faster
	require.NoError(t, os.WriteFile(path, []byte(`{"request_id":"b"}`+"\n"), 0o600))
	require.NoError(t, record(late, "c"))
	require.NoError(t, late.Close())
	require.NoFileExists(t, path+".2")
	require.Equal(t, []string{"a", "b", "c"}, readIDs(t, path))
}
