package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/cedar"
)

// question is what a person or a table asks policies.
type question struct {
	// Principal is the id that policies know, as "corp/alice".
	Principal string   `json:"principal"`
	Name      string   `json:"name_of_principal,omitempty"`
	Tenant    string   `json:"tenant,omitempty"`
	Roles     []string `json:"roles,omitempty"`
	Operator  bool     `json:"operator,omitempty"`
	Login     string   `json:"login,omitempty"`
	Action    string   `json:"action"`
	// Resource is "prod.sales.orders", "namespace:prod.sales", "server", with names
	// as a JSON list where they hold dots, or the text of an entity.
	Resource     string   `json:"resource"`
	Client       string   `json:"client,omitempty"`
	Time         string   `json:"time,omitempty"`
	Write        bool     `json:"write,omitempty"`
	ReferencedBy []string `json:"referenced_by,omitempty"`
}

// ask makes a question of policies of it.
func (q *question) ask(set *cedar.Set, where *owned, now time.Time) (policy.Question, error) {
	if err := q.complete(where.auth); err != nil {
		return policy.Question{}, err
	}
	p := &policy.Principal{ID: q.Principal, Name: q.Name, Tenant: q.Tenant, Operator: q.Operator, Login: q.Login}
	switch {
	case q.Principal == "":
		return policy.Question{}, errors.New(`there is no principal: it is named as policies name it, as "corp/alice"`)
	case q.Tenant == "" && !q.Operator:
		return policy.Question{}, errors.New("the principal has no tenant, and only operators are without one: say which (--tenant, or tenant = \"…\" in a table)")
	}
	if p.Name == "" {
		_, p.Name, _ = strings.Cut(q.Principal, "/")
	}
	switch {
	case p.Login != "":
	case strings.HasPrefix(q.Principal, "key/"):
		p.Login = "api_key"
	case strings.HasPrefix(q.Principal, "certificate/"):
		p.Login = "certificate"
	default:
		p.Login = "oidc"
	}
	p.Roles = slices.Compact(slices.Sorted(slices.Values(q.Roles)))
	asked := policy.Question{Principal: p, Action: policy.Action(q.Action), Context: policy.Context{Time: now, Write: q.Write}}
	kinds := set.Kinds(asked.Action)
	if kinds == nil {
		return policy.Question{}, fmt.Errorf("there is no action %q: there are %q", q.Action, policy.Actions())
	}
	var err error
	if asked.Resource, err = where.resource(q.Resource, kinds); err != nil {
		return policy.Question{}, fmt.Errorf("resource %q: %w", q.Resource, err)
	}
	if q.Client != "" {
		if asked.Context.Client, err = netip.ParseAddr(q.Client); err != nil {
			return policy.Question{}, fmt.Errorf("client %q is no address", q.Client)
		}
	}
	if q.Time != "" {
		if asked.Context.Time, err = time.Parse(time.RFC3339, q.Time); err != nil {
			return policy.Question{}, fmt.Errorf(`time %q is not like "2027-01-31T12:00:00Z"`, q.Time)
		}
	}
	for _, v := range q.ReferencedBy {
		view, err := where.resource(v, []policy.Kind{policy.KindView})
		if err != nil {
			return policy.Question{}, fmt.Errorf("referenced by %q: %w", v, err)
		}
		asked.Context.ReferencedBy = append(asked.Context.ReferencedBy, view)
	}
	return asked, nil
}

// complete takes what is not said of the principal from the block that it logs in
// by. What is said of a key or certificate goes before that as a whole: to ask what
// another role would let it do is to ask about another principal.
func (q *question) complete(auth *config.Authentication) error {
	if auth == nil {
		return nil
	}
	login, name, _ := strings.Cut(q.Principal, "/")
	bare := q.Tenant == "" && !q.Operator && len(q.Roles) == 0
	none := func(kind string) error {
		return fmt.Errorf("the configuration has no %s %q; say its tenant and roles to ask about one that is to be", kind, name)
	}
	switch {
	case login == "key" && bare:
		i := slices.IndexFunc(auth.Keys, func(k config.APIKey) bool { return k.Name == name })
		if i < 0 {
			return none("api_key")
		}
		q.Tenant, q.Roles, q.Operator = auth.Keys[i].Tenant, auth.Keys[i].Roles, auth.Keys[i].Operator
	case login == "certificate" && bare:
		i := slices.IndexFunc(auth.Certificates, func(k config.Certificate) bool { return k.Name == name })
		if i < 0 {
			return none("certificate")
		}
		q.Tenant, q.Roles, q.Operator = auth.Certificates[i].Tenant, auth.Certificates[i].Roles, auth.Certificates[i].Operator
	case q.Principal == "anonymous" && bare && auth.Anonymous != nil:
		q.Tenant, q.Roles, q.Login = auth.Anonymous.Tenant, auth.Anonymous.Roles, "anonymous"
	default:
		i := slices.IndexFunc(auth.OIDC, func(o config.OIDC) bool { return o.Name == login })
		if i < 0 {
			return nil
		}
		issuer := auth.OIDC[i]
		if q.Tenant == "" { // the token says it, or one is everybody's there
			q.Tenant = issuer.Tenant
		}
		q.Operator = q.Operator || slices.ContainsFunc(q.Roles, func(role string) bool { return slices.Contains(issuer.OperatorRoles, role) })
	}
	return nil
}

