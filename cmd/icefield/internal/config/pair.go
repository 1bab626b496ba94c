package config

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// Keyring is what the files of a tls block held at one time.
type Keyring struct {
	Certificate tls.Certificate
	// ClientCAs is nil if clients are asked for no certificate.
	ClientCAs *x509.CertPool
}

// Sum tells the content of the files from another; files that cannot be read too.
func (t *TLS) Sum() [sha256.Size]byte {
	all := sha256.New()
	for _, name := range []string{t.CertFile, t.KeyFile, t.ClientCAFile} {
		if name == "" {
			continue
		}
		one := see(readBounded(name, maxIncluded))
		fmt.Fprintf(all, "%x %s\n", one.sum, one.unreadable)
	}
	return [sha256.Size]byte(all.Sum(nil))
}

// Read reads the files. Its errors say which of them is wrong and repeat nothing
// of what is in them.
func (t *TLS) Read() (*Keyring, error) {
	text := map[string][]byte{}
	for key, name := range map[string]string{"cert_file": t.CertFile, "key_file": t.KeyFile, "client_ca_file": t.ClientCAFile} {
		if name == "" {
			continue
		}
		content, err := readBounded(name, maxIncluded)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %s", key, name, readProblem(err))
		}
		text[key] = content
	}
	k := &Keyring{}
	var err error
	if k.Certificate, err = tls.X509KeyPair(text["cert_file"], text["key_file"]); err != nil {
		return nil, fmt.Errorf("%s and %s are no certificate with its key: %s", t.CertFile, t.KeyFile, pairProblem(err))
	}
	if t.ClientCAFile != "" {
		if k.ClientCAs = x509.NewCertPool(); !k.ClientCAs.AppendCertsFromPEM(text["client_ca_file"]) {
			return nil, fmt.Errorf("client_ca_file %s holds no PEM certificate", t.ClientCAFile)
		}
	}
	return k, nil
}
