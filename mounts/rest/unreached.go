package rest

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
)

// unreached says of a call that got no connection what is worth trying. What
// time heals is not told from what an operator must mend by "try again later".
func unreached(err error) string {
	var h *hushed
	if errors.As(err, &h) {
		err = h.err
	}
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var name *net.DNSError
	switch {
	case errors.As(err, &certificate):
		return "the remote catalog's certificate is not accepted, so nothing was sent; check the host in catalog_url, ca_file and when the certificate ends"
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "the remote catalog does not speak TLS, so nothing was sent; check whether its catalog_url begins with https"
	case errors.As(err, &name) && name.IsNotFound:
		return "the remote catalog's host is not known, so nothing was sent; check the host in catalog_url and try again later"
	}
	return "the remote catalog cannot be reached; nothing was sent, try again later"
}
