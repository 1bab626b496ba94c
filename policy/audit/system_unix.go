//go:build unix

package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// openAppend opens a file for appending, or makes it. A pipe must have a reader:
// to wait for one would keep a server from starting without saying why.
func openAppend(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600) // #nosec G304 -- the operator's configuration names the file
	if errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("nobody reads the pipe %s; start its reader first", path)
	}
	return f, err
}

// duplicate opens another descriptor of what f writes to.
func duplicate(f *os.File, name string) (*os.File, error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	var fd, flags int
	if controlErr := raw.Control(func(own uintptr) {
		if flags, err = unix.FcntlInt(own, unix.F_GETFL, 0); err == nil {
			fd, err = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 3)
		}
	}); controlErr != nil {
		return nil, controlErr
	}
	if err != nil {
		return nil, err
	}
	if flags&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, errors.Join(errors.New("it is open for reading only"), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), name), nil
}

// exclusive takes the lock of a file for the time of a rotation, if no other
// process has it.
func exclusive(f *os.File) (release func(), mine bool) {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil, false
	}
	if controlErr := raw.Control(func(fd uintptr) { err = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) }); controlErr != nil {
		return nil, false
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return nil, false
	case err != nil: // a file system without locks
		return func() {}, true
	}
	return func() {
		_ = raw.Control(func(fd uintptr) { _ = unix.Flock(int(fd), unix.LOCK_UN) }) // closed by now, most often
	}, true
}

// removed reports whether nothing names the file any more.
func removed(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}
