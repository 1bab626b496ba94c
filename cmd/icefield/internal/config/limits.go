package config

import (
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

var (
	rateShape    = shape{attrs: []string{"requests_per_second", "burst"}}
	lockoutShape = shape{attrs: []string{"failures", "window"}}
)

const maxRate = 1_000_000

// rate reads how often somebody may ask; nil means as often as they like.
func (l *loader) rate(block *hcl.Block) *Rate {
	if block == nil {
		return nil
	}
	clear(l.meant)
	a := l.content(block.Body, rateShape).Attributes
	if a["requests_per_second"] == nil {
		l.missing(block, "requests_per_second", "Say how often anybody may ask: requests_per_second = 200.")
	}
	r := &Rate{PerSecond: l.number(a["requests_per_second"], 1, 0.01, maxRate)}
	// Whoever may ask so often may do so at any moment of two seconds.
	r.Burst = l.integer(a["burst"], max(1, int(math.Ceil(2*r.PerSecond))), 1, 10*maxRate)
	return r
}

// number reads a number that need not be whole.
func (l *loader) number(attr *hcl.Attribute, def, low, high float64) float64 {
	v, ok := l.value(attr, cty.Number)
	if !ok {
		return def
	}
	n, _ := v.AsBigFloat().Float64()
	if n < low || n > high {
		l.refuse(attr, "Out of bounds", fmt.Sprintf("%s must be from %v to %.0f.", attr.Name, low, high))
		return def
	}
	return n
}

// lockout reads when a client that fails to log in is not heard any more.
func (l *loader) lockout(block *hcl.Block, def Lockout) Lockout {
	if block == nil {
		return def
	}
	a := l.content(block.Body, lockoutShape).Attributes
	return Lockout{
		Failures: l.integer(a["failures"], def.Failures, 0, 10000),
		Window:   l.duration(a["window"], def.Window, time.Second, 24*time.Hour),
	}
}

const maxProxies = 1000

// proxies reads the addresses of those who say whom they forward for.
func (l *loader) proxies(attr *hcl.Attribute) []string {
	var all []string
	l.each(attr, maxProxies, func(at hcl.Range, s string) {
		if problem := proxyProblem(s); problem != "" {
			l.problem(at, "Invalid address range", fmt.Sprintf(`%s %s. Write a range as in "10.0.0.0/8" or "2001:db8::/32", one address, or "unix" for whoever comes by the socket.`, l.show(attr, s), problem))
			return
		}
		all = append(all, s)
	})
	return all
}

// proxyProblem says why a text is no address and no range of them, or "".
func proxyProblem(s string) string {
	if one, err := netip.ParseAddr(s); s == TrustUnix || err == nil && one.Zone() == "" {
		return ""
	}
	prefix, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return "is no range of addresses"
	case prefix.Addr().Is4In6():
		return "is a range of IPv4 in the notation of IPv6"
	case prefix.Bits() == 0:
		return "is every address there is: anybody could then say to be anybody else"
	case prefix.Masked() != prefix:
		return fmt.Sprintf("has address bits behind its length; the range is %s", prefix.Masked())
	}
	return ""
}

// each reads a list of texts, each with the place where it stands. Empty ones and
// those that stand twice are reported.
func (l *loader) each(attr *hcl.Attribute, most int, take func(at hcl.Range, s string)) {
	v, ok := l.value(attr, cty.List(cty.String))
	if !ok {
		return
	}
	if v.LengthInt() == 0 {
		l.refuse(attr, "Empty list", fmt.Sprintf("The list is empty. Name something, or leave %s out.", attr.Name))
		return
	}
	if v.LengthInt() > most {
		l.refuse(attr, "List too long", fmt.Sprintf("%s can have at most %d entries.", attr.Name, most))
		return
	}
	items, diags := hcl.ExprList(attr.Expr)
	seen := map[string]bool{}
	for i, value := range v.AsValueSlice() {
		at := attr.Expr.Range()
		if !diags.HasErrors() && i < len(items) {
			at = items[i].Range()
		}
		switch {
		case value.IsNull() || value.AsString() == "":
			l.problem(at, "Empty value", "An entry of the list is empty. Leave it out.")
		case len(value.AsString()) > 4096 || hasControl(value.AsString()):
			l.problem(at, "Invalid value", "An entry of the list is longer than 4096 bytes, or holds a line break or another control character.")
		case seen[value.AsString()]:
			l.problem(at, "Duplicate value", fmt.Sprintf("%s stands in the list already. Leave it out.", capital(l.show(attr, value.AsString()))))
		default:
			seen[value.AsString()] = true
			take(at, value.AsString())
		}
	}
}
