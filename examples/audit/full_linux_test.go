package audit

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/icefield/icefield/policy/audit/audittest"
)

// hole is how much of nothing the trail begins with, which makes it the largest file of the process by far: so a bound on
// the size of files is one on the trail alone. It takes no room on the disk.
const hole = 32 << 20

// full is a server whose trail has no room to grow while the trouble lasts.
func full(t *testing.T, env ...string) *trouble {
	t.Helper()
	s := &trouble{reasons: []string{"file too large"}}
	s.lake = startWith(t, func(l *lake) {
		f, err := os.Create(l.trail)
		require.NoError(t, err)
		_, err = f.WriteAt([]byte{'\n'}, hole-1)
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}, "audit.hcl", nil, env...)
	bound := func(size uint64) {
		require.NoError(t, unix.Prlimit(s.PID(), unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil))
	}
	s.begin = func(t *testing.T) {
		info, err := os.Stat(s.trail)
		require.NoError(t, err)
		bound(uint64(info.Size()) + 100) // in the middle of a line
	}
	s.end = func(t *testing.T) { bound(unix.RLIM_INFINITY) }
	s.read = func(t *testing.T) []audittest.Line {
		text, err := os.ReadFile(s.trail)
		require.NoError(t, err)
		lines, torn := audittest.Parse(text[hole:])
		require.Equal(t, 1, torn, "the line that the bound cut is one, and no more are broken")
		return lines
	}
	return s
}

func TestNothingIsDoneThatAFullDiskKeepsFromTheTrail(t *testing.T) { nothingIsDone(t, full(t)) }

func TestAFullDiskLosesWhatIsCountedAndNothingElse(t *testing.T) {
	everythingGoesOn(t, full(t, "AUDIT_FAIL_CLOSED=false"))
}
