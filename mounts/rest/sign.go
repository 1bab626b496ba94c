package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// A remote that signs storage requests names, in a table's config, the route
// where it does: clients must not go there themselves. The address, with the
// headers that the remote wants to see again, is sealed into Signing.State; the
// client brings it back, and the request is signed there in its name.

// signer is what Signing.State holds.
type signer struct {
	URL    string      `json:"u"`
	Header http.Header `json:"h,omitempty"`
}

// sign adds to the table how its storage requests are signed, if they are.
func (g *given) sign() error {
	config := g.signingConfig()
	properties, header, err := readSigning(g.loaded.signing)
	if err != nil {
		return broken(g.call, err)
	}
	switch enabled, said := config["s3.remote-signing-enabled"]; {
	case said && !strings.EqualFold(enabled, "true"), !said && properties == nil:
		return nil
	}
	refuse := func(why error, msg string) error {
		if len(g.table.StorageCredentials) > 0 {
			g.backend.config.Logger.Warn("the remote catalog's signer is not used", slog.String("reason", why.Error()))
			return nil // the credentials do
		}
		return refuseAccess(g.call, why, msg)
	}
	for _, location := range []string{g.location, g.loaded.location} {
		if g.backend.ours(location) {
			return g.backend.oursRefused(g.call, location)
		}
	}
	at, err := g.backend.signerAddress(g.call, config)
	if err != nil {
		return refuse(err, "the remote catalog wants storage requests of {object} signed at an address that is not its own, which is not followed")
	}
	state, err := g.backend.sealSigner(g.call.object, signer{URL: at, Header: header})
	if err != nil {
		return refuse(err, "the remote catalog's signing configuration of {object} is too large to be passed on")
	}
	t := g.table
	t.Signing = &mounts.Signing{State: state, Config: map[string]string{"s3.remote-signing-enabled": "true"}}
	if name := config["s3.signer"]; name == "S3V4RestSigner" { // what PyIceberg asks for
		t.Signing.Config["s3.signer"] = name
	}
	if properties != nil {
		extra := make(map[string]json.RawMessage, len(t.Extra)+1)
		for name, value := range t.Extra {
			extra[name] = value
		}
		extra["remote-signing-config"] = properties
		t.Extra = extra
	}
	return nil
}

// signingConfig is the config that says how to sign: the table's, or else that
// of the only credential that does.
func (g *given) signingConfig() map[string]string {
	if _, ok := g.loaded.said["s3.remote-signing-enabled"]; ok {
		return g.loaded.said
	}
	for _, credential := range g.list {
		if _, ok := credential.Config["s3.remote-signing-enabled"]; ok {
			return merged(g.loaded.said, credential.Config)
		}
	}
	return g.loaded.said
}

const (
	// maxSignHeaders and maxSignBytes bound the headers of a signing
	// configuration and of a signed request.
	maxSignHeaders = 64
	maxSignBytes   = 32 << 10
)

// readSigning reads remote-signing-config: the properties, as the object that is
// passed on, and the headers, which are kept back. Nil for none.
func readSigning(value jsontext.Value) (properties json.RawMessage, header http.Header, err error) {
	if len(value) == 0 || value.Kind() == 'n' {
		return nil, nil, nil
	}
	properties = json.RawMessage(`{"properties":{}}`)
	err = members(value, func(name string, value jsontext.Value) (err error) {
		switch name {
		case "properties":
			said, err := stringMap(value)
			if err != nil {
				return err
			}
			if said == nil {
				said = map[string]string{}
			}
			properties, err = json.Marshal(map[string]any{"properties": said})
			return err
		case "headers":
			header, err = readHeaders(value)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("remote-signing-config: %w", err)
	}
	for name := range header {
		if ownHeader(name) {
			delete(header, name)
		}
	}
	return properties, header, nil
}

// readHeaders reads an object of header names and lists of values. A single
// value in place of a list counts as one.
func readHeaders(value jsontext.Value) (http.Header, error) {
	header, size := http.Header{}, 0
	if value.Kind() == 'n' {
		return header, nil
	}
	err := members(value, func(name string, value jsontext.Value) error {
		var values []string
		if text, ok := stringValue(value); ok {
			values = []string{text}
		} else if value.Kind() != 'n' {
			var err error
			if values, err = stringList(value, maxSignHeaders); err != nil {
				return err
			}
		}
		if !headerName(name) {
			return errors.New("a header has a name that none can have")
		}
		for _, v := range values {
			if size += len(name) + len(v); size > maxSignBytes || !headerValue(v) {
				return errors.New("a header has a value that none can have, or there is too much of them")
			}
		}
		if len(header) == maxSignHeaders {
			return errors.New("there are too many headers")
		}
		header[name] = values
		return nil
	})
	return header, err
}

// headerName reports a token of RFC 9110, section 5.6.2.
func headerName(name string) bool {
	if name == "" || len(name) > 256 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return true
}

// ownHeader reports the headers of a call that no remote sets for us: those of
// the connection and of the message, and those that say who calls.
func ownHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Host", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect", "Proxy-Authorization",
		"Proxy-Connection", "Content-Length", "Content-Type", "Content-Encoding", "Accept", "Accept-Encoding", "Cookie", "User-Agent",
		"X-Request-Id", "Traceparent", "X-Icefield-Via", "Idempotency-Key", "X-Iceberg-Access-Delegation":
		return true
	}
	return false
}

