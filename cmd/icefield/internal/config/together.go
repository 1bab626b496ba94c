package config

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/icefield/icefield/mounts"
)

// together checks what follows from several blocks of the configuration: who may
// reach the server, and who may log in there.
func (l *loader) together(cfg *Config, content *hcl.BodyContent, rows []row) {
	clear(l.meant)
	server, auth := l.one(content, "server"), l.one(content, "auth")
	l.reach(cfg, server, auth)
	l.clientCertificates(cfg, server, auth)
	if auth == nil {
		l.withoutAuth(content, server)
	}
	l.owners(cfg, content, rows)
}

// inside finds a key, or the place of a block, in a block that was read.
func inside(block *hcl.Block, key string) (*hcl.Attribute, bool) {
	if block == nil {
		return nil, false
	}
	content, _, _ := block.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: key}}})
	attr := content.Attributes[key]
	return attr, attr != nil
}

// blocksIn lists the blocks of a kind in one that was read.
func blocksIn(block *hcl.Block, kind string) hcl.Blocks {
	if block == nil {
		return nil
	}
	content, _, _ := block.Body.PartialContent(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: kind}}})
	return content.Blocks.OfType(kind)
}

// reach refuses an address that others can reach who need not say who they are.
func (l *loader) reach(cfg *Config, server, auth *hcl.Block) {
	listen, said := inside(server, "listen")
	if !said || cfg.Server.Listen.Local() {
		return
	}
	switch {
	case auth == nil:
		l.refuse(listen, "Not a loopback address", "There is no auth block, so everybody who can reach the address may do everything. "+
			`Say who may log in, or listen where only this machine reaches: "127.0.0.1:8181", "[::1]:8181", "localhost:8181" or a socket, "unix:/run/icefield.sock".`)
		return
	case cfg.Auth.Anonymous != nil:
		at := auth.DefRange
		if blocks := blocksIn(auth, "anonymous"); len(blocks) > 0 {
			at = blocks[0].DefRange
		}
		l.problem(at, "Not a loopback address", "Callers without credentials are let in on this machine only, and the server listens where others reach it (server.listen). Leave anonymous out, or listen on a loopback address or a socket.")
		return
	}
	if cfg.Server.TLS == nil {
		l.warn(listen, "Credentials in clear text", "The server speaks no TLS and can be reached from elsewhere, so everybody on the way can read and use what callers log in with. Add a tls block, unless a proxy before it speaks TLS and nobody else reaches it.")
	}
}

// clientCertificates looks whether certificates can be shown, and whether showing
// them means anything.
func (l *loader) clientCertificates(cfg *Config, server, auth *hcl.Block) {
	var certificates int
	if cfg.Auth != nil {
		certificates = len(cfg.Auth.Certificates)
	}
	var tls *hcl.Block
	if blocks := blocksIn(server, "tls"); len(blocks) > 0 {
		tls = blocks[0]
	}
	asked, _ := inside(tls, "client_ca_file")
	switch {
	case certificates > 0 && asked == nil:
		content, _, _ := auth.Body.PartialContent(loginShape.schema())
		l.problem(content.Blocks.OfType("certificate")[0].DefRange, "No client certificates", `Clients are asked for certificates only where it is said who issues them: server { tls { client_ca_file = "clients.crt" } }.`)
	case certificates == 0 && asked != nil:
		l.warn(asked, "Certificates without a login", `Clients are asked for certificates, and none of them is a login. Write certificate "NAME" { … } into the auth block, or leave client_ca_file out.`)
	}
}

// withoutAuth warns of what means nothing where everybody is the operator.
func (l *loader) withoutAuth(content *hcl.BodyContent, server *hcl.Block) {
	idle := append(content.Blocks.OfType("policy"), content.Blocks.OfType("tenant")...)
	for _, kind := range []string{"tenant_rate_limit", "login_lockout"} {
		idle = append(idle, blocksIn(server, kind)...)
	}
	for _, b := range idle {
		l.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Everybody is the operator", Subject: b.DefRange.Ptr(),
			Detail: fmt.Sprintf("There is no auth block, so everybody is the operator, whom no policy and no tenant binds: the %s block does nothing yet.", b.Type)})
	}
}

// owners looks at who owns what.
func (l *loader) owners(cfg *Config, content *hcl.BodyContent, rows []row) {
	owners, open := []string{}, false
	for _, r := range rows {
		if r.Owner == "" && r.Name == mounts.UnderName {
			if open = r.Native != nil; open {
				r.Native.Shared = cfg.Auth != nil
			}
			if r.Rest != nil && cfg.Auth != nil {
				l.missing(r.block, "owner", `Namespaces of a remote catalog belong to the owner of its mount, and who created them is not known, so nobody but operators could see them. Say whose they are: owner = "…".`)
			}
		}
		owners = append(owners, r.Owner)
	}
	for _, b := range content.Blocks.OfType("tenant") {
		if name := b.Labels[0]; !open && !slices.Contains(owners, name) && name != "" {
			at := b.LabelRanges[0]
			l.add(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Tenant without anything", Subject: &at,
				Detail: fmt.Sprintf("No mount belongs to the tenant %q, so its policies hold for nothing.%s", name, ownersHint(owners, name))})
		}
	}
}

func ownersHint(owners []string, name string) string {
	if near := nearest(name, owners); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}
