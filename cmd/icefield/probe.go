package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/mounts/rest"
)

// probeTimeout bounds a probe as a whole.
const probeTimeout = time.Minute

// probeFlags is what a probe can be told.
type probeFlags struct {
	warehouse, profile, tokenEnv, name string
	timeout                            time.Duration
}

func newProbe() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "probe URL",
		Short: "Read what a remote catalog says of itself and write the mount that fits it",
		Long: `Read what a remote catalog says of itself and write the mount that fits it.

URL is what the catalog's own clients use as uri. Without a path the places are
tried at which known catalogs lie. The result is a mount block for the
configuration; its comments say what was found and what is left to fill in.
Nothing is changed, neither there nor here. Without --token-env the catalog is
asked without a login, and many then say no more than that they want one.`,
		Args: cobra.ExactArgs(1),
	}
	var flags probeFlags
	cmd.Flags().StringVar(&flags.warehouse, "warehouse", "", "the `NAME` of the warehouse to ask for")
	cmd.Flags().StringVar(&flags.profile, "profile", "", "the `NAME` of the preset to use, rather than guess")
	cmd.Flags().StringVar(&flags.tokenEnv, "token-env", "", "the `VARIABLE` of the environment that holds a bearer token")
	cmd.Flags().StringVar(&flags.name, "name", "", "the `NAME` of the mount (default: after the warehouse or the host)")
	cmd.Flags().DurationVar(&flags.timeout, "timeout", 10*time.Second, "how long one answer may take")
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := flags.config(args[0])
		if err != nil {
			return err // used wrongly
		}
		found, err := probe(cmd.Context(), c)
		if err != nil {
			return failure{err}
		}
		m := fitting(found, flags)
		text := m.HCL()
		if *format == outputJSON {
			err = writeJSON(cmd.OutOrStdout(), map[string]any{"found": found, "mount": m.Name, "hcl": text, "to_do": m.ToDo})
		} else {
			_, err = fmt.Fprint(cmd.OutOrStdout(), text)
		}
		if err != nil {
			return failure{err}
		}
		return nil
	}
	return cmd
}

// config is the remote to probe. Its errors are those of the command line.
func (f probeFlags) config(address string) (rest.Config, error) {
	c := rest.Config{URL: address, Warehouse: f.warehouse, Request: f.timeout, UserAgent: "icefield/" + thisBuild().Version}
	if u, err := url.Parse(address); err != nil || u.User != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return c, errors.New(`the URL must be one like "https://catalog.example.com/api/catalog", without a login, a "?" or a "#"`)
	}
	if printable(f.warehouse) != f.warehouse {
		return c, errors.New("--warehouse holds a line break or another control character")
	}
	if f.timeout <= 0 {
		return c, errors.New("--timeout must be positive")
	}
	if f.profile != "" {
		p, ok := rest.ProfileNamed(f.profile)
		if !ok {
			var names []string
			for _, p := range rest.Profiles() {
				names = append(names, p.Name)
			}
			return c, fmt.Errorf("there is no profile %q; there are %q", f.profile, names)
		}
		c.Profile = p
	}
	if f.tokenEnv != "" {
		if os.Getenv(f.tokenEnv) == "" {
			return c, fmt.Errorf("the environment variable %s is not set", f.tokenEnv)
		}
		c.Auth = rest.Bearer(func() (string, error) { return os.Getenv(f.tokenEnv), nil })
	}
	if f.name != "" && !mountName.MatchString(f.name) {
		return c, fmt.Errorf("--name %q cannot name a mount: use letters, digits, _ and -", f.name)
	}
	return c, nil
}

func probe(ctx context.Context, c rest.Config) (*rest.Found, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	found, err := rest.Probe(ctx, c)
	if err != nil {
		// Whoever probes looks for the cause, which clients are not told.
		return nil, fmt.Errorf("no catalog was found at %s: %s", c.URL, printable(err.Error()))
	}
	return found, nil
}
