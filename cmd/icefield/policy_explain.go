package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/cedar"
)

// explained is the result of policy explain.
type explained struct {
	Allowed bool `json:"allowed"`
	// Policies decided, by id.
	Policies []string `json:"policies"`
	Error    string   `json:"error,omitempty"`
	// Principal is who asks, with what the configuration says of the login.
	Principal asking `json:"principal"`
	// Resource is the entity that policies know it as, Tenant whom it belongs to.
	Resource string `json:"resource"`
	Tenant   string `json:"tenant"`
	// Permits and Forbids are in effect, Failed cannot be evaluated, and Unmet have
	// conditions that are not met.
	Permits []cedar.Policy `json:"permits"`
	Forbids []cedar.Policy `json:"forbids"`
	Failed  []cedar.Policy `json:"failed"`
	Unmet   []cedar.Policy `json:"unmet"`
	// Filters and Masks bind the read; Restricted tells whether anything does.
	Restricted bool              `json:"restricted"`
	Filters    []json.RawMessage `json:"row_filters,omitempty"`
	Masks      map[string]string `json:"masks,omitempty"`
}

// asking is the principal of a question.
type asking struct {
	ID       string   `json:"id"`
	Tenant   string   `json:"tenant,omitempty"`
	Roles    []string `json:"roles"`
	Operator bool     `json:"operator"`
}

func newPolicyExplain() *cobra.Command {
	var flags policyFlags
	var q question
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say which policies decide a question, and what they say of the read",
		Long: `Say which policies decide a question, and what they say of the read.

The resource is named as in the tree, "prod.sales.orders", and its kind follows
from the action; "namespace:prod.sales" or "view:prod.sales.v" says it. Names that
hold dots are written as a list: table:["prod","sales","a.b"]. The text of an entity,
Table::"prod/sales/orders" as in the audit trail, does as well. Whom it belongs to is
what the configuration says of its mount, or --owner. The policies are those of the
configuration, or of --policies.

What the configuration says of an api_key or a certificate need not be said here.
Of who logs in by an issuer the token says the tenant and the roles: say them.`,
		Args:    cobra.NoArgs,
		Example: "  icefield policy explain -c icefield.hcl --principal key/ci --action dropTable --resource prod.sales.orders",
	}
	flags.questionFlags(cmd)
	cmd.Flags().StringVar(&q.Principal, "principal", "", "who asks, by the `ID` that policies know: corp/alice, key/ci")
	cmd.Flags().StringVar(&q.Name, "name", "", "the `NAME` of the principal (default: what follows the / in its id)")
	cmd.Flags().StringVar(&q.Tenant, "tenant", "", "the `TENANT` of the principal")
	cmd.Flags().StringArrayVar(&q.Roles, "role", nil, "a `ROLE` of the principal; may stand several times")
	cmd.Flags().BoolVar(&q.Operator, "operator", false, "the principal is an operator")
	cmd.Flags().StringVar(&q.Login, "login", "", "the `KIND` of login: oidc, api_key, certificate, anonymous (default: after the id)")
	cmd.Flags().StringVar(&q.Action, "action", "", "the `ACTION`, as loadTable")
	cmd.Flags().StringVar(&q.Resource, "resource", "", "the `RESOURCE`, as prod.sales.orders or namespace:prod.sales")
	cmd.Flags().StringVar(&q.Client, "client", "", "the `ADDRESS` of the client")
	cmd.Flags().StringVar(&q.Time, "time", "", "the `TIME`, as 2027-01-31T12:00:00Z (default: now)")
	cmd.Flags().BoolVar(&q.Write, "write", false, "access to storage is asked for that can write")
	cmd.Flags().StringArrayVar(&q.ReferencedBy, "referenced-by", nil, "a `VIEW` that the caller says it comes through; may stand several times")
	format := outputFlag(cmd)
	for _, name := range []string{"principal", "action", "resource"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // there is no such flag: cannot happen
		}
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, cfg, err := flags.load(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		where, err := flags.owned(cfg)
		if err != nil {
			return err
		}
		asked, err := q.ask(set, where, time.Now())
		if err != nil {
			return err
		}
		e := explain(set.Explain(cmd.Context(), asked), asked)
		if *format == outputJSON {
			err = writeJSON(cmd.OutOrStdout(), e)
		} else {
			_, err = io.WriteString(cmd.OutOrStdout(), e.text())
		}
		if err != nil {
			return failure{err}
		}
		return nil
	}
	return cmd
}

func explain(from cedar.Explanation, q policy.Question) explained {
	list := func(l []cedar.Policy) []cedar.Policy {
		if l == nil {
			return []cedar.Policy{}
		}
		return l
	}
	e := explained{Allowed: from.Allowed, Policies: from.Policies, Resource: fmt.Sprintf("Icefield::%s::%q", q.Resource.Kind, q.Resource.ID()), Tenant: q.Resource.Tenant,
		Permits: list(from.Permits), Forbids: list(from.Forbids), Failed: list(from.Failed), Unmet: list(from.Unmet)}
	p := q.Principal
	e.Principal = asking{ID: p.ID, Tenant: p.Tenant, Roles: append([]string{}, p.Roles...), Operator: p.Operator}
	if e.Policies == nil {
		e.Policies = []string{}
	}
	if from.Err != nil {
		e.Error = from.Err.Error()
	}
	if r := from.Restrictions; !r.Empty() {
		e.Restricted, e.Filters, e.Masks = true, r.Filters, r.Masks
	}
	return e
}

// text is the explanation for people.
func (e *explained) text() string {
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintln(&b, strings.TrimRight(printable(fmt.Sprintf(format, args...)), " "))
	}
	switch {
	case e.Allowed && slices.Equal(e.Policies, []string{cedar.Operator}):
		line("allowed: the principal is an operator")
	case e.Allowed:
		line("allowed")
	case len(e.Forbids) > 0:
		line("denied: a policy forbids it")
	case e.Error != "":
		line("denied: a policy cannot be evaluated")
	default:
		line("denied: no policy permits it")
	}
	owner := "nobody"
	if e.Tenant != "" {
		owner = fmt.Sprintf("tenant %q", e.Tenant)
	}
	who := e.Principal.ID
	if e.Principal.Tenant != "" {
		who += fmt.Sprintf(", of tenant %q", e.Principal.Tenant)
	}
	if len(e.Principal.Roles) > 0 {
		who += ", " + strings.Join(e.Principal.Roles, ", ")
	}
	line("  principal  %s", who)
	line("  resource   %s, of %s", e.Resource, owner)
	show := func(title string, list []cedar.Policy) {
		for _, p := range list {
			line("  %-10s %s (%s:%d:%d) %s", title, p.ID, p.File, p.Line, p.Column, p.Description)
		}
	}
	show("forbid", e.Forbids)
	show("failed", e.Failed)
	show("permit", e.Permits)
	show("not met", e.Unmet)
	if e.Error != "" {
		line("  error      %s", e.Error)
	}
	for i, f := range e.Filters {
		title := "rows"
		if i > 0 {
			title = "or rows"
		}
		line("  %-10s %s", title, f)
	}
	for _, column := range slices.Sorted(maps.Keys(e.Masks)) {
		line("  %-10s %s: %s", "column", column, e.Masks[column])
	}
	return b.String()
}
