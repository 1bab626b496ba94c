package authn

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/icefield/icefield/policy"
)

const certificateLogin = "certificate"

// rule is a certificate block, ready to match.
type rule struct {
	Certificate
	principal *policy.Principal
}

func newRules(all []Certificate) []rule {
	var rules []rule
	for _, c := range all {
		rules = append(rules, rule{c.normal(), &policy.Principal{ID: policy.EntityID(certificateLogin, c.Name), Name: c.Name,
			Tenant: c.Tenant, Roles: sorted(c.Roles), Operator: c.Operator, Login: certificateLogin}})
	}
	return rules
}

// selectors are what a certificate is matched by.
func (c Certificate) selectors() [4]string { return [4]string{c.Subject, c.DNSName, c.URI, c.Email} }

// normal writes the selectors as certificates are read.
func (c Certificate) normal() Certificate {
	c.Subject, c.DNSName, c.Email = normalDN(c.Subject), strings.ToLower(c.DNSName), normalEmail(c.Email)
	return c
}

func checkCertificates(all []Certificate) (mistakes []error) {
	names, taken := map[string]bool{}, map[[4]string]string{}
	for _, c := range all {
		wrong := func(err error) { mistakes = append(mistakes, fmt.Errorf("certificate %q: %w", c.Name, err)) }
		if err := checkLogin(c.Name, c.Tenant, c.Operator); err != nil {
			wrong(err)
		}
		set := 0
		for _, s := range c.selectors() {
			if s != "" {
				set++
			}
		}
		if set != 1 {
			wrong(errors.New("it needs exactly one of subject, dns_name, uri and email"))
		}
		if names[c.Name] {
			wrong(errors.New("there is another of this name"))
		}
		key := c.normal().selectors()
		if other, ok := taken[key]; ok && set == 1 {
			wrong(fmt.Errorf("it matches the same certificates as %q", other))
		}
		names[c.Name], taken[key] = true, c.Name
	}
	return mistakes
}

// matches tells whether a rule is about a certificate.
func (r *rule) matches(c *x509.Certificate, subject string) bool {
	switch {
	case r.Subject != "":
		return subject != "" && r.Subject == subject
	case r.DNSName != "":
		for _, name := range c.DNSNames {
			if strings.ToLower(name) == r.DNSName {
				return true
			}
		}
	case r.URI != "":
		// An SVID has one URI; with more it is not known which of them it is for
		// (SPIFFE X.509-SVID, section 2).
		if strings.HasPrefix(r.URI, "spiffe://") && len(c.URIs) != 1 {
			return false
		}
		for _, uri := range c.URIs {
			if uri.String() == r.URI {
				return true
			}
		}
	case r.Email != "":
		for _, email := range c.EmailAddresses {
			if normalEmail(email) == r.Email {
				return true
			}
		}
	}
	return false
}

// byCertificate logs in with the chain of a client certificate, which the TLS
// listener has verified. Validity is looked at again, since connections live
// long.
func (a *Authn) byCertificate(chain []*x509.Certificate) (*policy.Principal, error) {
	now := a.now()
	for _, c := range chain {
		if now.After(c.NotAfter) || now.Before(c.NotBefore) {
			return nil, &denial{method: certificateLogin, why: "the client certificate, or one of its chain, has expired or is not valid yet (" + c.NotAfter.UTC().Format(time.RFC3339) + ")"}
		}
	}
	leaf := chain[0]
	subject := subjectOf(leaf)
	var found *rule
	for i := range a.rules {
		if !a.rules[i].matches(leaf, subject) {
			continue
		}
		if found != nil {
			return nil, &denial{method: certificateLogin, why: fmt.Sprintf("the client certificate is that of %q and of %q", found.Name, a.rules[i].Name)}
		}
		found = &a.rules[i]
	}
	if found == nil {
		return nil, &denial{method: certificateLogin, why: "the client certificate is nobody's"}
	}
	return found.principal, nil
}

// subjectOf is the distinguished name as it stands in the certificate:
// pkix.Name would lose the order of its parts and all but the last of several of
// one type.
func subjectOf(c *x509.Certificate) string {
	var name pkix.RDNSequence
	if rest, err := asn1.Unmarshal(c.RawSubject, &name); err != nil || len(rest) > 0 || len(name) == 0 {
		return ""
	}
	return normalDN(name.String())
}

// normalDN drops blanks around the separators of a distinguished name and writes
// types in upper case.
func normalDN(s string) string {
	var b strings.Builder
	start := 0
	flush := func(end int) {
		part := strings.TrimLeft(s[start:end], " ")
		for strings.HasSuffix(part, " ") && !strings.HasSuffix(part, `\ `) {
			part = part[:len(part)-1]
		}
		if kind, value, found := strings.Cut(part, "="); found {
			part = strings.ToUpper(strings.TrimSpace(kind)) + "=" + strings.TrimLeft(value, " ")
		}
		b.WriteString(part)
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ',', '+':
			flush(i)
			b.WriteByte(s[i])
			start = i + 1
		}
	}
	flush(len(s))
	return b.String()
}

// normalEmail writes the domain in lower case; what is before it may differ in
// case (RFC 5321, 2.4).
func normalEmail(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return s
	}
	return s[:at] + strings.ToLower(s[at:])
}
