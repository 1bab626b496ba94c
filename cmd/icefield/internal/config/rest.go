package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// rest reads what a mount of a remote catalog has beside the common keys.
func (l *loader) rest(r *row, content *hcl.BodyContent, server *Server) {
	a := content.Attributes
	remote := &Rest{Auth: Auth{Kind: AuthNone}}
	r.Rest = remote
	r.ReadOnly = true
	if !l.boolean(a["read_only"], true) {
		l.refuse(a["read_only"], "Writes not available", `Mounts with backend = "rest" are read-only: writes to a remote catalog are not available. Leave read_only out, or set it to true.`)
	}
	remote.URL = l.endpoint(a["catalog_url"], l.needed(r.block, a["catalog_url"], "catalog_url",
		`Say where the remote catalog is: catalog_url = "https://catalog.example.com/api/catalog", the address that its own clients use as uri, without /v1.`))
	if path, ok := strings.CutSuffix(strings.TrimRight(remote.URL, "/"), "/v1"); ok {
		l.warn(a["catalog_url"], "Version in the URL", "The path ends with /v1, which is added to every request anyway. It is left out here.")
		remote.URL = path
	}
	remote.Warehouse = l.text(a["warehouse"], "")
	l.auth(r, content)
	remote.Connect = l.timeouts(r, content, server, 10*time.Second, true)
	remote.MaxResponse = l.limits(r, content, 64, true)
	if remote.Auth.Kind != AuthNone && clearText(remote.URL) {
		l.warn(a["catalog_url"], "Credentials in clear text", "The mount authenticates over http, so everybody on the way can read its credentials. Use https if the remote has it.")
	}
}

// endpoint checks a URL that requests are sent to; "" after reporting a mistake.
func (l *loader) endpoint(attr *hcl.Attribute, s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		// The parser's own error repeats the URL, which may hold a password.
		l.refuse(attr, "Invalid URL", attr.Name+` is not a URL. Write it as in "https://catalog.example.com/api/catalog".`)
	case u.User != nil:
		l.hide(attr)
		l.refuse(attr, "Secret in a URL", attr.Name+" holds a user or password before the @. Secrets are named, not written: leave that part out, and say with auth or token_env how to log in.")
	case u.Scheme != "http" && u.Scheme != "https":
		l.refuse(attr, "Invalid URL", attr.Name+` must begin with "https://" or "http://".`)
	case u.Hostname() == "":
		l.refuse(attr, "Invalid URL", attr.Name+` names no host. Write it as in "https://catalog.example.com/api/catalog".`)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		l.refuse(attr, "Invalid URL", attr.Name+` can have no "?" or "#" part: paths are added at its end.`)
	default:
		return strings.TrimRight(s, "/")
	}
	return ""
}

// clearText reports whether what is sent to a URL can be read on the way.
func clearText(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

// auth reads how to log in: a block, or token_env, which is short for one.
func (l *loader) auth(r *row, content *hcl.BodyContent) {
	blocks := content.Blocks.OfType("auth")
	short := content.Attributes["token_env"]
	for i := 1; i < len(blocks); i++ {
		l.problem(blocks[i].DefRange, "Duplicate block", fmt.Sprintf("A mount logs in one way, and there is an auth block already at %s. Leave one out.", place(blocks[0].DefRange)))
	}
	if short != nil && len(blocks) > 0 {
		l.problem(short.NameRange, "Two ways to log in", fmt.Sprintf(`token_env is short for auth "bearer", and there is an auth block at %s. Leave one out.`, place(blocks[0].DefRange)))
	}
	if short != nil {
		r.Rest.Auth = Auth{Kind: AuthBearer, TokenEnv: l.secretEnv(short)}
	}
	for _, block := range blocks {
		r.Rest.Auth = l.authBlock(block)
	}
}

func (l *loader) authBlock(block *hcl.Block) Auth {
	auth := Auth{Kind: block.Labels[0]}
	switch auth.Kind {
	case AuthNone:
		l.content(block.Body, shape{})
	case AuthBearer:
		a := l.content(block.Body, shape{attrs: []string{"token_env", "token_file"}}).Attributes
		env, file := a["token_env"], a["token_file"]
		switch {
		case env == nil && file == nil:
			l.missing(block, "token", `Say where the token is: token_env = "NAME" of an environment variable, or token_file = "path".`)
		case env != nil && file != nil:
			l.problem(file.NameRange, "Two tokens", "The token comes from token_env or from token_file, not from both. Leave one out.")
		}
		auth.TokenEnv, auth.TokenFile = l.secretEnv(env), l.secretFile(file)
	case AuthOAuth2:
		a := l.content(block.Body, shape{attrs: []string{"token_url", "client_id", "client_secret_env", "scope"}}).Attributes
		auth.TokenURL = l.endpoint(a["token_url"], l.text(a["token_url"], ""))
		auth.ClientID = l.needed(block, a["client_id"], "client_id", "Say who asks for a token: client_id = \"…\".")
		if a["client_secret_env"] == nil {
			l.missing(block, "client_secret_env", "Name the environment variable that holds the client's secret: client_secret_env = \"…\".")
		}
		auth.ClientSecretEnv = l.secretEnv(a["client_secret_env"])
		auth.Scope = l.text(a["scope"], "")
	default:
		advice := `Known kinds: "none", "bearer", "oauth2".`
		if near := nearest(auth.Kind, AuthKinds()); near != "" {
			advice = fmt.Sprintf("Did you mean %q?", near)
		}
		l.problem(block.LabelRanges[0], "Unknown kind of auth", "There is no auth of this kind. "+advice)
	}
	return auth
}
