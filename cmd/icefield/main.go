package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM.
// The second one ends the process at once, as it would without us. Both come
// through one channel, so the second is not lost however soon it follows. The
// returned function gives the signals back.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals, ended := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-signals:
			cancel()
		case <-ended:
			return
		}
		select {
		case again := <-signals:
			signal.Reset(again)
			_ = syscall.Kill(syscall.Getpid(), again.(syscall.Signal))
		case <-ended:
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(ended)
		watch.Wait()
		cancel()
	})
}

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// failure marks an error of a command that was used rightly; an empty one was
// reported already.
type failure struct{ err error }

func (f failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f failure) Unwrap() error { return f.err }

// reported is the failure of a command that has written why.
var reported = failure{}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	var failed failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &failed):
		if failed.err != nil {
			// Several failures are joined with line breaks.
			fmt.Fprintf(stderr, "icefield: %s\n", strings.ReplaceAll(failed.err.Error(), "\n", "\nicefield: "))
		}
		return exitFailed
	}
	fmt.Fprintf(stderr, "icefield: %s\nRun \"%s --help\" for how to use it.\n", strings.TrimSpace(err.Error()), cmd.CommandPath())
	return exitUsage
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "icefield",
		Short: "One URL over many Iceberg catalogs",
		Long: `Icefield serves many Iceberg REST catalogs as one: its own and other people's,
mounted side by side in one namespace tree, behind one URL.

Start with "icefield demo" to see it, or with "icefield serve" to have a
complete catalog on this machine.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newServe(), newCheck(), newMounts(), newJobs(), newMigrate(), newPolicy(), newToken(), newDemo(), newVersion())
	return root
}

// failing marks the errors of a command's work, as against its usage.
func failing(work func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := work(cmd, args)
		var failed failure
		if err == nil || errors.As(err, &failed) {
			return err
		}
		return failure{err}
	}
}
