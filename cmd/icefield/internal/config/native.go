package config

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/warehouse"
)

// native reads what a native mount has beside the common keys.
func (l *loader) native(r *row, content *hcl.BodyContent, server *Server) {
	a := content.Attributes
	n := &Native{}
	r.Native = n
	r.ReadOnly = l.boolean(a["read_only"], false)
	r.registry, r.warehouse = a["catalog_url"], a["warehouse_location"]
	n.Registry = l.registry(r.block, r.registry)
	if location := l.needed(r.block, r.warehouse, "warehouse_location",
		`Say where the mount's tables lie: warehouse_location = "file:///var/lib/icefield/warehouse", "s3://bucket/prefix", "gs://bucket/prefix" or "abfss://container@account.dfs.core.windows.net/prefix".`); location != "" {
		n.Warehouse, r.warehouseOK = l.location(r.warehouse, location)
	}
	n.Storage = l.storage(a["storage"], n.Warehouse)
	n.MetadataCache = l.size(a["metadata_cache"], 256<<20, 0, 64<<30)
	n.KeyLifetime = l.keyLifetime(a["idempotency_lifetime"])
	l.vending(content, n)
	l.signing(a["signing"], a["signing_bulk_delete"], n)
	l.timeouts(r, content, server, 20*time.Second, false)
	l.limits(r, content, 256, false)
}

// keyLifetime reads idempotency_lifetime. Clients repeat a change for minutes, so
// a promise for seconds would be broken when it counts.
func (l *loader) keyLifetime(attr *hcl.Attribute) time.Duration {
	const shortest, longest = time.Minute, 24 * time.Hour
	d := l.duration(attr, native.DefaultKeyLifetime, math.MinInt64, math.MaxInt64)
	if d != 0 && (d < shortest || d > longest) {
		l.refuse(attr, "Out of bounds", fmt.Sprintf(`%s must be from %s to %s, or "0s": then keys are not honoured.`, attr.Name, durationText(shortest), durationText(longest)))
	}
	return d
}

// registry reads catalog_url; the zero Registry after reporting a mistake.
func (l *loader) registry(block *hcl.Block, attr *hcl.Attribute) Registry {
	url := l.needed(block, attr, "catalog_url", "Say where the mount keeps its registry. "+registryAdvice)
	if url == "" {
		return Registry{}
	}
	if strings.HasPrefix(url, "postgres") && l.passwordIn(attr, url) {
		l.hide(attr)
		l.refuse(attr, "Secret in the configuration", `The database's password is written here. Put the URL into an environment variable and write catalog_url = env("NAME"), or leave the password out and put it into PGPASSWORD or a password file (passfile=…).`)
		return Registry{}
	}
	r, err := ParseRegistry(url, dirOf(attr))
	var bad *BadRegistry
	if errors.As(err, &bad) {
		l.refuse(attr, bad.Summary, bad.Error())
	}
	return r
}

const warehouseAdvice = `Write "file:///path", a path alone, which starts at the folder of the configuration file, "s3://bucket/prefix", "gs://bucket/prefix" or "abfss://container@account.dfs.core.windows.net/prefix".`

// location reads a warehouse's place: a location, or a path, which becomes one.
func (l *loader) location(attr *hcl.Attribute, text string) (string, bool) {
	if head, _, hasScheme := strings.Cut(text, ":"); !hasScheme || strings.Contains(head, "/") {
		text = absolute(dirOf(attr), text)
	}
	place, err := warehouse.Parse(text)
	var bad *warehouse.BadLocation
	switch {
	case errors.As(err, &bad):
		l.refuse(attr, "Invalid warehouse", "This location "+bad.Problem+". "+warehouseAdvice)
	case err != nil:
		l.refuse(attr, "Invalid warehouse", "This is not a location. "+warehouseAdvice)
	case place.Base() == "" && strings.HasPrefix(place.String(), "file:"):
		l.refuse(attr, "Invalid warehouse", "The root of the file system cannot be a warehouse. Name a folder in it.")
	default:
		return place.String(), true
	}
	return "", false
}

// overlap reports whether one warehouse is the other or lies inside it.
func overlap(one, other string) bool {
	a, err := warehouse.Parse(one)
	if err != nil {
		return false
	}
	b, err := warehouse.Parse(other)
	return err == nil && (a.Within(b) || b.Within(a))
}

// within reports whether a location lies inside a warehouse.
func within(location, root string) bool {
	a, err := warehouse.Parse(location)
	if err != nil {
		return false
	}
	b, err := warehouse.Parse(root)
	return err == nil && a.Within(b)
}

// gcsKeyPath names a file, as the FileIO library calls it.
const gcsKeyPath = "gcs.keypath"

// storage reads the FileIO properties of a mount, of which each kind of warehouse
// has its own; "" is a warehouse that was refused.
func (l *loader) storage(attr *hcl.Attribute, location string) map[string]string {
	v, ok := l.value(attr, cty.Map(cty.String))
	if !ok {
		return nil
	}
	root, err := warehouse.Parse(location)
	known := warehouse.Properties(root)
	if err == nil && len(known) == 0 && v.LengthInt() > 0 {
		l.refuse(attr, "Nothing to set", "Storage properties say how to reach an object store, and this warehouse is a folder. Leave storage out.")
	}
	properties := map[string]string{}
	for it := v.ElementIterator(); it.Next(); { // in the order of the keys: the same report every time
		name, value := it.Element()
		key := name.AsString()
		if value.IsNull() || key == "" {
			l.refuse(attr, "Empty value", fmt.Sprintf("The property %q has no value. Give it one or leave it out.", key))
			continue
		}
		properties[key] = value.AsString()
		if err != nil || len(known) == 0 {
			continue
		}
		if problem := warehouse.CheckProperty(root, key, value.AsString()); problem != "" {
			summary, advice := "Invalid value", ""
			if strings.HasPrefix(problem, "Nothing reads") {
				summary, advice = "Unknown property", " Known here: "+strings.Join(known, ", ")+"."
				if near := nearest(key, known); near != "" {
					advice = fmt.Sprintf(" Did you mean %q?", near)
				}
			}
			l.refuse(attr, summary, problem+advice)
		}
		if key == gcsKeyPath {
			properties[key] = absolute(dirOf(attr), value.AsString())
		}
	}
	// A secret written into the file is refused; one that env() or file() brings
	// is not written there.
	pairs, _ := hcl.ExprMap(attr.Expr)
	for _, pair := range pairs {
		key, diags := pair.Key.Value(l.scope(attr))
		if diags.HasErrors() || key.Type() != cty.String || !isSecret(key.AsString()) || !literal(pair.Value) {
			continue
		}
		l.secret = append(l.secret, pair.Value.Range())
		l.problem(pair.Value.Range(), "Secret in the configuration",
			fmt.Sprintf("%s is a secret. Put it into an environment variable and write env(\"NAME\").", key.AsString()))
	}
	return properties
}
