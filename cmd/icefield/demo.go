package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/cmd/icefield/internal/sample"
)

func newDemo() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show two catalogs as one, with nothing else installed",
		Long: `Show two catalogs as one, with nothing else installed.

It starts a catalog that plays somebody else's, and a server in front of it that
mounts it beside catalogs of its own, with a small table of rows in each. It
prints the tree as an engine sees it, and the lines to paste into an engine.
Then it keeps serving until it is interrupted.`,
		Args: cobra.NoArgs,
	}
	port := cmd.Flags().Uint16("port", 0, "the `PORT` of the server on 127.0.0.1 (default any free one)")
	dir := cmd.Flags().String("dir", "", "a `FOLDER` to keep everything in; it must be empty or not exist (default a temporary one, removed at the end)")
	once := cmd.Flags().Bool("once", false, "end after printing")
	format := outputFlag(cmd)
	cmd.RunE = failing(func(cmd *cobra.Command, _ []string) error {
		return demo(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), *port, *dir, *once, *format)
	})
	return cmd
}

// demo sets the scene, shows it, and serves it until ctx ends.
func demo(ctx context.Context, stdout, stderr io.Writer, port uint16, dir string, once bool, format outputFormat) (err error) {
	dir, clean, err := demoFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean()) }()
	scene, err := openScene(ctx, dir, port, slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scene.close()) }()
	result, err := scene.look(ctx)
	if err != nil {
		return err
	}
	if format == outputJSON {
		err = writeJSON(stdout, result)
	} else {
		err = result.write(stdout)
	}
	if err != nil || once {
		return err
	}
	if format == outputText {
		fmt.Fprintf(stdout, "Serving until you press Ctrl-C. There is no authentication: who can reach %s may do everything.\n", result.URL)
	}
	return scene.front.wait(ctx)
}

// demoFolder returns a folder to work in and what tidies up.
func demoFolder(dir string) (string, func() error, error) {
	if dir == "" {
		dir, err := os.MkdirTemp("", "icefield-demo-")
		return dir, func() error { return os.RemoveAll(dir) }, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- holds the demonstration's tables, which engines of other users may read
		return "", nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", nil, err
	}
	if len(entries) > 0 {
		return "", nil, fmt.Errorf("the folder %s is not empty; name an empty or a new one with --dir", dir)
	}
	return dir, func() error { return nil }, nil
}

// sisterConfig is somebody else's catalog: an Icefield of its own.
const sisterConfig = `# Somebody else's catalog.
server {
  name   = "sister"
  listen = "127.0.0.1:0"
}

mount "/" {
  backend            = "native"
  catalog_url        = "bolt://sister/catalog.db"
  warehouse_location = "sister/warehouse"
}
`

// frontConfig is the server that engines see. Its verbs are the port of the
// server and the URL of the sister.
const frontConfig = `# The server in front: one tree over three catalogs.
server {
  listen = "127.0.0.1:%d"
}

# Names that no other mount claims.
mount "/" {
  backend            = "native"
  catalog_url        = "bolt://root/catalog.db"
  warehouse_location = "root/warehouse"
}

# A catalog of its own under the name "prod".
mount "prod" {
  backend            = "native"
  catalog_url        = "bolt://prod/catalog.db"
  warehouse_location = "prod/warehouse"
  owner              = "acme"
}

# Somebody else's catalog under the name "partner".
mount "partner" {
  backend     = "rest"
  catalog_url = "%s"
  owner       = "acme"
}
`

// scene is the two servers of the demonstration.
type scene struct{ sister, front *server }

// openScene starts both servers in a folder and fills their catalogs.
func openScene(ctx context.Context, dir string, port uint16, logger *slog.Logger) (s *scene, err error) {
	s = &scene{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.sister, err = startText(ctx, filepath.Join(dir, "sister.hcl"), sisterConfig, logger); err != nil {
		return s, err
	}
	partner, err := sample.Connect(ctx, s.sister.url(), "")
	if err != nil {
		return s, err
	}
	if err := fill(ctx, partner, sample.Orders("shared", "orders")); err != nil {
		return s, err
	}
	text := fmt.Sprintf(frontConfig, port, s.sister.url())
	if s.front, err = startText(ctx, filepath.Join(dir, "icefield.hcl"), text, logger); err != nil {
		return s, err
	}
	tree, err := sample.Connect(ctx, s.front.url(), "")
	if err != nil {
		return s, err
	}
	return s, fill(ctx, tree, sample.Events("prod", "analytics", "events"), sample.Notes("scratch", "notes"))
}

// fill creates tables with their rows, and the namespaces that they lie in.
func fill(ctx context.Context, c *sample.Catalog, tables ...sample.Table) error {
	for _, t := range tables {
		if err := c.CreateNamespace(ctx, t.Namespace...); err != nil {
			return err
		}
		if err := c.CreateTable(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// startText writes a configuration and starts a server with it.
func startText(ctx context.Context, path, text string, logger *slog.Logger) (*server, error) {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cfg, report := config.Load(path, config.Options{})
	if report.HasErrors() {
		return nil, fmt.Errorf("%s: %s: %s", path, report.Findings[0].Summary, report.Findings[0].Detail)
	}
	s, err := startServer(cfg, logger)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *scene) close() error {
	var failed []error
	for _, server := range []*server{s.front, s.sister} {
		if server != nil {
			failed = append(failed, server.close())
		}
	}
	return errors.Join(failed...)
}
