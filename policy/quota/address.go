package quota

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is how many addresses of X-Forwarded-For are read, from the right.
const maxHops = 32

// Unix stands in a list of trusted proxies for whoever comes by a unix socket.
const Unix = "unix"

// unixPrefix is how ParseProxies says so.
var unixPrefix = netip.Prefix{}

// ParseProxies reads a list of trusted proxies: addresses, networks as
// "10.0.0.0/8", or Unix. A network of everybody is refused: whoever is trusted may
// say that it is anyone.
func ParseProxies(list []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, s := range list {
		if s == Unix {
			all = append(all, unixPrefix)
			continue
		}
		if addr, err := netip.ParseAddr(s); err == nil {
			addr = addr.Unmap()
			if addr.Zone() != "" {
				return nil, fmt.Errorf("%q has a zone; write the address alone, or its network", s)
			}
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		switch {
		case err != nil:
			return nil, fmt.Errorf(`%q is neither an address, as "10.0.0.1", nor a network, as "10.0.0.0/8", nor %q`, s, Unix)
		case p.Addr().Is4In6() && p.Bits() >= 96:
			p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
		}
		if p.Bits() == 0 {
			return nil, fmt.Errorf("%q is everybody: any client could then choose its address; name the networks of the proxies", s)
		}
		if p != p.Masked() {
			return nil, fmt.Errorf("%q has bits behind its mask; did you mean %q", s, p.Masked())
		}
		all = append(all, p)
	}
	return all, nil
}

// ClientAddr is the address of the client that sent a request, without zone, and
// as IPv4 where it is that: the peer's, unless the peer is a trusted proxy; then
// the address that the proxy saw, and so on through proxies that are trusted. It is
// the farthest that somebody trusted vouches for: where X-Forwarded-For is missing,
// ends, is malformed or has more than 32 trusted proxies, that is the last one of
// them. It is invalid for a peer without an address, on a unix socket.
//
// Of the two headers for this only X-Forwarded-For is read. A proxy that writes one
// of them lets the other pass as the client sent it, so to read both would be to
// believe the client. A proxy has to append to the header, or to replace it.
//
// trusted is what ParseProxies returns.
func ClientAddr(r *http.Request, trusted []netip.Prefix) netip.Addr {
	at := peer(r.RemoteAddr)
	if !trusts(trusted, at) {
		return at
	}
	hops := 0
	for _, value := range slices.Backward(r.Header["X-Forwarded-For"]) {
		for more := true; more; hops++ {
			var element string
			if i := strings.LastIndexByte(value, ','); i >= 0 {
				value, element = value[:i], value[i+1:]
			} else {
				element, more = value, false
			}
			addr, ok := forwarded(element)
			if !ok || hops == maxHops {
				return at
			}
			if at = addr; !trusts(trusted, at) {
				return at
			}
		}
	}
	return at
}

// peer reads http.Request.RemoteAddr: host and port of a network connection, and
// anything else, as "@", of a unix socket.
func peer(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

func trusts(trusted []netip.Prefix, addr netip.Addr) bool {
	if !addr.IsValid() {
		return slices.Contains(trusted, unixPrefix)
	}
	for _, p := range trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// maxElement is longer than any address with brackets, zone and port.
const maxElement = 96

// forwarded reads one element of X-Forwarded-For: an address, with or without
// port; IPv6 with or without brackets.
func forwarded(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	if len(s) > maxElement {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
			addr, err = netip.ParseAddr(strings.TrimSuffix(inner, "]"))
			if err == nil && !addr.Is6() {
				return netip.Addr{}, false
			}
		} else {
			var ap netip.AddrPort
			ap, err = netip.ParseAddrPort(s)
			addr = ap.Addr()
		}
	}
	if err != nil || addr.IsUnspecified() {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}
