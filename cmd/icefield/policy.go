package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/policy/cedar"
)

func newPolicy() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Check policies, try them, and ask them why",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheck(), newPolicyTest(), newPolicyExplain())
	return cmd
}

// policyFlags say which policies a command is about, where no configuration does,
// and who owns what.
type policyFlags struct {
	config         string
	files, tenants []string
	builtin        bool
	owners         []string
}

// sourceFlags gives a command the flags that name policies.
func (f *policyFlags) sourceFlags(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "policies", nil, "a `GLOB` of policy files, in place of a configuration's; may stand several times")
	cmd.Flags().StringArrayVar(&f.tenants, "tenant-policies", nil, "a `TENANT=GLOB` of the policy files of a tenant, with --policies")
	cmd.Flags().BoolVar(&f.builtin, "builtin", false, "put the built-in policies into effect too, with --policies")
}

// questionFlags are those of the commands that decide something.
func (f *policyFlags) questionFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.config, "config", "c", "", "the configuration, a `FILE|DIR`")
	f.sourceFlags(cmd)
	cmd.Flags().StringArrayVar(&f.owners, "owner", nil, "a `NAME=TENANT` that owns a mount or a top-level namespace, over what the configuration says")
}

func (f *policyFlags) named() bool { return len(f.files)+len(f.tenants) > 0 || f.builtin }

// misconfigured is the error of a configuration that has mistakes.
type misconfigured struct{ report *config.Report }

func (misconfigured) Error() string { return "the configuration has mistakes" }

// source is what to load, and the configuration that says so, nil for none. The
// error is one of usage, or misconfigured.
func (f *policyFlags) source() (cedar.Source, *config.Config, error) {
	if f.config == "" && !f.named() {
		return cedar.Source{}, nil, errors.New("say which policies: --config FILE, or --policies GLOB")
	}
	var cfg *config.Config
	src := cedar.Source{Tenants: map[string][]string{}}
	if f.config != "" {
		var report *config.Report
		if cfg, report = config.Load(f.config, config.Options{}); report.HasErrors() {
			return src, nil, misconfigured{report}
		}
		src.Files, src.Builtin = cfg.Policy.Files, cfg.Policy.Builtin
		for _, t := range cfg.Tenants {
			src.Tenants[t.Name] = t.Policies
		}
	}
	if f.named() {
		src = cedar.Source{Files: f.files, Builtin: f.builtin, Tenants: map[string][]string{}}
		for _, pair := range f.tenants {
			tenant, glob, ok := strings.Cut(pair, "=")
			if !ok || tenant == "" || glob == "" {
				return src, nil, fmt.Errorf(`--tenant-policies %q is not like "acme=policies/acme/*.cedar"`, pair)
			}
			src.Tenants[tenant] = append(src.Tenants[tenant], glob)
		}
	}
	return src, cfg, nil
}

// load loads the policies, or says on stderr what is wrong with them.
func (f *policyFlags) load(stderr io.Writer) (*cedar.Set, *config.Config, error) {
	src, cfg, err := f.source()
	var mistakes misconfigured
	if errors.As(err, &mistakes) {
		if err := mistakes.report.WriteText(stderr); err != nil {
			return nil, nil, failure{err}
		}
		return nil, nil, reported
	}
	if err != nil {
		return nil, nil, err
	}
	set, err := cedar.Load(src)
	if err != nil {
		writeProblems(stderr, err)
		return nil, nil, reported
	}
	return set, cfg, nil
}

func writeProblems(w io.Writer, err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(w, "error: %s\n", printable(line))
	}
}

// checkedPolicies is the result of policy check.
type checkedPolicies struct {
	OK       bool            `json:"ok"`
	Policies []cedar.Policy  `json:"policies"`
	Findings []cedar.Finding `json:"findings"`
	More     int             `json:"more_findings,omitempty"`
}

func newPolicyCheck() *cobra.Command {
	var flags policyFlags
	cmd := &cobra.Command{
		Use:   "check [FILE|DIR]",
		Short: "Check policies against the schema, and list them",
		Long: `Check policies against the schema, and list them.

The argument is the configuration that names them: a file, or a folder with *.hcl
and *.hcl.json files; without one it is the current folder. With --policies the
files are named here, and no configuration is read. Nothing is sent to anybody.`,
		Args: cobra.MaximumNArgs(1),
	}
	flags.sourceFlags(cmd)
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case flags.named() && len(args) > 0:
			return errors.New("name a configuration or policy files, not both")
		case len(args) > 0:
			flags.config = args[0]
		case !flags.named():
			flags.config = "."
		}
		result, err := flags.check(cmd.ErrOrStderr(), *format)
		if err != nil {
			return err
		}
		switch {
		case *format == outputJSON:
			err = writeJSON(cmd.OutOrStdout(), result)
		case result.OK:
			err = writePolicies(cmd.OutOrStdout(), result.Policies)
		}
		switch {
		case err != nil:
			return failure{err}
		case !result.OK:
			return reported
		}
		return nil
	}
	return cmd
}

// check loads the policies. What is wrong with them, or with the configuration
// that names them, is in the result, and in text on stderr if that is the format.
func (f *policyFlags) check(stderr io.Writer, format outputFormat) (*checkedPolicies, error) {
	result := &checkedPolicies{Policies: []cedar.Policy{}, Findings: []cedar.Finding{}}
	src, _, err := f.source()
	var mistakes misconfigured
	if errors.As(err, &mistakes) {
		if format == outputText {
			if err := mistakes.report.WriteText(stderr); err != nil {
				return nil, failure{err}
			}
		}
		for _, m := range mistakes.report.Findings {
			if m.Severity == "error" {
				result.Findings = append(result.Findings, cedar.Finding{File: m.File, Line: m.Line, Column: m.Column, Problem: m.Summary + ": " + m.Detail})
			}
		}
		result.More = mistakes.report.More
		return result, nil
	}
	if err != nil {
		return nil, err
	}
	set, err := cedar.Load(src)
	var problems *cedar.Problems
	switch {
	case err == nil:
		result.OK, result.Policies = true, set.Policies()
	case errors.As(err, &problems):
		result.Findings, result.More = problems.Findings, problems.More
		if format == outputText {
			writeProblems(stderr, err)
		}
	default:
		return nil, failure{err}
	}
	return result, nil
}

func writePolicies(w io.Writer, list []cedar.Policy) error {
	var b strings.Builder
	tabs := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tabs, "POLICY\tEFFECT\tFOR\tRESTRICTS\tPLACE\tDESCRIPTION")
	for _, p := range list {
		scope, restricts := "everything", "-"
		if p.Tenant != "" {
			scope = "tenant " + p.Tenant
		}
		if p.Restricts {
			restricts = "reads"
		}
		fmt.Fprintf(tabs, "%s\t%s\t%s\t%s\t%s:%d:%d\t%s\n", printable(p.ID), p.Effect, printable(scope), restricts, printable(p.File), p.Line, p.Column, printable(p.Description))
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
