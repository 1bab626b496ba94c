package middleware

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/policy"
)

func TestCredentialsAreReadOrTheWholeIsMalformed(t *testing.T) {
	long := strings.Repeat("x", maxToken+1)
	for name, c := range map[string]struct {
		headers     []string
		bearer, key string
		malformed   bool
	}{
		"nothing":                    {nil, "", "", false},
		"a token":                    {[]string{"Authorization: Bearer t1"}, "t1", "", false},
		"in lower case, with blanks": {[]string{"Authorization: bearer   t1 "}, "t1", "", false},
		"a key":                      {[]string{"X-Api-Key: k1"}, "", "k1", false},
		"both":                       {[]string{"X-Api-Key: k1", "Authorization: Bearer t1"}, "t1", "k1", false},
		"a proxy's own and a token":  {[]string{"Authorization: Basic x", "Authorization: Bearer t1"}, "t1", "", false},
		"a proxy's own and a key":    {[]string{"Authorization: Basic x", "X-Api-Key: k1"}, "", "k1", false},
		"another scheme":             {[]string{"Authorization: Basic x"}, "", "", true},
		"no scheme":                  {[]string{"Authorization: t1"}, "", "", true},
		"no token":                   {[]string{"Authorization: Bearer"}, "", "", true},
		"an empty header":            {[]string{"Authorization: "}, "", "", true},
		"an empty key":               {[]string{"X-Api-Key: "}, "", "", true},
		"two tokens":                 {[]string{"Authorization: Bearer t1", "Authorization: Bearer t1"}, "", "", true},
		"two in one":                 {[]string{"Authorization: Bearer t1, Bearer t1"}, "", "", true},
		"two keys":                   {[]string{"X-Api-Key: k1", "X-Api-Key: k1"}, "", "", true},
		"a good key, a bad token":    {[]string{"X-Api-Key: k1", "Authorization: Bearer t 1"}, "", "", true},
		"a good token, a bad key":    {[]string{"X-Api-Key: k\x7f", "Authorization: Bearer t1"}, "", "", true},
		"a long token":               {[]string{"Authorization: Bearer " + long}, "", "", true},
		"a long key":                 {[]string{"X-Api-Key: " + long}, "", "", true},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		for _, h := range c.headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Add(name, value)
		}
		from := policy.Client{Addr: netip.MustParseAddr("192.0.2.7")}
		got := Credentials(r, from)
		if got.Bearer != c.bearer || got.APIKey != c.key || got.Malformed != c.malformed || got.Client != from {
			t.Errorf("%s: %+v", name, got)
		}
		if sent(got) != (len(c.headers) > 0) {
			t.Errorf("%s: counts as sent: %v", name, sent(got))
		}
	}
}

// A certificate that TLS did not verify, as where it is asked for and not
// checked, is none.
func TestOnlyVerifiedCertificatesCount(t *testing.T) {
	leaf, root := &x509.Certificate{Raw: []byte{1}}, &x509.Certificate{Raw: []byte{2}}
	r := httptest.NewRequest("GET", "/", nil)
	for _, c := range []struct {
		state *tls.ConnectionState
		want  int
	}{
		{nil, 0}, {&tls.ConnectionState{}, 0}, {&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}, 0},
		{&tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}, VerifiedChains: [][]*x509.Certificate{{leaf, root}}}, 2},
	} {
		r.TLS = c.state
		got := Credentials(r, policy.Client{})
		if len(got.Certificates) != c.want || sent(got) != (c.want > 0) || c.want > 0 && got.Certificates[0] != leaf {
			t.Errorf("%+v: %+v", c.state, got)
		}
	}
}

func TestThePeersAddressHasNoZoneAndIsIPv4WhereItCanBe(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1234": "192.0.2.1", "[2001:db8::1]:1": "2001:db8::1", "[::ffff:192.0.2.1]:1": "192.0.2.1", "[fe80::1%eth0]:1": "fe80::1",
		"@": "invalid IP", "": "invalid IP", "192.0.2.1": "invalid IP",
	} {
		if got := PeerAddr(&http.Request{RemoteAddr: remote}).String(); got != want {
			t.Errorf("%q: %s", remote, got)
		}
	}
}

// bounded is a writer that remembers its read deadline.
type bounded struct {
	*httptest.ResponseRecorder
	until time.Time
}

func (b *bounded) SetReadDeadline(t time.Time) error {
	b.until = t
	return nil
}

func TestABodyThatIsNotReadIsNotWaitedForEither(t *testing.T) {
	w := &bounded{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequest("POST", "/", strings.NewReader("x"))
	Unread(&Recorder{ResponseWriter: w}, r)
	if left := time.Until(w.until); left <= 0 || left > lingers || w.Header().Get("Connection") != "close" {
		t.Errorf("%v left, Connection %q", left, w.Header().Get("Connection"))
	}
	for name, change := range map[string]func(r *http.Request){
		"HTTP/2":  func(r *http.Request) { r.ProtoMajor = 2 },
		"no body": func(r *http.Request) { r.Body = http.NoBody },
	} {
		w := &bounded{ResponseRecorder: httptest.NewRecorder()}
		r := httptest.NewRequest("POST", "/", strings.NewReader("x"))
		change(r)
		if Unread(w, r); !w.until.IsZero() || len(w.Header()) > 0 {
			t.Errorf("%s: the connection is given up", name)
		}
	}
}

// A client that a proxy speaks for is known by its own address.
func TestTheLogNamesTheClientBehindAProxy(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	for addr, want := range map[string]string{"": "192.0.2.1:1234", "192.0.2.1": "192.0.2.1:1234", "198.51.100.7": "198.51.100.7"} {
		call := &Call{}
		if addr != "" {
			call.Client.Addr = netip.MustParseAddr(addr)
		}
		if got := client(call, r); got != want {
			t.Errorf("%q: %s", addr, got)
		}
	}
}
