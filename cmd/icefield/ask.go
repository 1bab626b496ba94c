package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// reach says how to come to a running server, and as whom.
type reach struct {
	// address is a URL, or unix: and a path.
	address string
	// keyEnv names the environment variable that holds an API key, or a token of an
	// issuer that the server knows; an empty one is nobody.
	keyEnv string
	// caFile holds the certificates to trust instead of the system's.
	caFile string
}

const defaultKeyEnv = "ICEFIELD_API_KEY"

// serverFlag gives a command the flags that say how to come to a server.
func serverFlag(cmd *cobra.Command) *reach {
	r := &reach{}
	cmd.Flags().StringVar(&r.address, "url", "http://127.0.0.1:8181", "where the server is: an `URL`, or unix: and the path of its socket")
	cmd.Flags().StringVar(&r.keyEnv, "api-key-env", defaultKeyEnv, "the environment `VARIABLE` that holds the API key, or the token, to log in with")
	cmd.Flags().StringVar(&r.caFile, "ca-file", "", "a `FILE` of certificates to trust instead of the system's")
	return r
}

// maxAnswer bounds an answer, and askTimeout how long it may take: longer than
// the server gives its mounts.
const (
	maxAnswer  = 16 << 20
	askTimeout = 15 * time.Second
)

// ask reads a path of a running server's admin surface.
func ask(ctx context.Context, at reach, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client, base, err := at.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return nil, fmt.Errorf("%s is no address of a server: %w", at.address, err)
	}
	if err := at.logIn(req); err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, at.silent(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("the answer of %s broke off: %w", at.address, err)
	}
	if resp.StatusCode == http.StatusBadRequest && strings.HasPrefix(at.address, "http:") && strings.Contains(string(text), "HTTPS server") {
		return nil, fmt.Errorf("the server speaks TLS: write --url https:%s, and --ca-file if its certificate is not by an authority of the system", strings.TrimPrefix(at.address, "http:"))
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s%s%s", at.address, resp.Status, spoken(text), at.remedy(resp.StatusCode))
	}
	return text, nil
}

// logIn shows who asks, if the environment says so. A key is as good as a bearer
// token. It is not shown to whoever listens on the way.
func (r reach) logIn(req *http.Request) error {
	key := strings.TrimSpace(os.Getenv(r.keyEnv))
	if r.keyEnv == "" || key == "" {
		if r.keyEnv != "" && r.keyEnv != defaultKeyEnv {
			return fmt.Errorf("the environment variable %s is not set", r.keyEnv)
		}
		return nil
	}
	if req.URL.Scheme == "http" && !strings.HasPrefix(r.address, "unix:") && !here(req.URL.Hostname()) {
		return fmt.Errorf("the key in %s is not sent over http to another machine, where everybody on the way could read it: use https", r.keyEnv)
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return fmt.Errorf("the environment variable %s holds no API key and no token: it has blanks or other characters that cannot be sent", r.keyEnv)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	return nil
}

// here reports a host that is this machine.
func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// remedy says what to do about a refusal.
func (r reach) remedy(status int) string {
	switch {
	case status == http.StatusUnauthorized && os.Getenv(r.keyEnv) == "":
		return fmt.Sprintf("\nLog in: put an API key into %s, or name another environment variable with --api-key-env.", r.keyEnv)
	case status == http.StatusUnauthorized:
		return fmt.Sprintf("\nThe key in %s is not, or no longer, one that the server knows.", r.keyEnv)
	case status == http.StatusForbidden:
		return "\nThis is for operators, and for whom a policy permits the action inspect."
	}
	return ""
}

// silent is the error of a server that does not answer.
func (r reach) silent(err error) error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	var unknown x509.UnknownAuthorityError
	var wrongName x509.HostnameError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is by nobody who is trusted here: name the authority with --ca-file: %w", r.address, err)
	case errors.As(err, &wrongName):
		return fmt.Errorf("the certificate of %s is for another name: use one of its names in --url: %w", r.address, err)
	}
	return fmt.Errorf("no icefield answers at %s: %w (is it running, and is --url its address?)", r.address, err)
}

// client returns a client that reaches the address, and the URL to use. It follows
// no redirect, which could lead a key elsewhere.
func (r reach) client() (*http.Client, string, error) {
	transport := &http.Transport{}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if path, ok := strings.CutPrefix(r.address, "unix:"); ok {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
		return client, "http://unix", nil
	}
	u, err := url.Parse(r.address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return nil, "", errors.New(`--url is no address of a server; write "https://lake.example.com:8181", "http://127.0.0.1:8181" or "unix:/run/icefield.sock"`)
	}
	if r.caFile != "" {
		text, err := os.ReadFile(r.caFile)
		if err != nil {
			return nil, "", fmt.Errorf("--ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, "", fmt.Errorf("--ca-file: %s holds no PEM certificate", r.caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	return client, strings.TrimRight(r.address, "/"), nil
}

// spoken is the sentence in an error answer, after a colon.
func spoken(text []byte) string {
	var body struct{ Error struct{ Message string } }
	if json.Unmarshal(text, &body) != nil || body.Error.Message == "" {
		return ""
	}
	return ": " + printable(body.Error.Message)
}

// printable keeps what a server sent from steering the terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7F || (r >= 0x80 && r < 0xA0) {
			return ' '
		}
		return r
	}, s)
}
