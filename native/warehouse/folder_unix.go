//go:build unix

package warehouse

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// directoryOnly refuses to open what is no folder.
const directoryOnly = syscall.O_DIRECTORY

// removeEmpty removes an empty folder and nothing else, in one call of the
// system: a file that has the name meanwhile stays, and so does a folder that is
// in use or a symbolic link.
func removeEmpty(parent *os.File, name string) error {
	err := unix.Unlinkat(int(parent.Fd()), name, unix.AT_REMOVEDIR)
	for _, stays := range []error{unix.ENOENT, unix.ENOTEMPTY, unix.EEXIST, unix.ENOTDIR, unix.EBUSY} {
		if errors.Is(err, stays) {
			return nil
		}
	}
	if err != nil {
		return &os.PathError{Op: "rmdir", Path: name, Err: err}
	}
	return nil
}
