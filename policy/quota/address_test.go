package quota

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func proxies(t testing.TB, list ...string) []netip.Prefix {
	t.Helper()
	p, err := ParseProxies(list)
	require.NoError(t, err)
	return p
}

func TestTheAddressOfAClient(t *testing.T) {
	trusted := []string{"10.0.0.0/8", "2001:db8:aaaa::/48"}
	for name, c := range map[string]struct {
		peer    string
		headers []string
		trusted []string
		want    string // empty: invalid
	}{
		"no proxy is trusted":                 {"10.0.0.1:99", []string{"192.0.2.9"}, nil, "10.0.0.1"},
		"the peer is no proxy":                {"192.0.2.1:99", []string{"192.0.2.9"}, trusted, "192.0.2.1"},
		"a proxy":                             {"10.0.0.1:99", []string{"192.0.2.9"}, trusted, "192.0.2.9"},
		"what the client invented is ignored": {"10.0.0.1:99", []string{"1.1.1.1, 192.0.2.9"}, trusted, "192.0.2.9"},
		"also in a header of its own":         {"10.0.0.1:99", []string{"1.1.1.1", "192.0.2.9"}, trusted, "192.0.2.9"},
		"two proxies":                         {"10.0.0.1:99", []string{"1.1.1.1, 192.0.2.9, 10.0.0.2"}, trusted, "192.0.2.9"},
		"two proxies in two headers":          {"10.0.0.1:99", []string{"1.1.1.1,192.0.2.9", "10.0.0.2"}, trusted, "192.0.2.9"},
		"an IPv6 proxy":                       {"[2001:db8:aaaa::1]:99", []string{"192.0.2.9"}, trusted, "192.0.2.9"},
		"a proxy by its IPv4-mapped address":  {"[::ffff:10.0.0.1]:99", []string{"::ffff:192.0.2.9"}, trusted, "192.0.2.9"},
		"no header":                           {"10.0.0.1:99", nil, trusted, "10.0.0.1"},
		"an empty header":                     {"10.0.0.1:99", []string{""}, trusted, "10.0.0.1"},
		"an empty element stops":              {"10.0.0.1:99", []string{"192.0.2.9, "}, trusted, "10.0.0.1"},
		"unknown stops":                       {"10.0.0.1:99", []string{"192.0.2.9, unknown"}, trusted, "10.0.0.1"},
		"a word behind a proxy stops there":   {"10.0.0.1:99", []string{"192.0.2.9, _hidden, 10.0.0.2"}, trusted, "10.0.0.2"},
		"an unspecified address stops":        {"10.0.0.1:99", []string{"0.0.0.0"}, trusted, "10.0.0.1"},
		"only proxies":                        {"10.0.0.1:99", []string{"10.0.0.3, 10.0.0.2"}, trusted, "10.0.0.3"},
		"with a port":                         {"10.0.0.1:99", []string{"192.0.2.9:4711"}, trusted, "192.0.2.9"},
		"IPv6":                                {"10.0.0.1:99", []string{"2001:db8::9"}, trusted, "2001:db8::9"},
		"IPv6 in brackets":                    {"10.0.0.1:99", []string{"[2001:db8::9]"}, trusted, "2001:db8::9"},
		"IPv6 in brackets with a port":        {"10.0.0.1:99", []string{"[2001:db8::9]:4711"}, trusted, "2001:db8::9"},
		"IPv4 in brackets is malformed":       {"10.0.0.1:99", []string{"[192.0.2.9]"}, trusted, "10.0.0.1"},
		"a zone is dropped":                   {"10.0.0.1:99", []string{"fe80::9%eth0"}, trusted, "fe80::9"},
		"the zone of the peer too":            {"[fe80::9%eth0]:99", nil, trusted, "fe80::9"},
		"tabs and blanks":                     {"10.0.0.1:99", []string{"1.1.1.1,\t 192.0.2.9 \t"}, trusted, "192.0.2.9"},
		"an endless element":                  {"10.0.0.1:99", []string{"192.0.2.9%" + strings.Repeat("x", 1000)}, trusted, "10.0.0.1"},
		"a unix socket":                       {"@", []string{"192.0.2.9"}, trusted, ""},
		"a unix socket without a name":        {"", []string{"192.0.2.9"}, trusted, ""},
		"a trusted unix socket":               {"@", []string{"1.1.1.1, 192.0.2.9"}, []string{"unix"}, "192.0.2.9"},
		"a trusted unix socket, no header":    {"@", nil, []string{"unix"}, ""},
		"unix trusts no network":              {"192.0.2.1:99", []string{"192.0.2.9"}, []string{"unix"}, "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"Forwarded": {"for=1.1.1.1"}}}
			for _, h := range c.headers {
				r.Header.Add("X-Forwarded-For", h)
			}
			got := ClientAddr(r, proxies(t, c.trusted...))
			if c.want == "" {
				require.False(t, got.IsValid(), got)
				return
			}
			require.Equal(t, netip.MustParseAddr(c.want), got)
		})
	}
}

