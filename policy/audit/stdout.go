package audit

import (
	"fmt"
	"os"
)

// stdout writes to the standard output.
type stdout struct {
	f    *os.File
	kind place
}

// openStdout opens a second descriptor of the standard output: a write to
// descriptor 1 itself ends the process if the reader of the pipe is gone.
func openStdout() (sink, error) {
	f, err := duplicate(os.Stdout, "standard output")
	if err != nil {
		return nil, fmt.Errorf(`audit: sink is "stdout", and the standard output cannot be written: %w`, err)
	}
	return &stdout{f, placeOf(f)}, nil
}

func (s *stdout) write(p []byte) (int, error) {
	s.kind.limit(s.f)
	return s.f.Write(p)
}

func (s *stdout) torn() bool    { return false }
func (s *stdout) group() int    { return s.kind.group() }
func (s *stdout) reopen() error { return nil }

func (s *stdout) close() error {
	if s.f == os.Stdout {
		return nil
	}
	return s.f.Close()
}
