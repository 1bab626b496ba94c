package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/migrate"
)

// registryStatus is how a registry stands with a move.
type registryStatus struct {
	Registry string `json:"registry"`
	// State is "open", "source", "destination" or "moved".
	State     string         `json:"state"`
	Migration string         `json:"migration,omitempty"`
	Peer      string         `json:"peer,omitempty"`
	Since     string         `json:"since,omitempty"`
	Counts    registryCounts `json:"counts"`
}

func newMigrateStatus() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status URL",
		Short: "Show whether a registry is being moved, was moved, or is open",
		Args:  cobra.ExactArgs(1),
	}
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arg, err := parseRegistryArg(args[0])
		if err != nil {
			return err
		}
		return failing(func(cmd *cobra.Command, _ []string) error {
			status, err := statusOf(cmd.Context(), arg)
			if err != nil {
				return err
			}
			if *format == outputJSON {
				return writeJSON(cmd.OutOrStdout(), status)
			}
			return status.write(cmd.OutOrStdout())
		})(cmd, args)
	}
	return cmd
}

func statusOf(ctx context.Context, arg registryArg) (_ *registryStatus, err error) {
	registry, err := openExisting(ctx, arg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, registry.Close()) }()
	fence, err := registry.CurrentFence(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := registry.Counts(ctx)
	if err != nil {
		return nil, err
	}
	status := &registryStatus{Registry: arg.place(), State: "open", Counts: countsOf(counts)}
	if fence != nil {
		status.State = stateOf(fence.Role)
		status.Migration, status.Peer, status.Since = fence.Migration.String(), fence.Peer, fence.Since.UTC().Format(time.RFC3339)
	}
	return status, nil
}

func stateOf(role store.FenceRole) string {
	switch role {
	case store.FenceSource:
		return "source"
	case store.FenceDestination:
		return "destination"
	case store.FenceMoved:
		return "moved"
	}
	return "unknown"
}

func (s *registryStatus) write(w io.Writer) error {
	sentence := "open: it is not being moved"
	switch s.State {
	case "source":
		sentence = fmt.Sprintf("being moved to %s since %s: it can be read, and takes no changes", printable(s.Peer), s.Since)
	case "destination":
		sentence = fmt.Sprintf("being filled from %s since %s: it cannot be used yet", printable(s.Peer), s.Since)
	case "moved":
		sentence = fmt.Sprintf("moved to %s at %s: that one is the registry now", printable(s.Peer), s.Since)
	}
	_, err := fmt.Fprintf(w, "%s\n  state      %s\n  records    %s\n", s.Registry, sentence, s.Counts)
	if err == nil && s.Migration != "" {
		_, err = fmt.Fprintf(w, "  migration  %s\n", s.Migration)
	}
	return err
}

// abortReport is what an abort did.
type abortReport struct {
	Registry  string `json:"registry"`
	State     string `json:"was"`
	Migration string `json:"migration"`
	Peer      string `json:"peer"`
	Cleared   bool   `json:"cleared"`
}

func newMigrateAbort() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "abort URL",
		Short: "Give up a move at one of its two sides, and open that registry again",
		Long: `Give up a move at one of its two sides, and open that registry again.

Abort the copy first: it is emptied, then opened. Then abort the original: it
takes changes again, as if nothing had been.

A registry that was moved, whole, is another matter: the copy is the registry
now, and may have been changed since. Opening the original beside it makes two
registries over the same files, which destroy each other's tables. Only if nobody
used the copy, and nobody will, is --reopen-moved right.`,
		Args: cobra.ExactArgs(1),
	}
	reopen := cmd.Flags().Bool("reopen-moved", false, "open a registry even though it was moved: nobody used the copy, and nobody will")
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arg, err := parseRegistryArg(args[0])
		if err != nil {
			return err
		}
		return failing(func(cmd *cobra.Command, _ []string) error {
			report, err := abortMove(cmd.Context(), arg, *reopen)
			if err != nil {
				return err
			}
			if *format == outputJSON {
				return writeJSON(cmd.OutOrStdout(), report)
			}
			return report.write(cmd.OutOrStdout())
		})(cmd, args)
	}
	return cmd
}

func abortMove(ctx context.Context, arg registryArg, reopen bool) (_ *abortReport, err error) {
	registry, err := openExisting(ctx, arg)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, registry.Close()) }()
	done, err := migrate.Abort(ctx, registry, arg.place(), migrate.AbortOptions{EvenIfMoved: reopen})
	if err != nil {
		var refused *migrate.Refused
		if fence, looked := registry.CurrentFence(ctx); errors.As(err, &refused) && looked == nil && fence != nil && fence.Role == store.FenceMoved {
			err = fmt.Errorf("%w (--reopen-moved)", err)
		}
		return nil, err
	}
	return &abortReport{Registry: arg.place(), State: stateOf(done.Fence.Role), Migration: done.Fence.Migration.String(), Peer: done.Fence.Peer, Cleared: done.Cleared}, nil
}

func (r *abortReport) write(w io.Writer) error {
	what, next := "takes changes again", fmt.Sprintf("%s may hold part of a copy still: abort the move there too, or run the move again.", printable(r.Peer))
	switch {
	case r.Cleared:
		what, next = "is empty and open", fmt.Sprintf("%s is closed to changes still: abort the move there too, or run the move again.", printable(r.Peer))
	case r.State == "moved":
		next = fmt.Sprintf("Make sure that nobody uses %s, and remove it.", printable(r.Peer))
	}
	_, err := fmt.Fprintf(w, "The move %s was given up: %s %s.\n%s\n", r.Migration, r.Registry, what, next)
	return err
}
