package authn

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/icefield/icefield/policy"
)

const (
	maxPath  = 16
	maxText  = 256
	maxRoles = 512
)

// path leads to a claim.
type path struct {
	whole string
	parts []string
}

// parsePath reads a dotted path; "\." and "\\" stand for a dot and a backslash in
// a name.
func parsePath(s string) (path, error) {
	if len(s) > maxText {
		return path{}, errors.New("it is longer than 256 bytes")
	}
	p := path{whole: s}
	var part strings.Builder
	end := func() error {
		if part.Len() == 0 {
			return errors.New("there is no name before, after or between dots")
		}
		p.parts = append(p.parts, part.String())
		part.Reset()
		return nil
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i++; i == len(s) || s[i] != '.' && s[i] != '\\' {
				return path{}, errors.New(`a backslash stands before a dot or another backslash`)
			}
			part.WriteByte(s[i])
		case '.':
			if err := end(); err != nil {
				return path{}, err
			}
		default:
			part.WriteByte(c)
		}
	}
	if err := end(); err != nil {
		return path{}, err
	}
	if len(p.parts) > maxPath {
		return path{}, errors.New("it has more than 16 steps")
	}
	return p, nil
}

// in returns the claim that the path leads to. A null is no claim.
func (p path) in(claims map[string]any) (any, bool) {
	if v, ok := claims[p.whole]; ok {
		return v, v != nil
	}
	var v any = claims
	for _, part := range p.parts {
		object, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = object[part]; !ok {
			return nil, false
		}
	}
	return v, v != nil
}

// text is a claim that must be a short text of its own.
func text(v any) (string, bool) {
	s, ok := v.(string)
	return s, ok && s != "" && len(s) <= maxText && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// rolesOf reads a list of texts, each a role as it is, or one text in which
// blanks separate roles. Sorted, none twice.
func rolesOf(v any) ([]string, bool) {
	var roles []string
	switch v := v.(type) {
	case string:
		roles = strings.Fields(v)
	case []any:
		for _, one := range v {
			role, ok := one.(string)
			if !ok {
				return nil, false
			}
			if role != "" {
				roles = append(roles, role)
			}
		}
	default:
		return nil, false
	}
	if len(roles) > maxRoles {
		return nil, false
	}
	for _, role := range roles {
		if len(role) > maxText {
			return nil, false
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles), true
}

// instant reads a NumericDate. The second result tells whether it is there, the
// third whether it is one.
func instant(claims map[string]any, name string) (at time.Time, present, ok bool) {
	v, present := claims[name]
	if !present {
		return time.Time{}, false, true
	}
	seconds, number := v.(float64)
	if !number || math.IsNaN(seconds) || seconds < 0 || seconds > 253402300799 { // the end of the year 9999
		return time.Time{}, true, false
	}
	whole, fraction := math.Modf(seconds)
	return time.Unix(int64(whole), int64(fraction*1e9)), true, true
}

// principal reads who the bearer of a token is. It returns why the claims will
// not do, if they do not.
func (i *issuer) principal(claims map[string]any) (*policy.Principal, string) {
	p := &policy.Principal{Login: "oidc", Tenant: i.Tenant, Forwardable: true}
	if i.RolesClaim != "" {
		if v, ok := i.roles.in(claims); ok {
			if p.Roles, ok = rolesOf(v); !ok {
				return nil, "the roles claim is neither a list of texts nor a text, or has too many or too long ones"
			}
		}
	}
	for _, role := range i.OperatorRoles {
		if _, has := slices.BinarySearch(p.Roles, role); has {
			p.Operator = true
		}
	}
	if i.TenantClaim != "" {
		v, present := i.tenant.in(claims)
		if present {
			var ok bool
			if p.Tenant, ok = text(v); !ok {
				return nil, "the tenant claim is not a text, or is empty, too long or has control characters"
			}
		}
	}
	if p.Tenant == "" && !p.Operator {
		return nil, "the token names no tenant"
	}
	if why := i.identify(p, claims); why != "" {
		return nil, why
	}
	return p, ""
}

// identify sets name and id. Where the name claim is missing, as in tokens that
// clients get for themselves, another claim stands in, and the id says which: the
// values of two claims may be equal and mean different people.
func (i *issuer) identify(p *policy.Principal, claims map[string]any) string {
	v, present := i.name.in(claims)
	if present {
		name, ok := text(v)
		if !ok {
			return "the name claim is not a text, or is empty, too long or has control characters"
		}
		if verified, said := claims["email_verified"]; i.NameClaim == "email" && said && verified != true && verified != "true" {
			return "the name is an e-mail address that the issuer has not verified"
		}
		p.Name, p.ID = name, policy.EntityID(i.Name, name)
		return ""
	}
	for _, claim := range []string{"sub", "client_id", "azp"} {
		if claim == i.NameClaim {
			continue
		}
		if name, ok := text(claims[claim]); ok {
			p.Name, p.ID = name, policy.EntityID(i.Name, claim, name)
			return ""
		}
	}
	return "the token names nobody"
}