// owned says which mounts there are and whom mounts and top-level namespaces
// belong to.
type owned struct {
	// auth is how principals log in; nil if no configuration says so.
	auth *config.Authentication
	// mounts are the names that are mounts; nil if no configuration says so: then
	// every first level is one.
	mounts []string
	owners map[string]string
}

func (f *policyFlags) owned(cfg *config.Config) (*owned, error) {
	o := &owned{owners: map[string]string{}}
	if cfg != nil {
		o.mounts, o.auth = []string{}, cfg.Auth
		for _, m := range cfg.Mounts {
			o.mounts, o.owners[m.Name] = append(o.mounts, m.Name), m.Owner
		}
	}
	for _, pair := range f.owners {
		name, tenant, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf(`--owner %q is not like "prod=acme"`, pair)
		}
		o.owners[name] = tenant
	}
	return o, nil
}

func (o *owned) isMount(name string) bool {
	return name == mounts.UnderName || o.mounts == nil || slices.Contains(o.mounts, name)
}

// resource reads the name of a resource of one of the kinds.
func (o *owned) resource(text string, kinds []policy.Kind) (policy.Resource, error) {
	var kind policy.Kind
	name, read := text, levelsOf
	if before, after, ok := strings.Cut(strings.TrimPrefix(text, "Icefield::"), ":"); ok {
		for _, k := range []policy.Kind{policy.KindServer, policy.KindMount, policy.KindNamespace, policy.KindTable, policy.KindView, policy.KindFunction} {
			if strings.EqualFold(before, string(k)) {
				kind, name = k, after
			}
		}
		if entity, ok := strings.CutPrefix(name, `:"`); ok && kind != "" {
			name, read = `"`+entity, levelsOfEntity
		}
	}
	if kind == "" && text == "server" && slices.Contains(kinds, policy.KindServer) || kind == policy.KindServer {
		kind, name, read = policy.KindServer, "server", levelsOf
	}
	levels, err := read(name)
	if err != nil {
		return policy.Resource{}, err
	}
	if kind == "" {
		kind = kinds[len(kinds)-1]
		if slices.Contains(kinds, policy.KindMount) && len(levels) == 1 && o.isMount(levels[0]) {
			kind = policy.KindMount
		}
	}
	if !slices.Contains(kinds, kind) {
		return policy.Resource{}, fmt.Errorf("the action applies to resources of kind %q, not %q", kinds, kind)
	}
	return o.place(kind, levels)
}

// place says in which mount an object lies, and who owns it.
func (o *owned) place(kind policy.Kind, levels []string) (policy.Resource, error) {
	r := policy.Resource{Kind: kind, Mount: mounts.UnderName, Path: levels}
	if kind == policy.KindServer {
		return policy.Resource{Kind: kind}, nil
	}
	inMount := o.isMount(levels[0])
	switch {
	case inMount:
		r.Mount = levels[0]
	case o.mounts != nil && !slices.Contains(o.mounts, mounts.UnderName):
		return r, fmt.Errorf("there is no mount %q in the configuration, and none underneath", levels[0])
	}
	tenant, known := o.owners[levels[0]]
	if !known {
		tenant = o.owners[mounts.UnderName]
	}
	r.Tenant = tenant
	switch {
	case kind == policy.KindMount && (!inMount || len(levels) > 1):
		return r, errors.New("there is no such mount")
	case kind == policy.KindMount:
		if r.Mount == mounts.UnderName {
			r.Path = nil
		}
		return r, nil
	case slices.Contains(levels, mounts.UnderName) && levels[0] == mounts.UnderName:
		return r, errors.New("what lies in the catalog underneath is named without it")
	case kind == policy.KindNamespace && inMount && len(levels) == 1:
		return r, errors.New(`it is a mount: name it "mount:` + levels[0] + `"`)
	case kind == policy.KindNamespace:
		return r, nil
	case len(levels) < 2:
		return r, errors.New(`it has to be named in full, as "prod.sales.orders"`)
	}
	n := len(levels) - 1
	r.Path, r.Name = levels[:n:n], levels[n]
	return r, nil
}

// levelsOfEntity takes the id of an entity apart, as policies and the audit trail
// write it; see policy.EntityID.
func levelsOfEntity(quoted string) ([]string, error) {
	id, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, errors.New(`it is not like Table::"prod/sales/orders"`)
	}
	levels := strings.Split(id, "/")
	for i, part := range levels {
		if levels[i], err = url.PathUnescape(part); err != nil || part == "" {
			return nil, errors.New("a part of the name is empty, or has a % that is not followed by two hexadecimal digits")
		}
	}
	return levels, nil
}

// levelsOf takes "a.b.c" or ["a","b.c"] apart.
func levelsOf(name string) ([]string, error) {
	levels := strings.Split(name, ".")
	if strings.HasPrefix(name, "[") {
		levels = nil
		if err := json.Unmarshal([]byte(name), &levels); err != nil {
			return nil, errors.New(`it is not like ["prod","sales","orders"]`)
		}
	}
	if len(levels) == 0 || slices.Contains(levels, "") {
		return nil, errors.New("a part of the name is empty")
	}
	return levels, nil
}
