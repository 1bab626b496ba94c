//go:build peers && linux

package audit

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/icefield/icefield/policy/audit/audittest"
)

// fullDisk is a server whose trail lies on a small file system of its own, which something else fills while the trouble
// lasts.
func fullDisk(t *testing.T, env ...string) *trouble {
	t.Helper()
	s := &trouble{reasons: []string{"no space left on device"}}
	folder := ""
	s.lake = startWith(t, func(l *lake) {
		folder = filepath.Dir(l.trail)
		require.NoError(t, unix.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"), "mounting takes root")
		t.Cleanup(func() { require.NoError(t, unix.Unmount(folder, unix.MNT_DETACH)) })
	}, "audit.hcl", nil, env...)
	filler := filepath.Join(folder, "filler")
	s.begin = func(t *testing.T) {
		f, err := os.Create(filler)
		require.NoError(t, err)
		for err == nil {
			_, err = f.Write(make([]byte, 4096))
		}
		require.True(t, errors.Is(err, unix.ENOSPC), "%v", err)
		require.NoError(t, f.Close())
	}
	s.end = func(t *testing.T) { require.NoError(t, os.Remove(filler)) }
	s.read = func(t *testing.T) []audittest.Line {
		lines, torn, err := audittest.Read(s.trail)
		require.NoError(t, err)
		require.LessOrEqual(t, torn, 1, "the line that the end of the disk cut is one, and no more are broken")
		return lines
	}
	return s
}

func TestADiskThatIsReallyFull(t *testing.T) {
	t.Run("fail_closed", func(t *testing.T) {
		s := fullDisk(t)
		begin := s.begin
		// The trail has the rest of its last page: something uses it up.
		s.begin = func(t *testing.T) {
			begin(t)
			for i := range 100 {
				answer, err := s.ask("uses-up-"+string(rune('a'+i%26)), "GET", "/namespaces", nil)
				require.NoError(t, err)
				require.Equal(t, 200, answer.Status)
			}
			s.await(t, "failing")
		}
		nothingIsDone(t, s)
	})
	t.Run("fail_open", func(t *testing.T) { everythingGoesOn(t, fullDisk(t, "AUDIT_FAIL_CLOSED=false")) })
}