// signerAddress is where the remote signs, resolved as Java's client does
// (S3V4RestSignerClient). It must be the remote's own host.
func (b *Backend) signerAddress(c call, config map[string]string) (string, error) {
	first := func(names ...string) string {
		for _, name := range names {
			if config[name] != "" {
				return config[name]
			}
		}
		return ""
	}
	base, endpoint := first("signer.uri", "s3.signer.uri"), first("signer.endpoint", "s3.signer.endpoint")
	switch {
	case strings.Contains(endpoint, "://"):
		base = ""
	case base == "":
		base = c.at.base
	}
	var err error
	if endpoint == "" {
		endpoint = "v1/aws/s3/sign"
		if c.at.has.Has(capabilities.SignRequest) {
			base = ""
			if endpoint, err = c.at.object(c.object, "tables", c); err != nil {
				return "", err
			}
			endpoint += "/sign"
		}
	}
	at := endpoint
	if base != "" {
		at = strings.TrimRight(base, "/") + "/" + strings.TrimLeft(endpoint, "/")
	}
	return at, checkSigner(b.config.URL, at)
}

// checkSigner says why a signing route is not used: whoever owns it would be
// sent the mount's login.
func checkSigner(home, at string) error {
	if len(at) > maxURI {
		return fmt.Errorf("its address is longer than %d bytes", maxURI)
	}
	to, err := url.Parse(at)
	if err != nil || to.User != nil || to.Fragment != "" || to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "" {
		return errors.New("its address is no plain http or https URL")
	}
	from, err := url.Parse(home)
	switch {
	case err != nil:
		return errors.New("the mount's own address cannot be read")
	case !strings.EqualFold(from.Hostname(), to.Hostname()):
		return fmt.Errorf("it is on another host (%s)", to.Hostname())
	case from.Scheme == "https" && to.Scheme != "https":
		return errors.New("it gives up https")
	}
	return nil
}

// SignRequest implements mounts.Backend: it has the remote sign one storage
// request, where the load of the table said, or else at the spec's route if the
// remote has that. The body is the client's, unchanged.
func (b *Backend) SignRequest(ctx context.Context, req *mounts.SignStorageRequest) (*mounts.Document, error) {
	s := b.current()
	c := call{at: s, op: req.Op(), kind: kindCatalog, method: http.MethodPost, object: req.Object(), body: req.Body}
	refuse := func(kind mounts.Kind, msg string) error {
		return &mounts.Error{Kind: kind, Op: c.op, Ident: c.object, Msg: msg}
	}
	var err error
	switch {
	case b.config.Withhold:
		return nil, mounts.NotSupported(req)
	case req.State != "":
		at, ok := b.openSigner(req.Table, req.State)
		if !ok || checkSigner(b.config.URL, at.URL) != nil {
			return nil, refuse(mounts.BadRequest, "this is not a signing address that a load of {object} gave; load the table again")
		}
		c.url, c.header = at.URL, at.Header
	case s.can.Has(capabilities.SignRequest):
		if c.url, err = s.object(req.Table, "tables", c); err != nil {
			return nil, err
		}
		c.url += "/sign"
	default:
		return nil, mounts.NotSupported(req)
	}
	host, err := signedHost(req.Body)
	if err != nil {
		return nil, refuse(mounts.BadRequest, "the request to be signed has no uri that could be signed")
	}
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(c, a)
	}
	if err := checkSigned(a.body, host); err != nil {
		return nil, broken(c, err)
	}
	return &mounts.Document{Body: json.RawMessage(a.body), CacheControl: signedCaching(a.header)}, nil
}

// signedHost is the scheme and host that a request is to be sent to.
func signedHost(body []byte) (host string, err error) {
	err = members(body, func(name string, value jsontext.Value) error {
		if name != "uri" {
			return nil
		}
		text, _ := stringValue(value)
		u, err := url.Parse(text)
		if err != nil || u.Host == "" {
			return errors.New("the uri cannot be read")
		}
		host = strings.ToLower(u.Scheme + "://" + u.Host)
		return nil
	})
	if err == nil && host == "" {
		err = errors.New("there is no uri")
	}
	return host, err
}

// checkSigned refuses an answer that would have the client send its request
// elsewhere, or headers that are none.
func checkSigned(body []byte, host string) error {
	to, err := signedHost(body)
	if err != nil {
		return fmt.Errorf("the signed request: %w", err)
	}
	if to != host {
		return errors.New("the signed request goes to another host than the one that was to be signed")
	}
	return members(body, func(name string, value jsontext.Value) error {
		if name != "headers" {
			return nil
		}
		_, err := readHeaders(value)
		return err
	})
}

// signedCaching is the Cache-Control of a signed request: clients keep one that
// is private. Nothing that lets others keep it passes.
func signedCaching(h http.Header) string {
	value := h.Get("Cache-Control")
	for directive := range strings.SplitSeq(value, ",") {
		name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "private", "no-cache", "no-store", "max-age", "must-revalidate":
		default:
			return ""
		}
	}
	if len(value) > 200 || !headerValue(value) {
		return ""
	}
	return value
}
