package middleware

import (
	"net/http"
	"net/netip"

	"github.com/icefield/icefield/policy"
)

// Gate is what a path asks of whoever calls it.
type Gate uint8

// The gates. The zero value, for every path that is not known to be another's, is
// the closed one.
const (
	// Closed needs a caller, and counts against the client's rate.
	Closed Gate = iota
	// Login counts against the client's rate, and finds out by itself who calls.
	Login
	// Lenient turns nobody away, and tells more to a caller that it knows.
	Lenient
	// Open asks nothing.
	Open
)

// Arrive notes in the Call where a request comes from and which gate it stands
// before; everybody is the caller of a server without authentication, and nil for
// one that has it.
func Arrive(address func(*http.Request) netip.Addr, gate func(path string) Gate, everybody *policy.Principal, next http.Handler) http.Handler {
	if address == nil {
		address = PeerAddr
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		call := CallFrom(r.Context())
		call.Client = policy.Client{Addr: address(r)}
		call.Principal, call.Gate = everybody, gate(call.Path)
		next.ServeHTTP(w, r)
	})
}

// PeerAddr is the address at the other end of the connection; invalid for one
// that has none, as on a unix socket.
func PeerAddr(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap().WithZone("")
}
