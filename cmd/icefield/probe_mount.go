package main

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts/rest"
)

var mountName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}$`)

// proposal is the mount block that fits a remote catalog.
type proposal struct {
	Name  string
	ToDo  []string
	found *rest.Found
	flags probeFlags
	// prefix begins the names of environment variables.
	prefix string
}

// fitting makes the mount of what was found.
func fitting(found *rest.Found, flags probeFlags) *proposal {
	p := &proposal{Name: flags.name, ToDo: []string{}, found: found, flags: flags}
	if p.Name == "" {
		p.Name = nameOf(found)
	}
	p.prefix = strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_"))
	if p.prefix[0] >= '0' && p.prefix[0] <= '9' {
		p.prefix = "CATALOG_" + p.prefix
	}
	return p
}

// nameOf proposes a name: the warehouse's last word, or the host's.
func nameOf(found *rest.Found) string {
	from := []string{found.Warehouse}
	if u, err := url.Parse(found.URL); err == nil {
		host, _, _ := strings.Cut(u.Hostname(), ".")
		from = append(from, host)
	}
	for _, text := range from {
		words := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == ':' || r == '|' })
		if len(words) == 0 {
			continue
		}
		name := strings.Trim(regexp.MustCompile(`[^A-Za-z0-9_-]+`).ReplaceAllString(words[len(words)-1], "_"), "_-")
		if mountName.MatchString(name) && strings.ContainsFunc(name, unicode.IsLetter) && !slices.Contains(pathWords, strings.ToLower(name)) {
			return name
		}
	}
	return "remote"
}

// pathWords cannot name a mount.
var pathWords = []string{"namespaces", "tables", "views", "transactions", "config", "oauth"}

// HCL is the block, with comments.
func (p *proposal) HCL() string {
	var b strings.Builder
	p.ToDo = []string{}
	todo := func(indent, what string) {
		p.ToDo = append(p.ToDo, what)
		fmt.Fprintf(&b, "%s# TO DO: %s\n", indent, what)
	}
	set := func(indent, key, value string) { fmt.Fprintf(&b, "%s%s = %s\n", indent, key, quoted(value)) }
	f := p.found
	profile, _ := rest.ProfileNamed(f.Profile)

	for _, line := range p.story() {
		fmt.Fprintf(&b, "# %s\n", comment(line))
	}
	fmt.Fprintf(&b, "mount %s {\n", quoted(p.Name))
	set("  ", "backend", "rest")
	if f.Profile != "" {
		set("  ", "profile", f.Profile)
	}
	set("  ", "catalog_url", f.URL)
	switch {
	case f.Warehouse != "" && f.WarehouseNeeded:
		todo("  ", "the catalog does not take this warehouse; put the right one here")
		set("  ", "warehouse", f.Warehouse)
	case f.Warehouse != "":
		set("  ", "warehouse", f.Warehouse)
	case f.WarehouseNeeded:
		todo("  ", "the catalog wants to be asked for a warehouse; put its name here")
		set("  ", "warehouse", "CHANGE-ME")
	case !f.Open:
		todo("  ", "set the warehouse, if the catalog has several")
		b.WriteString("  # warehouse = \"…\"\n")
	}
	todo("  ", "owner is the tenant that everything under this mount belongs to")
	set("  ", "owner", "CHANGE-ME")
	if f.Levels > 0 && profile.Levels != f.Levels {
		fmt.Fprintf(&b, "  namespace_levels = %d\n", f.Levels)
	}
	b.WriteString("  read_only = true")
	if f.Has(capabilities.CommitTable) || !f.Open {
		b.WriteString(" # false lets clients change the remote catalog")
	}
	b.WriteString("\n")
	if f.Has(capabilities.LoadCredentials) || f.Has(capabilities.SignRequest) || !f.Open {
		b.WriteString("  credentials = \"forward\" # storage access for clients who ask for it; \"withhold\" lets none pass\n")
	}
	p.headers(&b, todo)
	p.login(&b, todo, profile.Login)
	b.WriteString("}\n")
	return b.String()
}

// story is what was found, in sentences.
func (p *proposal) story() []string {
	f := p.found
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if f.Profile != "" {
		say("Looks like %s: %s.", f.Profile, strings.Join(f.Reasons, "; "))
	} else {
		say("Nothing says whose catalog this is, so it is taken to keep to the spec.")
	}
	if !f.Open {
		switch {
		case f.Login && p.flags.tokenEnv != "":
			say("It does not accept the token in %s.", p.flags.tokenEnv)
		case f.Login:
			say("It wants a login before it says anything: give --token-env to find out more.")
		}
		for _, note := range f.Notes {
			say("Note: %s", note)
		}
		return lines
	}
	if f.Prefix != "" {
		say("Its paths begin with the prefix %q.", f.Prefix)
	}
	if f.MovedTo != "" {
		say("It sends its clients to %q.", f.MovedTo)
	}
	if f.Separator != "" {
		say("It separates namespace levels by %q.", f.Separator)
	}
	switch {
	case f.Levels == 1:
		say("Namespaces have one level.")
	case f.Levels > 1:
		say("Namespaces have at most %d levels.", f.Levels)
	case f.Namespaces <= 0:
		say("It showed no namespaces, so how deep they can go is not known.")
	default:
		say("Nothing limits how deep namespaces go.")
	}
	if f.Listed {
		say("It lists %d operations that Icefield knows.", len(f.Endpoints))
	} else {
		say("It does not list its operations, and is taken to have %d.", len(f.Endpoints))
	}
	for _, part := range []struct {
		name string
		ops  []capabilities.Op
	}{
		{"views", []capabilities.Op{capabilities.ListViews, capabilities.LoadView}},
		{"changes of tables", []capabilities.Op{capabilities.CreateTable, capabilities.CommitTable}},
		{"transactions over several tables", []capabilities.Op{capabilities.CommitTransaction}},
		{"scan planning", []capabilities.Op{capabilities.PlanScan}},
		{"storage credentials by a route of their own", []capabilities.Op{capabilities.LoadCredentials}},
		{"signing of storage requests", []capabilities.Op{capabilities.SignRequest}},
		{"existence checks by HEAD", []capabilities.Op{capabilities.TableExists}},
	} {
		has := "no"
		if !slices.ContainsFunc(part.ops, func(op capabilities.Op) bool { return !f.Has(op) }) {
			has = "yes"
		}
		say("  %s: %s", part.name, has)
	}
	if f.KeyLifetime > 0 {
		say("It honours Idempotency-Key for %s.", f.KeyLifetime.Round(time.Second))
	} else {
		say("It does not say that it honours Idempotency-Key.")
	}
	for _, note := range f.Notes {
		say("Note: %s", note)
	}
	return lines
}

// headers writes the headers that a vendor wants.
func (p *proposal) headers(b *strings.Builder, todo func(indent, what string)) {
	switch p.found.Profile {
	case "biglake":
		todo("  ", "name the project that pays for the calls")
		b.WriteString("  headers = {\n    \"X-Goog-User-Project\" = \"CHANGE-ME\"\n  }\n")
	case "polaris":
		b.WriteString("  # headers = { \"Polaris-Realm\" = \"…\" } if the server has several realms\n")
	}
}

// login writes the auth block.
func (p *proposal) login(b *strings.Builder, todo func(indent, what string), preset rest.LoginPreset) {
	kind := preset.Kind
	switch {
	case p.flags.tokenEnv != "":
		kind = "bearer"
	case p.found.Open && preset.Kind != "sigv4":
		b.WriteString("  # It answers without a login; give the mount an auth block if that is to change.\n")
		return
	case kind == "":
		kind = "bearer"
	}
	fmt.Fprintf(b, "  auth %s {\n", quoted(kind))
	switch kind {
	case "bearer":
		name := p.flags.tokenEnv
		if name == "" {
			name = p.prefix + "_TOKEN"
			todo("    ", "put the token into this environment variable, or use token_file")
		}
		fmt.Fprintf(b, "    token_env = %s\n", quoted(name))
	case "sigv4":
		b.WriteString("    # Keys come from where AWS tools look for them; role_arn assumes a role.\n")
		fmt.Fprintf(b, "    service = %s\n", quoted(preset.Service))
		if region := regionOf(p.found.URL); region != "" {
			fmt.Fprintf(b, "    region = %s\n", quoted(region))
		} else {
			todo("    ", "name the region that requests are signed for")
			b.WriteString("    region = \"change-me\"\n")
		}
	case "oauth2":
		if preset.NoTokenRoute {
			todo("    ", "put the token endpoint of the identity provider here")
			b.WriteString("    token_url = \"https://idp.example.com/token\"\n")
		}
		todo("    ", "put the client's id here and its secret into this environment variable")
		b.WriteString("    client_id = \"CHANGE-ME\"\n")
		fmt.Fprintf(b, "    client_secret_env = %s\n", quoted(p.prefix+"_SECRET"))
		switch {
		case preset.Scope != "":
			fmt.Fprintf(b, "    scope = %s\n", quoted(preset.Scope))
		case p.found.Profile == "snowflake":
			todo("    ", "name the role to work as")
			b.WriteString("    scope = \"session:role:CHANGE-ME\"\n")
		}
	}
	b.WriteString("  }\n")
}

var regionHost = regexp.MustCompile(`^(?:glue|s3tables)(?:-fips)?\.([a-z0-9-]+)\.|^([a-z0-9-]+?)(?:-internal)?\.oss-tables\.`)

func regionOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	if m := regionHost.FindStringSubmatch(strings.ToLower(u.Hostname())); m != nil {
		return m[1] + m[2]
	}
	return ""
}

// quoted is a string of HCL: a template without a sequence that means anything.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// comment keeps what a remote said on the one line that it is given.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}
