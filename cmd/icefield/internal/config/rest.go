package config

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// rest reads what a mount of a remote catalog has beside the common keys.
func (l *loader) rest(r *row, content *hcl.BodyContent, server *Server) {
	a := content.Attributes
	remote := &Rest{Auth: Auth{Kind: AuthNone}}
	r.Rest = remote
	r.ReadOnly = l.boolean(a["read_only"], true)
	remote.URL = l.endpoint(a["catalog_url"], l.needed(r.block, a["catalog_url"], "catalog_url",
		`Say where the remote catalog is: catalog_url = "https://catalog.example.com/api/catalog", the address that its own clients use as uri, without /v1.`))
	if path, ok := strings.CutSuffix(strings.TrimSuffix(remote.URL, "/config"), "/v1"); ok {
		l.warn(a["catalog_url"], "Version in the URL", "The path ends with /v1 or /v1/config, which is added to every request anyway. It is left out here.")
		remote.URL = path
	}
	remote.Warehouse = l.text(a["warehouse"], "")
	l.once(content, "quirks")
	l.once(content, "cache")
	l.dialect(remote, content)
	l.auth(r, content)
	l.trust(r, content)
	l.relayed(r, a["relayed_access"])
	remote.Cache = l.cache(l.one(content, "cache"))
	remote.Connect = l.timeouts(r, content, server, 10*time.Second, true)
	remote.MaxResponse = l.limits(r, content, 64, true)
	l.clear(remote, a["catalog_url"])
}

// clear warns of a login that others can read or use on the way.
func (l *loader) clear(remote *Rest, url *hcl.Attribute) {
	if !clearText(remote.URL) {
		return
	}
	switch remote.Auth.Kind {
	case AuthNone:
	case AuthPassthrough, AuthExchange:
		l.warn(url, "Credentials in clear text", "The callers' tokens go over http, so everybody on the way can read and use them. Use https if the remote has it.")
	case AuthSigV4:
		l.warn(url, "Credentials in clear text", "Requests are signed and sent over http: the keys do not travel, but everybody on the way can read the answers, storage credentials among them. Use https if the remote has it.")
	default:
		l.warn(url, "Credentials in clear text", "The mount authenticates over http, so everybody on the way can read its credentials. Use https if the remote has it.")
	}
}

// endpoint checks a URL that requests are sent to; "" after reporting a mistake.
func (l *loader) endpoint(attr *hcl.Attribute, s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if strings.Contains(s, "@") {
		l.hide(attr) // where the URL cannot be read as it is meant, a password may stand anywhere before that
	}
	switch {
	case err != nil:
		// The parser's own error repeats the URL, which may hold a password.
		l.refuse(attr, "Invalid URL", attr.Name+` is not a URL. Write it as in "https://catalog.example.com/api/catalog".`)
	case u.User != nil:
		l.refuse(attr, "Secret in a URL", attr.Name+" holds a user or password before the @. Secrets are named, not written: leave that part out, and say with auth or token_env how to log in.")
	case u.Scheme != "http" && u.Scheme != "https":
		l.refuse(attr, "Invalid URL", attr.Name+` must begin with "https://" or "http://".`)
	case u.Hostname() == "":
		l.refuse(attr, "Invalid URL", attr.Name+` names no host. Write it as in "https://catalog.example.com/api/catalog".`)
	case !reachable(u.Port()):
		l.refuse(attr, "Invalid URL", attr.Name+" has a port that is none. Ports go from 1 to 65535.")
	case slices.ContainsFunc(strings.Split(u.Path, "/"), func(step string) bool { return step == "." || step == ".." }):
		l.refuse(attr, "Invalid URL", attr.Name+` has a "." or ".." in its path. Write the path that it leads to.`)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		l.refuse(attr, "Invalid URL", attr.Name+` can have no "?" or "#" part: paths are added at its end.`)
	default:
		return strings.TrimRight(s, "/")
	}
	return ""
}

// reachable reports a port that there is; none is that of the scheme.
func reachable(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
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
