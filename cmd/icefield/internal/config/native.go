package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/icefield/icefield/native/warehouse"
)

// native reads what a native mount has beside the common keys.
func (l *loader) native(r *row, content *hcl.BodyContent, server *Server) {
	a := content.Attributes
	n := &Native{}
	r.Native = n
	r.ReadOnly = l.boolean(a["read_only"], false)
	r.bolt, r.warehouse = a["catalog_url"], a["warehouse_location"]
	n.Bolt = l.boltPath(r.block, r.bolt)
	r.boltOK = n.Bolt != ""
	if location := l.needed(r.block, r.warehouse, "warehouse_location",
		`Say where the mount's tables lie: warehouse_location = "file:///var/lib/icefield/warehouse" or "s3://bucket/prefix".`); location != "" {
		n.Warehouse, r.warehouseOK = l.location(r.warehouse, location)
	}
	n.Storage = l.storage(a["storage"])
	if len(n.Storage) > 0 && strings.HasPrefix(n.Warehouse, "file:") {
		l.refuse(a["storage"], "Nothing to set", "Storage properties say how to reach S3, and this warehouse is a folder. Leave storage out.")
	}
	n.MetadataCache = l.size(a["metadata_cache"], 256<<20, 0, 64<<30)
	l.timeouts(r, content, server, 20*time.Second, false)
	l.limits(r, content, 256, false)
}

// boltPath reads catalog_url; "" after reporting a mistake. A value that is not
// a bolt URL may be a database's with a password in it, so it is not repeated.
func (l *loader) boltPath(block *hcl.Block, attr *hcl.Attribute) string {
	const advice = `Write "bolt://" and a path: "bolt:///var/lib/icefield/catalog.db", or "bolt://catalog.db" beside the configuration file.`
	url := l.needed(block, attr, "catalog_url", "Say where the mount keeps its registry. "+advice)
	if url == "" {
		return ""
	}
	path, ok := strings.CutPrefix(url, "bolt://")
	switch {
	case !ok:
		l.refuse(attr, "Unknown registry", "A native mount keeps its registry in a bolt file. "+advice)
	case path == "" || strings.HasSuffix(path, "/") || strings.ContainsAny(path, "?#"):
		l.refuse(attr, "Invalid registry", "After \"bolt://\" stands the path of a file, and nothing else. "+advice)
	default:
		return absolute(dirOf(attr), path)
	}
	return ""
}

const warehouseAdvice = `Write "file:///path", a path alone, which starts at the folder of the configuration file, or "s3://bucket/prefix".`

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

// storage reads the FileIO properties of a mount.
func (l *loader) storage(attr *hcl.Attribute) map[string]string {
	v, ok := l.value(attr, cty.Map(cty.String))
	if !ok {
		return nil
	}
	properties := map[string]string{}
	for it := v.ElementIterator(); it.Next(); { // in the order of the keys: the same report every time
		name, value := it.Element()
		key := name.AsString()
		if value.IsNull() || key == "" {
			l.refuse(attr, "Empty value", fmt.Sprintf("The property %q has no value. Give it one or leave it out.", key))
			continue
		}
		if !strings.HasPrefix(key, "s3.") && !strings.HasPrefix(key, "client.") {
			l.refuse(attr, "Unknown property", fmt.Sprintf("Nothing reads the property %q. Storage properties are Iceberg's for S3 and begin with \"s3.\" or \"client.\".", key))
			continue
		}
		properties[key] = value.AsString()
	}
	// A secret written into the file is refused; one that env() or file() brings
	// is not written there.
	pairs, _ := hcl.ExprMap(attr.Expr)
	for _, pair := range pairs {
		key, diags := pair.Key.Value(l.scope(attr))
		if diags.HasErrors() || key.Type() != cty.String || !secretKey.MatchString(key.AsString()) || !literal(pair.Value) {
			continue
		}
		l.secret = append(l.secret, pair.Value.Range())
		l.problem(pair.Value.Range(), "Secret in the configuration",
			fmt.Sprintf("%s is a secret. Put it into an environment variable and write env(\"NAME\").", key.AsString()))
	}
	return properties
}
