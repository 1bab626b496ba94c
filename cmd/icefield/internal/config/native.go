package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
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

// location reads a warehouse's place: a URI, or a path, which becomes one.
func (l *loader) location(attr *hcl.Attribute, s string) (string, bool) {
	scheme, rest, isURI := strings.Cut(s, "://")
	if !isURI {
		scheme = "file"
		path, isFile := strings.CutPrefix(s, "file:")
		if head, _, odd := strings.Cut(path, ":"); odd && !isFile && !strings.Contains(head, "/") {
			l.refuse(attr, "Invalid warehouse", fmt.Sprintf(`warehouse_location is %s. Write "file:///path" or "s3://bucket/prefix".`, l.show(attr, s)))
			return "", false
		}
		rest = absolute(dirOf(attr), path)
	}
	switch strings.ToLower(scheme) {
	case "file":
		if !strings.HasPrefix(rest, "/") {
			l.refuse(attr, "Invalid warehouse", fmt.Sprintf(`After "file://" stands an absolute path, so with three slashes: "file:///%s". A path alone, as in "./warehouse", starts at the folder of the configuration file.`, rest))
			return "", false
		}
	case "s3", "s3a":
		if bucket, _, _ := strings.Cut(rest, "/"); bucket == "" || strings.ContainsAny(bucket, "@:?#") {
			l.refuse(attr, "Invalid warehouse", `After "s3://" stands a bucket's name, and then the prefix of the warehouse: "s3://bucket/prefix".`)
			return "", false
		}
	default:
		l.refuse(attr, "Unknown storage", `A warehouse lies in a file system or in S3: "file:///path" or "s3://bucket/prefix".`)
		return "", false
	}
	rest = strings.TrimRight(rest, "/")
	for i, segment := range strings.Split(rest, "/") {
		if segment == "." || segment == ".." || (segment == "" && i > 0) || strings.ContainsAny(segment, "?#") {
			l.refuse(attr, "Invalid warehouse", `The path of a warehouse has no empty segment, no "." or ".." and no "?" or "#".`)
			return "", false
		}
	}
	if rest == "" {
		l.refuse(attr, "Invalid warehouse", "The root of the file system cannot be a warehouse. Name a folder in it.")
		return "", false
	}
	return strings.ToLower(scheme) + "://" + rest, true
}

// segments splits a warehouse for comparison: s3a is s3, and a file system has
// one root.
func segments(warehouse string) []string {
	scheme, rest, _ := strings.Cut(warehouse, "://")
	if scheme == "s3a" {
		scheme = "s3"
	}
	if scheme == "file" {
		rest = filepath.Clean(rest)
	}
	return append([]string{scheme}, strings.Split(strings.Trim(rest, "/"), "/")...)
}

// overlap reports whether one warehouse is the other or lies inside it.
func overlap(a, b string) bool {
	left, right := segments(a), segments(b)
	n := min(len(left), len(right))
	return slices.Equal(left[:n], right[:n])
}

// storage reads the FileIO properties of a mount.
func (l *loader) storage(attr *hcl.Attribute) map[string]string {
	v, ok := l.value(attr, cty.Map(cty.String))
	if !ok {
		return nil
	}
	properties := map[string]string{}
	for key, value := range v.AsValueMap() {
		if value.IsNull() || key == "" {
			l.refuse(attr, "Empty value", fmt.Sprintf("The property %q has no value. Give it one or leave it out.", key))
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
