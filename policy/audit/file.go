package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// file appends to a file that others may rename, remove or append to as well.
type file struct {
	path   string
	max    int64
	keep   int
	logger *slog.Logger

	f    *os.File
	kind place
	size int64
	// checked is when the path was last looked at; broken asks for that at the next
	// write.
	checked time.Time
	broken  bool
	// gone is set while there is no file that anybody could read.
	gone error
	// resume is when rotation may be tried again after it failed.
	resume time.Time
}

// checkEvery is how often the file is compared with what its path names.
const checkEvery = time.Second

// errGone is a file that nothing names any more: what is written to it is lost.
var errGone = errors.New("the file was removed and cannot be made again")

func openFile(path string, max int64, keep int, logger *slog.Logger) (sink, error) {
	if path == "" {
		return nil, errors.New(`audit: sink is "file" and path is missing; name the file that the trail is written to`)
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("audit: the folder %s does not exist; make it, or choose another path for the trail", folder)
	case err != nil:
		return nil, fmt.Errorf("audit: the folder of the trail: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("audit: %s is not a folder; choose another path for the trail", folder)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("audit: %s is a folder; path names the file that the trail is written to", path)
	}
	f := &file{path: path, max: max, keep: keep, logger: logger}
	if err := f.reopen(); err != nil {
		return nil, fmt.Errorf("audit: the trail cannot be opened: %w", err)
	}
	return f, nil
}

// reopen opens what the path names now. If that fails the file before stays.
func (f *file) reopen() error {
	opened, err := openAppend(f.path)
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	if f.f != nil {
		_ = f.f.Close() // each write has been answered for
	}
	f.f, f.kind, f.size = opened, placeOf(opened), info.Size()
	f.broken, f.gone = false, nil
	f.checked = time.Now()
	return nil
}

func (f *file) write(p []byte) (int, error) {
	if err := f.check(time.Now()); err != nil {
		return 0, err
	}
	if f.kind.regular && f.max > 0 && f.size > 0 && f.size+int64(len(p)) > f.max {
		f.rotate(time.Now())
	}
	f.kind.limit(f.f)
	n, err := f.f.Write(p)
	f.size += int64(n)
	f.broken = err != nil
	return n, err
}

// check opens the file anew if the path names another one or none: somebody has
// renamed or removed it, or another server has rotated it. What is written until
// that is seen goes to the renamed file. What failed is opened anew as well.
func (f *file) check(now time.Time) error {
	if !f.broken && !f.kind.regular || now.Sub(f.checked) < checkEvery {
		return f.gone
	}
	f.checked = now
	own, err := f.f.Stat()
	if err == nil {
		f.size = own.Size()
		there, err := os.Stat(f.path)
		if err == nil && os.SameFile(own, there) && !f.broken {
			f.gone = nil
			return nil
		}
	}
	reopenErr := f.reopen()
	if reopenErr != nil && (err != nil || removed(own)) {
		f.gone = fmt.Errorf("%w: %w", errGone, reopenErr)
	}
	return f.gone
}

// rotate makes path.1 of the file, and begins a new one. If that fails the file
// grows on: what comes next is written in any case. Of several servers that write
// to one file, one does it, and the others see it at their next check.
func (f *file) rotate(now time.Time) {
	if now.Before(f.resume) {
		return
	}
	release, mine := exclusive(f.f)
	if !mine {
		return
	}
	defer release()
	err := f.shift()
	if err == nil {
		err = f.reopen()
	}
	if err != nil {
		f.resume = now.Add(remindEvery)
		f.logger.Error("the file of the audit trail cannot be rotated; it grows on", slog.String("reason", err.Error()))
	}
}

// shift renames path.1 to path.2 and so on up to the first number that is free,
// the oldest first, so that a failure in between leaves a gap, which the next
// rotation closes, and overwrites nothing; then path to path.1.
func (f *file) shift() error {
	own, err := f.f.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(own, there) {
		return nil // somebody else has renamed it
	}
	if err != nil {
		return err
	}
	path := f.path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	free := 1
	for ; free < f.keep; free++ {
		if _, err := os.Lstat(numbered(path, free)); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for i := free - 1; i >= 1; i-- {
		if err := os.Rename(numbered(path, i), numbered(path, i+1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(path, numbered(path, 1))
}

func numbered(path string, i int) string { return path + "." + strconv.Itoa(i) }

// torn looks at the last byte of what is there. What cannot be read counts as
// torn: an empty line too many does no harm.
func (f *file) torn() bool {
	if !f.kind.regular || f.size == 0 {
		return false
	}
	r, err := os.Open(f.path)
	if err != nil {
		return true
	}
	defer r.Close()
	var last [1]byte
	if _, err := r.ReadAt(last[:], f.size-1); err != nil {
		return true
	}
	return last[0] != '\n'
}

func (f *file) group() int {
	if f.max > 0 {
		return min(f.kind.group(), int(min(f.max, 1<<20)))
	}
	return f.kind.group()
}

func (f *file) close() error { return f.f.Close() }
