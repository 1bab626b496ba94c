package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// embedded is the configuration of a server that was given none. Its paths
// start at the working directory.
const embedded = `
mount "/" {
  backend            = "native"
  catalog_url        = "bolt://icefield-data/catalog.db"
  warehouse_location = "icefield-data/warehouse"
}
`

func newServe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the catalogs of a mount table as one",
		Long: `Serve the catalogs of a mount table as one.

Without --config this is a complete catalog of its own on 127.0.0.1:8181, which
keeps everything under ./icefield-data.

A server with --config reads it again on SIGHUP and whenever a file of it changes:
mounts are added, removed and changed while it runs. What cannot be put into
effect is refused whole, and the configuration before serves on; the log, /ready
and the metric icefield_config_last_reload_successful say so. Policies and
certificates are read again, in the same way, when their files change; SIGHUP also
opens the audit file anew, which another program may have rotated.

Without an auth block everybody is the operator, so that only loopback addresses
and unix sockets are served. SIGINT or SIGTERM lets requests under way finish; a
second one ends the server at once.`,
		Args: cobra.NoArgs,
	}
	path := cmd.Flags().StringP("config", "c", "", "a configuration `FILE`, or a folder with *.hcl and *.hcl.json files")
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		var cfg *config.Config
		var report *config.Report
		var from *origin
		var told chan os.Signal
		// An empty path is most likely a variable that is not set: what was meant to
		// be served is not the embedded catalog.
		if !cmd.Flags().Changed("config") {
			cfg, report = config.Parse("embedded.hcl", []byte(embedded), config.Options{})
		} else {
			// From here on a hangup asks for a reload, also one that comes before
			// there is anything to reload.
			told = make(chan os.Signal, 1)
			signal.Notify(told, syscall.SIGHUP)
			defer signal.Stop(told)
			from = newOrigin(*path)
			cfg, report = from.read()
		}
		if err := report.WriteText(cmd.ErrOrStderr()); err != nil {
			return err
		}
		if report.HasErrors() {
			return reported
		}
		return serve(cmd.Context(), cfg, from, told, newLogger(cmd.ErrOrStderr()))
	})
	return cmd
}
