package config

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/icefield/icefield/mounts/rest"
)

// dialect reads what tells the remote from what the spec describes.
func (l *loader) dialect(remote *Rest, content *hcl.BodyContent) {
	a := content.Attributes
	remote.Profile = l.profile(a["profile"])
	remote.Headers = l.headers(a["headers"])
	if s := l.text(a["namespace_separator"], ""); s != "" {
		remote.Separator = s
		if !separator.MatchString(s) {
			l.refuse(a["namespace_separator"], "Invalid separator", `The separator stands between the levels of a namespace in the remote's paths, as the remote would name it: "%1F", "%2E" or ".". It has at most 16 letters, digits, dots or percent-encoded bytes.`)
		}
	}
	remote.Levels = l.integer(a["namespace_levels"], 0, 1, 100)
	remote.SettingsRefresh = l.duration(a["settings_refresh"], 5*time.Minute, time.Second, 24*time.Hour)
	if block := l.one(content, "quirks"); block != nil {
		q := l.content(block.Body, quirksShape).Attributes
		remote.Quirks = Quirks{
			ThrottlesWith400: l.tristate(q["throttles_with_400"]),
			MissingLists:     l.tristate(q["missing_lists"]),
			NoHEAD:           l.tristate(q["no_head"]),
		}
	}
}

var (
	quirksShape = shape{attrs: []string{"throttles_with_400", "missing_lists", "no_head"}}
	cacheShape  = shape{attrs: []string{"ttl", "stale_if_down", "size", "coalesce"}}
	separator   = regexp.MustCompile(`^([A-Za-z0-9._~-]|%[0-9A-Fa-f]{2}){1,16}$`)
)

// profile reads the name of a preset.
func (l *loader) profile(attr *hcl.Attribute) string {
	name := l.text(attr, "")
	if name == "" {
		return ""
	}
	var names []string
	for _, p := range rest.Profiles() {
		if p.Name == name {
			return name
		}
		names = append(names, p.Name)
	}
	advice := "Known profiles: " + strings.Join(names, ", ") + "."
	if near := nearest(name, names); near != "" {
		advice = fmt.Sprintf("Did you mean %q?", near)
	}
	l.refuse(attr, "Unknown profile", "There is no profile of this name. "+advice+" A catalog that keeps to the spec needs none.")
	return ""
}

// tristate reads a boolean that may be left to the profile.
func (l *loader) tristate(attr *hcl.Attribute) *bool {
	if attr == nil {
		return nil
	}
	value := l.boolean(attr, false)
	return &value
}

const (
	maxHeaders     = 32
	maxHeaderValue = 4096
)

var headerName = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+.^_|~` + "`" + `-]{1,128}$`)

// ownHeaders are set by Icefield on every call, or belong to the connection.
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Forwarded", "Host", "If-Match", "If-None-Match",
	"Idempotency-Key", "Keep-Alive", "Range", "Te", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "Via",
	"X-Iceberg-Access-Delegation", "X-Icefield-Via", "X-Request-Id",
}

// headers reads what is sent with every call of the catalog.
func (l *loader) headers(attr *hcl.Attribute) map[string]string {
	v, ok := l.value(attr, cty.Map(cty.String))
	if !ok || v.LengthInt() == 0 {
		return nil
	}
	if v.LengthInt() > maxHeaders {
		l.refuse(attr, "Too many headers", fmt.Sprintf("At most %d headers can be sent with every call.", maxHeaders))
		return nil
	}
	headers, places := map[string]string{}, l.keyRanges(attr)
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		at, known := places[key.AsString()]
		if !known {
			at = attr.Expr.Range()
		}
		name := textproto.CanonicalMIMEHeaderKey(key.AsString())
		if value.IsNull() || value.AsString() == "" {
			l.problem(at, "Empty value", fmt.Sprintf("The header %q has no value. Give it one or leave it out.", key.AsString()))
			continue
		}
		if summary, problem := headerProblem(name, value.AsString()); problem != "" {
			if summary == secretHeader {
				l.hide(attr)
			}
			l.problem(at, summary, problem)
			continue
		}
		if _, twice := headers[name]; twice {
			l.problem(at, "Duplicate header", fmt.Sprintf("The header %s stands twice: capitals make no difference.", name))
		}
		headers[name] = value.AsString()
	}
	return headers
}

// keyRanges is where the keys of a map are written.
func (l *loader) keyRanges(attr *hcl.Attribute) map[string]hcl.Range {
	places := map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(attr.Expr)
	for _, pair := range pairs {
		if key, diags := pair.Key.Value(l.scope(attr)); !diags.HasErrors() && key.Type() == cty.String && key.IsKnown() && !key.IsNull() {
			places[key.AsString()] = pair.Key.Range()
		}
	}
	return places
}

const secretHeader = "Secret in a header"

// headerProblem says what is wrong with a header, if anything.
func headerProblem(name, value string) (summary, problem string) {
	switch {
	case !headerName.MatchString(name):
		return "Invalid header", fmt.Sprintf("%.60q cannot name a header: use letters, digits and dashes.", name)
	case name == "Authorization" || name == "Cookie" || name == "Proxy-Authorization" || isSecret(name) || strings.HasPrefix(name, "X-Amz-"):
		return secretHeader, fmt.Sprintf("%s is for logging in. Say how the mount logs in with an auth block, which keeps its secrets out of the configuration and of every log.", name)
	}
	for _, own := range ownHeaders {
		if name == own {
			return "Header not settable", fmt.Sprintf("%s belongs to the protocol, and Icefield sets it itself. Leave it out.", name)
		}
	}
	if len(value) > maxHeaderValue || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "Invalid header", fmt.Sprintf("The value of the header %s is not visible ASCII of at most %d characters.", name, maxHeaderValue)
	}
	return "", ""
}

