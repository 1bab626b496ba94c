package main

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy/authn"
)

func newToken() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make API keys, and what a configuration holds of them",
		Long: `A configuration holds the hash of an API key, never the key.

"icefield token mint" makes a key and shows it once; "icefield token hash" shows
the hash of a key that exists.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenHash(), newTokenMint())
	return cmd
}

// holder is whose key it is: what goes into its block.
type holder struct {
	name, tenant string
	roles        []string
	operator     bool
}

// flags gives a command the flags of a block.
func (h *holder) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.name, "name", "ci", "the `NAME` of the key: its holder is key/NAME to policies")
	cmd.Flags().StringVar(&h.tenant, "tenant", "", "the `TENANT` that its holder belongs to")
	cmd.Flags().StringArrayVar(&h.roles, "role", nil, "a `ROLE` of its holder in the tenant; may stand several times (default: reader)")
	cmd.Flags().BoolVar(&h.operator, "operator", false, "make its holder an operator: an admin of every tenant and of the server")
}

// complete checks the flags, and stands in for the role: the least there is.
func (h *holder) complete() error {
	if err := mounts.CheckName(h.name); err != nil {
		return fmt.Errorf("--name %q cannot name a key: use letters, digits, _ and -, begin with none of the dashes, and use no word of the catalog's own paths, as tables", h.name)
	}
	if h.tenant == "" && !h.operator {
		return errors.New("say whose key it is: --tenant NAME, or --operator for who runs the server")
	}
	if h.roles == nil && !h.operator {
		h.roles = []string{"reader"}
	}
	return nil
}

// block is the block of a configuration for a key with this hash.
func (h *holder) block(hash string) string {
	var lines [][2]string
	if h.tenant != "" {
		lines = append(lines, [2]string{"tenant", hclText(h.tenant)})
	}
	if len(h.roles) > 0 {
		var roles []string
		for _, role := range h.roles {
			roles = append(roles, hclText(role))
		}
		lines = append(lines, [2]string{"roles", "[" + strings.Join(roles, ", ") + "]"})
	}
	if h.operator {
		lines = append(lines, [2]string{"operator", "true"})
	}
	lines = append(lines, [2]string{"hash", hclText(hash)})
	width := 0
	for _, line := range lines {
		width = max(width, len(line[0]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "auth {\n  api_key %s {\n", hclText(h.name))
	for _, line := range lines {
		fmt.Fprintf(&b, "    %-*s = %s\n", width, line[0], line[1])
	}
	b.WriteString("  }\n}\n")
	return b.String()
}

// hclText is a text in a configuration, where "${" and "%{" begin templates.
func hclText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "${", "$${", "%{", "%%{").Replace(s) + `"`
}

// keyReport is what both commands say.
type keyReport struct {
	// Key is there when it was made just now.
	Key   string `json:"key,omitempty"`
	Hash  string `json:"hash"`
	Block string `json:"block"`
}

func (h *holder) report(key string) (keyReport, error) {
	sum, err := authn.HashKey(key)
	if err != nil {
		return keyReport{}, err
	}
	hash := "sha256:" + hex.EncodeToString(sum[:])
	return keyReport{Hash: hash, Block: h.block(hash)}, nil
}

func newTokenHash() *cobra.Command {
	var h holder
	var variable string
	cmd := &cobra.Command{
		Use:   "hash",
		Short: "Show the hash of an API key",
		Long: `Show the hash of an API key, and the block for it.

The key is asked for, or read from standard input, or from the environment
variable that --env names. It is never an argument, since everybody on a machine
can see those.`,
		Example: "  icefield token hash --name ci --tenant acme --role writer < key.txt",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return errors.New("a key is not given as an argument, where everybody on this machine could see it; write it to standard input, or name a variable with --env, and take a new key if this was a real one")
			}
			return nil
		},
	}
	h.flags(cmd)
	cmd.Flags().StringVar(&variable, "env", "", "the environment `VARIABLE` that holds the key")
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := h.complete(); err != nil {
			return err
		}
		return failing(func(cmd *cobra.Command, _ []string) error {
			key, err := readKey(cmd, variable)
			if err != nil {
				return err
			}
			report, err := h.report(key)
			if err != nil {
				return err
			}
			if *format == outputJSON {
				return writeJSON(cmd.OutOrStdout(), report)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", report.Hash, report.Block)
			return err
		})(cmd, args)
	}
	return cmd
}

func newTokenMint() *cobra.Command {
	var h holder
	cmd := &cobra.Command{
		Use:   "mint",
		Short: "Make an API key",
		Long: `Make a random API key, and show it with the block for it.

The key is shown this once and kept nowhere. Nothing is sent to any server: the
key works when a server has the block.`,
		Example: "  icefield token mint --name ci --tenant acme --role writer",
		Args:    cobra.NoArgs,
	}
	h.flags(cmd)
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := h.complete(); err != nil {
			return err
		}
		return failing(func(cmd *cobra.Command, _ []string) error {
			key := authn.NewKey(h.name)
			report, err := h.report(key)
			if err != nil {
				return err
			}
			if report.Key = key; *format == outputJSON {
				return writeJSON(cmd.OutOrStdout(), report)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "The key, which is shown this once:\n\n    %s\n\nThe configuration holds its hash:\n\n%s", key, report.Block)
			return err
		})(cmd, args)
	}
	return cmd
}

// readKey reads a key from a variable, a terminal or standard input.
func readKey(cmd *cobra.Command, variable string) (string, error) {
	if variable != "" {
		key, ok := os.LookupEnv(variable)
		if !ok || key == "" {
			return "", fmt.Errorf("the environment variable %s is not set, or empty", variable)
		}
		return key, nil
	}
	in := cmd.InOrStdin()
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(cmd.ErrOrStderr(), "API key: ")
		key, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		return string(key), err
	}
	// One line more than a key can have is enough to see that it is too long.
	line, err := bufio.NewReader(io.LimitReader(in, authn.MaxKey+3)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("standard input: %w", err)
	}
	key := strings.TrimRight(line, "\r\n")
	if key == "" {
		return "", errors.New("standard input holds no key; write the key to it, or name a variable with --env")
	}
	return key, nil
}
