package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// maxSocketPath is what the system's socket addresses hold.
const maxSocketPath = 107

// listen reads an address. Whether it may be reached from elsewhere depends on who
// may log in, and is looked at once that is known.
func (l *loader) listen(attr *hcl.Attribute, def Address) Address {
	s := l.text(attr, "")
	if s == "" {
		return def
	}
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" || strings.HasPrefix(path, "//") {
			l.refuse(attr, "Invalid address", `Write the path of the socket after unix: and one slash, as in "unix:/run/icefield.sock".`)
			return def
		}
		if path = absolute(dirOf(attr), path); len(path) > maxSocketPath {
			l.refuse(attr, "Invalid address", fmt.Sprintf("The path of the socket is longer than the %d bytes that the system allows.", maxSocketPath))
			return def
		}
		return Address{Network: "unix", Address: path}
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		l.refuse(attr, "Invalid address", fmt.Sprintf(`listen is %s. Write host and port, as in "127.0.0.1:8181", or a socket, as in "unix:/run/icefield.sock".`, l.show(attr, s)))
		return def
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		l.refuse(attr, "Invalid address", "The port must be a number from 0 to 65535; 0 takes any free one.")
		return def
	}
	return Address{Network: "tcp", Address: s}
}

var tlsShape = shape{attrs: []string{"cert_file", "key_file", "client_ca_file"}}

// tls reads the tls block; nil means none.
func (l *loader) tls(block *hcl.Block) *TLS {
	if block == nil {
		return nil
	}
	clear(l.meant)
	a := l.content(block.Body, tlsShape).Attributes
	t := &TLS{
		CertFile:     l.path(a["cert_file"], l.needed(block, a["cert_file"], "cert_file", `Say which certificate the server shows: cert_file = "tls.crt", a PEM file with the certificates between it and its authority behind it.`)),
		KeyFile:      l.path(a["key_file"], l.needed(block, a["key_file"], "key_file", `Say where the private key of the certificate is: key_file = "tls.key".`)),
		ClientCAFile: l.path(a["client_ca_file"], l.text(a["client_ca_file"], "")),
	}
	l.pair(a, t)
	if t.ClientCAFile != "" {
		l.authorities(a["client_ca_file"], t.ClientCAFile)
	}
	return t
}

// path is a path in a value, as the process sees it; "" for none.
func (l *loader) path(attr *hcl.Attribute, value string) string {
	if value == "" {
		return ""
	}
	return absolute(dirOf(attr), value)
}

// pair makes sure that a certificate and its key are there and belong together.
// Nothing of the key gets into the report.
func (l *loader) pair(a hcl.Attributes, t *TLS) {
	if t.CertFile == "" || t.KeyFile == "" {
		return
	}
	cert, err := l.include(t.CertFile)
	if err != nil {
		l.refuse(a["cert_file"], "Unreadable certificate", fmt.Sprintf("%s: %s. A relative path starts at the folder of the configuration file.", t.CertFile, readProblem(err)))
		return
	}
	key, err := l.include(t.KeyFile)
	if err != nil {
		l.refuse(a["key_file"], "Unreadable key", fmt.Sprintf("%s: %s. A relative path starts at the folder of the configuration file.", t.KeyFile, readProblem(err)))
		return
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		l.refuse(a["cert_file"], "Unusable certificate", fmt.Sprintf("%s and %s are no certificate with its key: %s.", t.CertFile, t.KeyFile, pairProblem(err)))
	}
}

// pairProblem is why a certificate and a key cannot be used, in words that repeat
// nothing of them.
func pairProblem(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "does not match"):
		return "the key belongs to another certificate"
	case strings.Contains(text, "private key"), strings.Contains(text, "key input"):
		return "the key is not one in PEM that is understood (PKCS #8, PKCS #1 or SEC 1, not encrypted)"
	}
	return "the certificate is not one in PEM"
}

// authorities makes sure that a file holds certificates, and returns its content.
func (l *loader) authorities(attr *hcl.Attribute, path string) []byte {
	text, err := l.include(path)
	switch {
	case err != nil:
		l.refuse(attr, "Unreadable certificates", fmt.Sprintf("%s: %s. %s names a file of PEM certificates; a relative path starts at the folder of the configuration file.", path, readProblem(err), attr.Name))
	case !x509.NewCertPool().AppendCertsFromPEM(text):
		l.refuse(attr, "No certificates", fmt.Sprintf("%s holds no PEM certificate (-----BEGIN CERTIFICATE-----).", path))
	}
	return text
}
