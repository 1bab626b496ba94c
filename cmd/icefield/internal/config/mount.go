package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/icefield/icefield/mounts"
)

// row is a mount with the places that a check across mounts points at.
type row struct {
	Mount
	block                     *hcl.Block
	name, registry, warehouse *hcl.Attribute
	allowed                   *hcl.Attribute
	nameOK, warehouseOK       bool
}

// label is the place of the mount's name.
func (r row) label() hcl.Range { return r.block.LabelRanges[0] }

// Keys that every mount can have.
var (
	commonKeys   = []string{"backend", "name", "owner", "read_only", "required"}
	commonBlocks = []hcl.BlockHeaderSchema{{Type: "timeout"}, {Type: "breaker"}, {Type: "limit"}}
)

// kind is how one kind of backend extends a mount.
type kind struct {
	name   string
	keys   []string
	blocks []hcl.BlockHeaderSchema
	read   func(*loader, *row, *hcl.BodyContent, *Server)
}

func kinds() []kind {
	return []kind{
		{KindNative, []string{"catalog_url", "warehouse_location", "storage", "metadata_cache", "idempotency_lifetime", "signing", "signing_bulk_delete"},
			[]hcl.BlockHeaderSchema{{Type: "vending", LabelNames: []string{"kind"}}}, (*loader).native},
		{KindRest, []string{"catalog_url", "warehouse", "token_env", "profile", "headers", "ca_file", "namespace_separator", "namespace_levels",
			"credentials", "allowed_locations", "settings_refresh", "relayed_access"},
			[]hcl.BlockHeaderSchema{{Type: "auth", LabelNames: []string{"kind"}}, {Type: "quirks"}, {Type: "cache"}}, (*loader).rest},
	}
}

// shape is everything that a mount of this kind may hold. It is one shape rather
// than the common part and a rest, so that a misspelt common key is recognised.
func (k kind) shape() shape {
	s := shape{elsewhere: map[string]string{}}
	s.attrs = append(append(s.attrs, commonKeys...), k.keys...)
	s.blocks = append(append(s.blocks, commonBlocks...), k.blocks...)
	for _, other := range kinds() {
		if other.name == k.name {
			continue
		}
		names := other.keys
		for _, b := range other.blocks {
			names = append(names[:len(names):len(names)], b.Type)
		}
		for _, name := range names {
			s.elsewhere[name] = fmt.Sprintf("It belongs to mounts with backend = %q; this one has %q.", other.name, k.name)
		}
	}
	for _, name := range k.keys {
		delete(s.elsewhere, name)
	}
	return s
}

