package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/spf13/cobra"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/icefield/icefield/policy/cedar"
)

// decisionTable is a file of expected decisions.
type decisionTable struct {
	Decisions []expectation `json:"decisions"`
}

// expectation is one question and how it is to be decided.
type expectation struct {
	Title string `json:"title"`
	question
	// Expect is "allow" or "deny".
	Expect string `json:"expect"`
	// Policies are the ids of those that decide; not looked at if not given.
	Policies *[]string `json:"policies,omitempty"`
	// Restricted tells whether the read is bound; not looked at if not given.
	Restricted *bool `json:"restricted,omitempty"`
}

// tried is what came of one expectation.
type tried struct {
	Title string `json:"title"`
	OK    bool   `json:"ok"`
	// Problem says what is not as expected.
	Problem string `json:"problem,omitempty"`
	// Decision is "allow" or "deny", Policies decided.
	Decision   string   `json:"decision"`
	Policies   []string `json:"policies"`
	Restricted bool     `json:"restricted"`
}

const (
	maxTable     = 8 << 20
	maxDecisions = 100_000
)

func newPolicyTest() *cobra.Command {
	var flags policyFlags
	cmd := &cobra.Command{
		Use:   "test TABLE…",
		Short: "Hold policies to tables of expected decisions",
		Long: `Hold policies to tables of expected decisions.

A table is a file *.hcl with blocks, or *.json with the same under "decisions". It
lies elsewhere than a folder that is a configuration.

  decision "analysts read orders" {
    principal = "corp/alice"
    tenant    = "acme"
    roles     = ["analyst"]
    action    = "loadTable"
    resource  = "prod.sales.orders"
    expect    = "allow"
  }

A decision may also have: policies, the ids of those that decide; restricted, whether
the read is bound; operator, login, client, time, write and referenced_by, as the
flags of "icefield policy explain"; of a principal "key/ci" tenant, roles and operator are
the configuration's, unless they are said. It fails if any decision is another.`,
		Args: cobra.MinimumNArgs(1),
	}
	flags.questionFlags(cmd)
	format := outputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, paths []string) error {
		set, cfg, err := flags.load(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		where, err := flags.owned(cfg)
		if err != nil {
			return err
		}
		var all []expectation
		for _, path := range paths {
			table, err := readTable(path)
			if err != nil {
				return failure{err}
			}
			if all = append(all, table.Decisions...); len(all) > maxDecisions {
				return failure{fmt.Errorf("there are more than %d decisions", maxDecisions)}
			}
		}
		if len(all) == 0 {
			return failure{errors.New("there is no decision in it")}
		}
		results := make([]tried, len(all))
		failed := 0
		for i := range all {
			if results[i] = all[i].try(cmd, set, where, time.Now()); !results[i].OK {
				failed++
			}
		}
		if *format == outputJSON {
			err = writeJSON(cmd.OutOrStdout(), map[string]any{"ok": failed == 0, "failed": failed, "decisions": results})
		} else {
			err = writeTried(cmd.OutOrStdout(), cmd.ErrOrStderr(), results, failed)
		}
		switch {
		case err != nil:
			return failure{err}
		case failed > 0:
			return reported
		}
		return nil
	}
	return cmd
}

