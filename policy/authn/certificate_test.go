package authn

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
)

func hashOf(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// signedCertificate is a certificate that was made and read again, as one that
// came over TLS.
func signedCertificate(t *testing.T, c x509.Certificate) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	c.SerialNumber = big.NewInt(1)
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return parsed
}

func address(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	require.NoError(t, err)
	return u
}

func TestCertificatesAreMatchedByExactlyOneRule(t *testing.T) {
	a := opened(t, Config{Certificates: []Certificate{
		{Name: "subject", Tenant: "acme", Subject: "cn=etl, OU=Data\\, Lake,O = Acme"},
		{Name: "dns", Tenant: "acme", DNSName: "ETL.example.com"},
		{Name: "spiffe", Tenant: "acme", URI: "spiffe://acme.example/etl"},
		{Name: "uri", Operator: true, URI: "urn:acme:etl"},
		{Name: "mail", Tenant: "acme", Roles: []string{"reader"}, Email: "Etl@EXAMPLE.com"},
	}}, quickPace())
	name := pkix.Name{CommonName: "etl", OrganizationalUnit: []string{"Data, Lake"}, Organization: []string{"Acme"}}
	twice := pkix.RDNSequence{{{Type: asn1.ObjectIdentifier{2, 5, 4, 10}, Value: "Acme"}}, {{Type: asn1.ObjectIdentifier{2, 5, 4, 11}, Value: "Data, Lake"}},
		{{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "admin"}}, {{Type: asn1.ObjectIdentifier{2, 5, 4, 3}, Value: "etl"}}}
	raw, err := asn1.Marshal(twice)
	require.NoError(t, err)
	for what, c := range map[string]struct {
		certificate x509.Certificate
		id          string
	}{
		"by subject":                {x509.Certificate{Subject: name}, "certificate/subject"},
		"with a common name before": {x509.Certificate{RawSubject: raw}, ""},
		"less of the subject":       {x509.Certificate{Subject: pkix.Name{CommonName: "etl", Organization: []string{"Acme"}}}, ""},
		"subject in another case":   {x509.Certificate{Subject: pkix.Name{CommonName: "ETL", OrganizationalUnit: name.OrganizationalUnit, Organization: name.Organization}}, ""},
		"no subject":                {x509.Certificate{}, ""},
		"by DNS name":               {x509.Certificate{DNSNames: []string{"x.example.com", "etl.EXAMPLE.com"}}, "certificate/dns"},
		"wildcard":                  {x509.Certificate{DNSNames: []string{"*.example.com"}}, ""},
		"DNS name in the subject":   {x509.Certificate{Subject: pkix.Name{CommonName: "etl.example.com"}}, ""},
		"by SPIFFE id":              {x509.Certificate{URIs: []*url.URL{address(t, "spiffe://acme.example/etl")}}, "certificate/spiffe"},
		"two SPIFFE ids":            {x509.Certificate{URIs: []*url.URL{address(t, "spiffe://acme.example/other"), address(t, "spiffe://acme.example/etl")}}, ""},
		"SPIFFE id, another case":   {x509.Certificate{URIs: []*url.URL{address(t, "spiffe://acme.example/ETL")}}, ""},
		"by URI among others":       {x509.Certificate{URIs: []*url.URL{address(t, "urn:other"), address(t, "urn:acme:etl")}}, "certificate/uri"},
		"by e-mail":                 {x509.Certificate{EmailAddresses: []string{"Etl@example.COM"}}, "certificate/mail"},
		"e-mail of another":         {x509.Certificate{EmailAddresses: []string{"etl@example.com"}}, ""},
		"two rules":                 {x509.Certificate{DNSNames: []string{"etl.example.com"}, EmailAddresses: []string{"Etl@example.com"}}, ""},
		"a rule's, but expired":     {x509.Certificate{DNSNames: []string{"etl.example.com"}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}, ""},
		"a rule's, but too early":   {x509.Certificate{DNSNames: []string{"etl.example.com"}, NotBefore: time.Now().Add(time.Hour), NotAfter: time.Now().Add(2 * time.Hour)}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			p, err := a.Authenticate(context.Background(), &policy.Credentials{Certificates: []*x509.Certificate{signedCertificate(t, c.certificate)}})
			if c.id == "" {
				refused(t, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.id, p.ID)
			require.Equal(t, c.id == "certificate/uri", p.Operator)
			require.False(t, p.Forwardable)
		})
	}
}

func TestALongConnectionEndsWithItsCertificate(t *testing.T) {
	now := time.Now()
	a := opened(t, Config{Certificates: []Certificate{{Name: "etl", Tenant: "acme", DNSName: "etl"}}, Now: func() time.Time { return now }}, quickPace())
	leaf, authority := signedCertificate(t, x509.Certificate{DNSNames: []string{"etl"}}), signedCertificate(t, x509.Certificate{})
	c := &policy.Credentials{Certificates: []*x509.Certificate{leaf, authority}}
	_, err := a.Authenticate(context.Background(), c)
	require.NoError(t, err)
	now = now.Add(2 * time.Hour)
	_, err = a.Authenticate(context.Background(), c)
	refused(t, err)
}