func TestARequestIsNotWalkedForEver(t *testing.T) {
	r := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{}}
	r.Header.Set("X-Forwarded-For", "192.0.2.9"+strings.Repeat(",10.0.0.2", maxHops-1))
	require.Equal(t, "192.0.2.9", ClientAddr(r, proxies(t, "10.0.0.0/8")).String())
	r.Header.Set("X-Forwarded-For", "192.0.2.9"+strings.Repeat(",10.0.0.2", maxHops))
	require.Equal(t, "10.0.0.2", ClientAddr(r, proxies(t, "10.0.0.0/8")).String())
	r.Header.Set("X-Forwarded-For", strings.Repeat("10.0.0.2,", 200000))
	require.Equal(t, "10.0.0.1", ClientAddr(r, proxies(t, "10.0.0.0/8")).String())
}

func TestProxiesAreNetworksThatSomebodyMeant(t *testing.T) {
	require.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("2001:db8::1/128"),
		netip.MustParsePrefix("10.1.0.0/16"), {},
	}, proxies(t, "10.0.0.0/8", "::ffff:192.0.2.1", "2001:db8::1", "::ffff:10.1.0.0/112", "unix"))
	for entry, says := range map[string]string{
		"0.0.0.0/0":     "everybody",
		"::/0":          "everybody",
		"::ffff:0:0/96": "everybody",
		"10.0.0.1/8":    `did you mean "10.0.0.0/8"`,
		"proxy.example": "neither",
		"10.0.0.0/33":   "neither",
		"":              "neither",
		"fe80::1%eth0":  "has a zone",
	} {
		_, err := ParseProxies([]string{entry})
		require.ErrorContains(t, err, says, entry)
	}
}

// Whatever a client sends, behind proxies that append whom they were called by its
// address is the one that the first of them saw.
func FuzzNoClientChoosesItsAddress(f *testing.F) {
	f.Add("1.1.1.1", "", uint32(0xc0000209), uint8(1), true)
	f.Add("10.0.0.7, ", ",", uint32(0xc0000209), uint8(2), false)
	f.Add("unknown", "[::1]:1", uint32(0x08080808), uint8(3), true)
	f.Add("10.0.0.1,10.0.0.2", "10.0.0.3", uint32(1), uint8(0), true)
	trusted := proxies(f, "10.0.0.0/8", "unix")
	f.Fuzz(func(t *testing.T, first, second string, real uint32, hops uint8, apart bool) {
		client := netip.AddrFrom4([4]byte{byte(real >> 24), byte(real >> 16), byte(real >> 8), byte(real)})
		if client.As4()[0] == 10 || client.IsUnspecified() {
			return
		}
		headers := []string{first, second}
		r := &http.Request{RemoteAddr: client.String() + ":1", Header: http.Header{}}
		for i := range int(hops % 8) {
			seen, _ := netip.ParseAddrPort(r.RemoteAddr)
			if apart { // some proxies append to the last header, some add one
				headers = append(headers, seen.Addr().String())
			} else {
				headers[len(headers)-1] += ", " + seen.Addr().String()
			}
			r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}), 80).String()
		}
		r.Header["X-Forwarded-For"] = headers
		require.Equal(t, client, ClientAddr(r, trusted))
	})
}

func BenchmarkClientAddr(b *testing.B) {
	r := &http.Request{RemoteAddr: "10.0.0.1:4711", Header: http.Header{"X-Forwarded-For": {"192.0.2.9, 10.0.0.2"}}}
	trusted := proxies(b, "172.16.0.0/12", "10.0.0.0/8")
	b.ReportAllocs()
	for b.Loop() {
		ClientAddr(r, trusted)
	}
}