// try decides one and compares.
func (x *expectation) try(cmd *cobra.Command, set *cedar.Set, where *owned, now time.Time) tried {
	t := tried{Title: x.Title, Policies: []string{}, Decision: "deny"}
	if x.Expect != "allow" && x.Expect != "deny" {
		t.Problem = fmt.Sprintf(`expect is %q: it has to be "allow" or "deny"`, x.Expect)
		return t
	}
	q, err := x.ask(set, where, now)
	if err != nil {
		t.Problem = err.Error()
		return t
	}
	d := set.Decide(cmd.Context(), q)
	if d.Allowed {
		t.Decision = "allow"
	}
	if d.Policies != nil {
		t.Policies = d.Policies
	}
	t.Restricted = !d.Restrictions.Empty()
	switch {
	case t.Decision != x.Expect:
		t.Problem = fmt.Sprintf("expected %s, decided %s by %s", x.Expect, t.Decision, byPolicies(t.Policies))
	case x.Policies != nil && !slices.Equal(slices.Sorted(slices.Values(*x.Policies)), t.Policies):
		t.Problem = fmt.Sprintf("decided %s as expected, but by %s", t.Decision, byPolicies(t.Policies))
	case x.Restricted != nil && *x.Restricted != t.Restricted:
		t.Problem = fmt.Sprintf("expected restricted = %v; decided %s by %s", *x.Restricted, t.Decision, byPolicies(t.Policies))
	}
	if d.Err != nil && t.Problem != "" {
		t.Problem += ": " + d.Err.Error()
	}
	t.OK = t.Problem == ""
	return t
}

func byPolicies(ids []string) string {
	if len(ids) == 0 {
		return "no policy"
	}
	quoted := make([]string, len(ids))
	for i, id := range ids {
		quoted[i] = fmt.Sprintf("%q", id)
	}
	return strings.Join(quoted, ", ")
}

func writeTried(stdout, stderr io.Writer, results []tried, failed int) error {
	for _, t := range results {
		if !t.OK {
			fmt.Fprintf(stderr, "failed: %s: %s\n", printable(t.Title), printable(t.Problem))
		}
	}
	noun := "decisions"
	if len(results) == 1 {
		noun = "decision"
	}
	_, err := fmt.Fprintf(stdout, "%d %s, %d failed\n", len(results), noun, failed)
	return err
}

// readTable reads a file of expected decisions.
func readTable(path string) (*decisionTable, error) {
	f, err := os.Open(path) // #nosec G304 -- named on the command line, and read with the rights of whoever runs the command
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTable+1))
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxTable:
		return nil, fmt.Errorf("%s is longer than %d MiB", path, maxTable>>20)
	}
	table := &decisionTable{}
	switch filepath.Ext(path) {
	case ".json":
		err = strictly(text, table)
	case ".hcl":
		table, err = tableOfBlocks(path, text)
	default:
		return nil, fmt.Errorf("%s is neither *.hcl nor *.json", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no table of decisions: %w", path, err)
	}
	return table, nil
}

// strictly decodes JSON that holds nothing else.
func strictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something behind it")
	}
	return nil
}

// tableOfBlocks reads a table that is written as HCL: each block as the object
// that it would be in JSON.
func tableOfBlocks(path string, text []byte) (*decisionTable, error) {
	file, diags := hclparse.NewParser().ParseHCL(text, path)
	if diags.HasErrors() {
		return nil, firstOf(diags)
	}
	content, diags := file.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "decision", LabelNames: []string{"title"}}}})
	if diags.HasErrors() {
		return nil, firstOf(diags)
	}
	table := &decisionTable{}
	for _, block := range content.Blocks {
		attributes, diags := block.Body.JustAttributes()
		if diags.HasErrors() {
			return nil, firstOf(diags)
		}
		object := map[string]any{"title": block.Labels[0]}
		for name, a := range attributes {
			v, diags := a.Expr.Value(nil)
			if diags.HasErrors() {
				return nil, firstOf(diags)
			}
			if name == "title" {
				return nil, fmt.Errorf("%s: the title stands before the block", a.NameRange)
			}
			object[name] = ctyjson.SimpleJSONValue{Value: v}
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", block.DefRange, err)
		}
		var x expectation
		if err := strictly(text, &x); err != nil {
			return nil, fmt.Errorf("%s: %w", block.DefRange, err)
		}
		table.Decisions = append(table.Decisions, x)
	}
	return table, nil
}

// firstOf is the first error, with its place.
func firstOf(diags hcl.Diagnostics) error {
	for _, d := range diags {
		if d.Severity == hcl.DiagError {
			return d
		}
	}
	return diags
}
