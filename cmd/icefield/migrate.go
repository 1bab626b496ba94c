package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/native/store/migrate"
)

func newMigrate() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate --from URL --to URL",
		Short: "Move a native registry into another store, as from a file into a database",
		Long: `Move a native registry into another store, as from a file into a database.

The URLs are those of catalog_url: bolt:///var/lib/icefield/catalog.db, or
bolt://catalog.db in the current folder. A URL with a password is better not
written on a command line: put it into an environment variable and write
env:NAME.

What happens, in this order:
  1. Both registries are closed. --from can still be read, and answers every
     change with 503; --to must be empty, and is not to be used yet.
  2. Everything is copied: namespaces, tables and views, the log of all commits,
     the receipts of Idempotency-Keys, and jobs. The files of the tables stay
     where they are, and so does warehouse_location.
  3. Both are read and compared, record by record.
  4. --from is marked as moved and closed for good, and --to is opened.
Then change catalog_url in the configuration and start the servers again.

A bolt file that a running server holds cannot be opened: stop that server first.

Should it be interrupted, by anything: nothing is lost, and both sides stay
closed. Run the same command again; it goes on. "icefield migrate status" shows
how a registry stands, and "icefield migrate abort" gives the move up.`,
		Example: `  icefield migrate --from bolt:///var/lib/icefield/catalog.db --to bolt:///srv/icefield/catalog.db
  icefield migrate --from bolt:///var/lib/icefield/catalog.db --to env:PROD_DATABASE_URL`,
		Args: cobra.NoArgs,
	}
	from := cmd.Flags().String("from", "", "the `URL` of the registry to be moved, or env:NAME")
	to := cmd.Flags().String("to", "", "the `URL` of the empty store to move it into, or env:NAME")
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var sides [2]registryArg
		for i, flag := range []struct{ name, value string }{{"from", *from}, {"to", *to}} {
			var err error
			if sides[i], err = parseRegistryArg(flag.value); err != nil {
				return fmt.Errorf("--%s: %w", flag.name, err)
			}
		}
		if sides[0].place() == sides[1].place() {
			return fmt.Errorf("--from and --to are the same registry, %s", sides[0].place())
		}
		return failing(func(cmd *cobra.Command, _ []string) error {
			report, err := moveRegistry(cmd.Context(), sides[0], sides[1], newMeter(cmd.ErrOrStderr()))
			if err != nil {
				return err
			}
			if *format == outputJSON {
				return writeJSON(cmd.OutOrStdout(), report)
			}
			return report.write(cmd.OutOrStdout())
		})(cmd, nil)
	}
	cmd.AddCommand(newMigrateStatus(), newMigrateAbort())
	return cmd
}

// registryArg is a registry as a command line names it.
type registryArg struct {
	config.Registry
	// written is how the operator named it, if that may be repeated.
	written string
}

func (a registryArg) place() string { return a.Place() }

// parseRegistryArg reads a registry's URL, or the variable that holds it. Its
// errors repeat nothing that may be a secret.
func parseRegistryArg(text string) (registryArg, error) {
	if text == "" {
		return registryArg{}, errors.New("name a registry: a URL as in catalog_url, or env:NAME for an environment variable that holds it")
	}
	url, written := text, ""
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		if url = os.Getenv(name); url == "" {
			return registryArg{}, errors.New("the environment variable that is named there is not set, or is empty")
		}
		written = text
	}
	dir, err := os.Getwd()
	if err != nil {
		return registryArg{}, err
	}
	registry, err := config.ParseRegistry(url, dir)
	if err != nil {
		return registryArg{}, err
	}
	if written == "" {
		written = registry.Place()
	}
	return registryArg{Registry: registry, written: written}, nil
}

// openExisting opens a registry that must be there: a mistyped name would else
// be a new, empty one.
func openExisting(ctx context.Context, a registryArg) (store.Portable, error) {
	if a.Bolt != "" {
		if _, err := os.Stat(a.Bolt); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no registry file %s", a.Bolt)
		}
	}
	return openToMove(ctx, a)
}

func openToMove(ctx context.Context, a registryArg) (store.Portable, error) {
	registry, err := openRegistry(ctx, a.Registry)
	var held *bolt.InUseError
	if errors.As(err, &held) {
		return nil, fmt.Errorf("the registry file %s is held by another process, most likely a running server. Nothing was done. Stop that server, run this again, and start the server afterwards, with the catalog_url that it is to have then", a.Bolt)
	}
	return registry, err
}

// moveRegistry opens both stores and moves one into the other.
func moveRegistry(ctx context.Context, from, to registryArg, meter *meter) (_ *moveReport, err error) {
	source, err := openExisting(ctx, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := holdsSomething(ctx, source, from); err != nil {
		return nil, err
	}
	destination, err := openToMove(ctx, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, destination.Close()) }()
	begin := time.Now()
	result, err := migrate.Run(ctx, source, destination, migrate.Options{From: from.place(), To: to.place(), Progress: meter.show})
	meter.end()
	var refused *migrate.Refused
	switch {
	case errors.As(err, &refused):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w\nNothing is lost. What was closed so far stays closed. To go on, run the same command again.\nTo give the move up instead: icefield migrate abort %s, and then: icefield migrate abort %s",
			interrupted(ctx, err), to.written, from.written)
	}
	return newMoveReport(from, to, result, time.Since(begin)), nil
}

// interrupted says in words that a signal ended the work.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return errors.New("the move was interrupted")
	}
	return err
}

// holdsSomething refuses to move nothing: more likely the URL is mistyped.
func holdsSomething(ctx context.Context, source store.Portable, from registryArg) error {
	fence, err := source.CurrentFence(ctx)
	if err != nil {
		return err
	}
	counts, err := source.Counts(ctx)
	if err != nil {
		return err
	}
	if fence == nil && counts.Total() == 0 {
		return fmt.Errorf("the registry %s holds nothing, so there is nothing to move. Is --from right?", from.place())
	}
	return nil
}