// trust reads which certificates and which storage locations of the remote are
// believed in.
func (l *loader) trust(r *row, content *hcl.BodyContent) {
	a, remote := content.Attributes, r.Rest
	switch mode := l.text(a["credentials"], "forward"); mode {
	case "forward":
	case "withhold":
		remote.Withhold = true
	default:
		advice := `Write "forward", so that clients who ask for it get the remote's storage credentials, or "withhold", so that no client does.`
		if near := nearest(mode, []string{"forward", "withhold"}); near != "" {
			advice = fmt.Sprintf("Did you mean %q?", near)
		}
		l.refuse(a["credentials"], "Unknown mode", "credentials is neither \"forward\" nor \"withhold\". "+advice)
	}
	r.allowed = a["allowed_locations"]
	remote.AllowedLocations = l.locations(r.allowed)
	if path := l.text(a["ca_file"], ""); path != "" {
		remote.CAFile = absolute(dirOf(a["ca_file"]), path)
		remote.CASum = l.certificates(a["ca_file"], remote)
	}
}

// certificates checks a file of certificates and returns what tells its content
// from another.
func (l *loader) certificates(attr *hcl.Attribute, remote *Rest) string {
	before := len(l.diags)
	text := l.authorities(attr, remote.CAFile)
	if len(l.diags) == before && !strings.HasPrefix(remote.URL, "https:") && !strings.HasPrefix(remote.Auth.TokenURL, "https:") && remote.URL != "" {
		l.refuse(attr, "Nothing to certify", "The remote is called over http, where there are no certificates. Leave ca_file out, or write https in catalog_url.")
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Certificates reads the certificates of a mount's ca_file; nil for the system's.
func (r *Rest) Certificates() (*x509.CertPool, error) {
	if r.CAFile == "" {
		return nil, nil
	}
	text, err := readBounded(r.CAFile, maxIncluded)
	if err != nil {
		return nil, fmt.Errorf("ca_file %s: %s", r.CAFile, readProblem(err))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_file %s holds no PEM certificate", r.CAFile)
	}
	return pool, nil
}

const maxLocations = 1000

var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// locations reads a list of storage locations.
func (l *loader) locations(attr *hcl.Attribute) []string {
	v, ok := l.value(attr, cty.List(cty.String))
	if !ok {
		return nil
	}
	if v.LengthInt() == 0 {
		l.refuse(attr, "Empty list", "An empty list would allow no location at all. Name some, or leave allowed_locations out to allow all.")
		return nil
	}
	if v.LengthInt() > maxLocations {
		l.refuse(attr, "List too long", fmt.Sprintf("At most %d locations can be allowed.", maxLocations))
		return nil
	}
	var all []string
	items, diags := hcl.ExprList(attr.Expr)
	for i, value := range v.AsValueSlice() {
		at := attr.Expr.Range()
		if !diags.HasErrors() && i < len(items) {
			at = items[i].Range()
		}
		if value.IsNull() {
			l.problem(at, "Empty value", "A location in the list is null. Leave it out.")
			continue
		}
		location := value.AsString()
		if problem := locationProblem(location); problem != "" {
			l.problem(at, "Invalid location", fmt.Sprintf(`%s %s. Write locations as the remote's tables have them: "s3://bucket/prefix/".`, l.show(attr, location), problem))
			continue
		}
		all = append(all, strings.TrimRight(location, "/"))
	}
	return all
}

// locationProblem says why a text is no storage location, or "".
func locationProblem(s string) string {
	head := scheme.FindString(s)
	switch {
	case head == "":
		return "is no URI with a scheme"
	case len(s) > 4096:
		return "is longer than 4096 bytes"
	case strings.ContainsAny(s, "?#") || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return `has a "?", a "#" or a control character in it`
	}
	authority, path, _ := strings.Cut(s[len(head):], "/")
	if authority == "" && strings.Trim(path, "/") == "" {
		return "names no bucket and no path"
	}
	for part := range strings.SplitSeq(strings.TrimRight(path, "/"), "/") {
		if part == "." || part == ".." || part == "" && strings.Trim(path, "/") != "" {
			return "has an empty segment, a . or a .. in it"
		}
	}
	return ""
}

// cache reads the cache block; nil means defaults.
func (l *loader) cache(block *hcl.Block) Cache {
	c := Cache{Size: 256 << 20, Coalesce: true}
	if block == nil {
		return c
	}
	a := l.content(block.Body, cacheShape).Attributes
	c.TTL = l.duration(a["ttl"], 0, 0, 24*time.Hour)
	c.StaleIfDown = l.duration(a["stale_if_down"], 0, 0, 30*24*time.Hour)
	c.Size = l.size(a["size"], c.Size, 0, 64<<30)
	c.Coalesce = l.boolean(a["coalesce"], c.Coalesce)
	for key, d := range map[string]time.Duration{"ttl": c.TTL, "stale_if_down": c.StaleIfDown} {
		if d > 0 && c.Size == 0 {
			l.refuse(a[key], "Nothing to keep in", fmt.Sprintf(`%s says how long answers are used, and size = "0" keeps none. Give the cache a size, or leave %s out.`, key, key))
		}
	}
	return c
}
