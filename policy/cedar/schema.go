package cedar

import (
	_ "embed"
	"fmt"

	"github.com/cedar-policy/cedar-go/types"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/resolved"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/policy"
)

//go:embed schema.cedarschema
var schemaText string

//go:embed builtin.cedar
var builtinText string

// Schema is the Cedar schema that policies are checked against, as text.
func Schema() string { return schemaText }

// Builtin is the text of the built-in policies.
func Builtin() string { return builtinText }

const (
	namespace = "Icefield::"

	typeUser   types.EntityType = namespace + "User"
	typeGroup  types.EntityType = namespace + "Group"
	typeTenant types.EntityType = namespace + "Tenant"
	typeView   types.EntityType = namespace + "View"
	typeTable  types.EntityType = namespace + "Table"
	typeAction types.EntityType = namespace + "Action"
)

// kinds are the types of resources; a kind's number is its place.
var kinds = [...]policy.Kind{policy.KindServer, policy.KindMount, policy.KindNamespace, policy.KindTable, policy.KindView, policy.KindFunction}

var kindTypes = [...]types.EntityType{namespace + "Server", namespace + "Mount", namespace + "Namespace", typeTable, typeView, namespace + "Function"}

// The numbers of kinds that the code names.
const (
	kindServer = iota
	kindMount
	kindNamespace
	kindTable
	kindView
)

func kindNumber(k policy.Kind) (int, bool) {
	for i, known := range kinds {
		if k == known {
			return i, true
		}
	}
	return 0, false
}

func kindOfType(t types.EntityType) (int, bool) {
	for i, known := range kindTypes {
		if t == known {
			return i, true
		}
	}
	return 0, false
}

// vocabulary is what the schema says, in the form that decisions need. It is
// immutable.
type vocabulary struct {
	validator *validate.Validator
	actions   map[policy.Action]*action
	// groups are the actions in each group, but for inspect asked of the server.
	groups map[types.String]mask
	// readsTables are the actions of a table that restrictions are said for.
	readsTables mask
}

// action is one of the actions.
type action struct {
	number int
	uid    types.EntityUID
	// kinds are the kinds of resources that it applies to, as bits.
	kinds uint8
	// entity is the action with its groups; asked of the server, inspect has none.
	entity, onServer types.Entity
}

// mask is a set of actions.
type mask uint64

func (m mask) has(n int) bool { return m&(1<<n) != 0 }

// learn reads the schema and the operation table.
func learn() (*vocabulary, error) {
	var s schema.Schema
	if err := s.UnmarshalCedar([]byte(schemaText)); err != nil {
		return nil, fmt.Errorf("the built-in schema: %w", err)
	}
	r, err := s.Resolve()
	if err != nil {
		return nil, fmt.Errorf("the built-in schema: %w", err)
	}
	v := &vocabulary{validator: validate.New(r), actions: map[policy.Action]*action{}, groups: map[types.String]mask{}}
	for i, name := range policy.Actions() {
		a := &action{number: i, uid: types.NewEntityUID(typeAction, types.String(name))}
		declared, ok := r.Actions[a.uid]
		if !ok || declared.AppliesTo == nil {
			return nil, fmt.Errorf("the built-in schema has no action %q", name)
		}
		a.kinds = kindsOf(declared)
		var parents []types.EntityUID
		for _, g := range policy.Groups(name) {
			v.groups[types.String(g)] |= 1 << i
			parents = append(parents, types.NewEntityUID(typeAction, types.String(g)))
			if g == capabilities.GroupRead && a.kinds == 1<<kindTable {
				v.readsTables |= 1 << i
			}
		}
		a.entity = types.Entity{UID: a.uid, Parents: types.NewEntityUIDSet(parents...)}
		a.onServer = types.Entity{UID: a.uid}
		v.actions[name] = a
	}
	return v, nil
}

func kindsOf(a resolved.Action) (bits uint8) {
	for _, t := range a.AppliesTo.Resources {
		if k, ok := kindOfType(t); ok {
			bits |= 1 << k
		}
	}
	return bits
}
