package audit

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// The sinks.
const (
	Stdout = "stdout"
	File   = "file"
	None   = "none"
)

// The defaults.
const (
	DefaultMaxSize = 100 << 20
	DefaultKeep    = 10
	DefaultQueue   = 10000
)

// Options say where the trail goes and what happens if it cannot be written.
type Options struct {
	// Sink is Stdout, File or None; empty is None.
	Sink string
	// Path is the file, for the sink File. Its folder must exist; the file is made
	// if it does not, for its owner alone to read. A named pipe or a device will
	// do.
	Path string
	// FailClosed makes Record, where it must, return only when the event is
	// written.
	FailClosed bool
	// MaxSize is how many bytes a file may have before it is renamed to path.1 and
	// a new one begun; 0 means DefaultMaxSize, a negative size that something else
	// rotates it, and calls Reopen.
	MaxSize int64
	// Keep is how many renamed files are kept, path.1 being the newest; 0 means
	// DefaultKeep.
	Keep int
	// Queue is how many events may wait to be written; 0 means DefaultQueue. What
	// waits is bounded in bytes too, by 1 KiB an event.
	Queue int
	// Metrics counts; nil counts nothing. Logger gets what operators have to know,
	// at most once a minute; nil means slog.Default().
	Metrics *Metrics
	Logger  *slog.Logger
}

// Open opens the trail and starts the goroutine that writes it, which ends with
// Close. An error is a sentence for the operator: what is configured and does not
// work has to keep a server from starting.
func Open(opt Options) (*Log, error) {
	if opt.Sink == "" {
		opt.Sink = None
	}
	if opt.Sink == None && opt.FailClosed {
		return nil, errors.New(`audit: fail_closed needs a sink: what is not written cannot be relied on; set sink to "file" or "stdout", or leave fail_closed out`)
	}
	if opt.MaxSize == 0 {
		opt.MaxSize = DefaultMaxSize
	}
	if opt.Keep <= 0 {
		opt.Keep = DefaultKeep
	}
	if opt.Queue <= 0 {
		opt.Queue = DefaultQueue
	}
	if opt.Logger == nil {
		opt.Logger = slog.Default()
	}
	switch opt.Sink {
	case None:
		return newLog(nil, opt), nil
	case Stdout:
		out, err := openStdout()
		if err != nil {
			return nil, err
		}
		opt.Logger = opt.Logger.With("sink", Stdout)
		return newLog(out, opt).start(), nil
	case File:
		out, err := openFile(opt.Path, opt.MaxSize, opt.Keep, opt.Logger)
		if err != nil {
			return nil, err
		}
		opt.Logger = opt.Logger.With("path", opt.Path)
		return newLog(out, opt).start(), nil
	}
	return nil, fmt.Errorf(`audit: there is no sink %q; sink is "stdout", "file" or "none"`, opt.Sink)
}

// sink is what the writer writes to. Only the writer calls it.
type sink interface {
	// write writes whole lines. n bytes of them are in the kernel, also if err is
	// not nil.
	write(p []byte) (n int, err error)
	// torn tells, of what was there before the first write, that its last line is
	// not whole.
	torn() bool
	// group is how many bytes of lines may go into one write, so that what others
	// write to the same place falls between lines, not into them.
	group() int
	// reopen opens again what the path names now.
	reopen() error
	close() error
}

// The times that a log keeps.
const (
	// waitLimit is how long an event that must be written waits, and how long one
	// write to a pipe that nobody reads may take.
	waitLimit = 5 * time.Second
	// drainLimit is how long Close waits.
	drainLimit = 5 * time.Second
	// lingers is how long events that nobody waits for come together for one write.
	lingers = 10 * time.Millisecond
	// retryEvery is how often a sink that fails is tried without an event.
	retryEvery = time.Second
	// remindEvery is how often the log is told of what lasts.
	remindEvery = time.Minute
)

// enough is how many bytes of lines are worth a write of their own.
const enough = 32 << 10