// mount reads a mount block in two stages: its backend first, which decides what
// else it may hold.
func (l *loader) mount(block *hcl.Block, server *Server) row {
	clear(l.meant)
	r := row{block: block, Mount: Mount{Name: block.Labels[0], Required: true}}
	if r.Name != mounts.UnderName {
		if err := mounts.CheckName(r.Name); err != nil {
			l.problem(r.label(), "Invalid mount name", capital(err.Error())+".")
		} else {
			r.nameOK = true
		}
		r.ViewName = r.Name
	}
	k, ok := l.kind(block)
	if !ok {
		return r
	}
	content := l.content(block.Body, k.shape())
	a := content.Attributes
	r.Kind = k.name
	l.viewName(&r, a["name"])
	r.Owner = l.owner(&r, a["owner"])
	r.Required = l.boolean(a["required"], true)
	for _, b := range commonBlocks {
		l.once(content, b.Type)
	}
	k.read(l, &r, content, server)
	l.breaker(&r, content)
	return r
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// kind reads which backend a mount has.
func (l *loader) kind(block *hcl.Block) (kind, bool) {
	content, _, diags := block.Body.PartialContent(shape{attrs: []string{"backend"}}.schema())
	l.add(diags...)
	attr := content.Attributes["backend"]
	if attr == nil {
		l.misspelt(block, "backend")
	}
	var names []string
	for _, k := range kinds() {
		names = append(names, fmt.Sprintf("%q", k.name))
	}
	name := l.needed(block, attr, "backend", fmt.Sprintf("Say what answers for the mount %q: backend = %s.", block.Labels[0], strings.Join(names, " or ")))
	if name == "" {
		return kind{}, false
	}
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	advice := "Known backends: " + strings.Join(names, ", ") + "."
	if near := nearest(name, Kinds()); near != "" {
		advice = fmt.Sprintf("Did you mean %q?", near)
	}
	l.refuse(attr, "Unknown backend", fmt.Sprintf("There is no backend of this name. %s", advice))
	return kind{}, false
}

// misspelt reports a key that was probably meant to be the one that is missing.
func (l *loader) misspelt(block *hcl.Block, key string) {
	all, _ := block.Body.JustAttributes()
	for name, attr := range all {
		if nearest(name, []string{key}) != "" {
			l.meant[key] = true
			l.problem(attr.NameRange, "Unknown key", fmt.Sprintf("There is no key %q here. Did you mean %q?", name, key))
			return
		}
	}
}

// viewName reads the key name, which only the catalog underneath has: the others
// are called by their mount's name.
func (l *loader) viewName(r *row, attr *hcl.Attribute) {
	if r.Name != mounts.UnderName {
		if attr != nil {
			l.problem(attr.NameRange, "Name not settable", fmt.Sprintf(`A mount is called by its label, here %q. Only mount "/" takes a name.`, r.Name))
		}
		return
	}
	r.name, r.ViewName, r.nameOK = attr, "root", true
	if name := l.text(attr, ""); name != "" {
		r.ViewName = name
		if err := mounts.CheckName(name); err != nil {
			l.refuse(attr, "Invalid name", capital(err.Error())+".")
			r.nameOK = false
		}
	}
}

// owner reads the name of the tenant that owns a mount.
func (l *loader) owner(r *row, attr *hcl.Attribute) string {
	var owner string
	if r.Name == mounts.UnderName {
		owner = l.text(attr, "")
	} else {
		owner = l.needed(r.block, attr, "owner", fmt.Sprintf(`Say which tenant owns everything under the mount %q: owner = "…". Only mount "/" can be without one.`, r.Name))
	}
	return l.tenantName(attr, owner)
}

// timeouts reads the timeout block. request is the time of one attempt, which
// has to leave the server time to answer in.
func (l *loader) timeouts(r *row, content *hcl.BodyContent, server *Server, request time.Duration, withConnect bool) (connect time.Duration) {
	most := server.RequestTimeout * 4 / 5
	r.Request = min(request, most)
	connect = min(2*time.Second, r.Request)
	block := l.one(content, "timeout")
	if block == nil {
		return connect
	}
	s := shape{attrs: []string{"request"}}
	if withConnect {
		s.attrs = append(s.attrs, "connect")
	} else {
		s.elsewhere = map[string]string{"connect": "A native mount connects to nothing; connect belongs to mounts with backend = \"rest\"."}
	}
	a := l.content(block.Body, s).Attributes
	r.Request = l.duration(a["request"], r.Request, 10*time.Millisecond, 10*time.Minute)
	if r.Request > most {
		l.refuse(a["request"], "Timeout too long", fmt.Sprintf("One attempt may take at most %s, so that the server, whose request_timeout is %s, has time left to answer in. Shorten this or lengthen that.",
			durationText(most), durationText(server.RequestTimeout)))
		r.Request = most
	}
	connect = l.duration(a["connect"], min(connect, r.Request), 10*time.Millisecond, 10*time.Minute)
	if connect > r.Request {
		l.refuse(a["connect"], "Timeout too long", fmt.Sprintf("Connecting is part of a request, so connect can be at most the request timeout, %s.", durationText(r.Request)))
	}
	return connect
}

// breaker reads the breaker block.
func (l *loader) breaker(r *row, content *hcl.BodyContent) {
	r.Breaker = Breaker{Failures: 5, OpenFor: 15 * time.Second}
	if block := l.one(content, "breaker"); block != nil {
		a := l.content(block.Body, shape{attrs: []string{"failures", "open_for"}}).Attributes
		r.Breaker.Failures = l.integer(a["failures"], r.Breaker.Failures, 1, 10000)
		r.Breaker.OpenFor = l.duration(a["open_for"], r.Breaker.OpenFor, 10*time.Millisecond, time.Hour)
	}
}

// limits reads the limit block; the size of an answer is for remote mounts.
func (l *loader) limits(r *row, content *hcl.BodyContent, inFlight int, withResponse bool) (response int64) {
	r.InFlight, response = inFlight, 256<<20
	block := l.one(content, "limit")
	if block == nil {
		return response
	}
	s := shape{attrs: []string{"in_flight"}}
	if withResponse {
		s.attrs = append(s.attrs, "response")
	} else {
		s.elsewhere = map[string]string{"response": "It bounds what a remote answers, so it belongs to mounts with backend = \"rest\"."}
	}
	a := l.content(block.Body, s).Attributes
	r.InFlight = l.integer(a["in_flight"], r.InFlight, 1, 100000)
	return l.size(a["response"], response, 64<<10, 4<<30)
}
