package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// place chooses the location of a new table or view: the one asked for, if it
// lies in the warehouse, else one that was never used before.
func (b *Backend) place(req mounts.Request, asked string) (string, error) {
	id := req.Object()
	if asked = strings.TrimRight(asked, "/"); asked != "" {
		return asked, b.confine(req, id, asked)
	}
	parts := []string{b.options.Warehouse}
	for _, level := range id.Namespace {
		parts = append(parts, segment(level))
	}
	return strings.Join(append(parts, segment(id.Name)+"-"+b.options.NewUUID().String()), "/"), nil
}

// confine refuses a location outside the warehouse.
func (b *Backend) confine(req mounts.Request, id mounts.Identifier, location string) error {
	rest, inside := strings.CutPrefix(location, b.options.Warehouse+"/")
	for _, part := range strings.Split(rest, "/") {
		if part == "" || part == "." || part == ".." {
			inside = false
		}
	}
	if !inside {
		return refuse(req, mounts.BadRequest, id, fmt.Sprintf(
			"the location %q lies outside the warehouse; leave it out or choose one below %s", location, b.options.Warehouse))
	}
	return nil
}

// segment makes one path segment of a name.
func segment(name string) string {
	if len(name) > 64 {
		name = name[:64]
	}
	return strings.ReplaceAll(url.PathEscape(name), ".", "%2E")
}

// file names the next metadata file of a table or view.
func (b *Backend) file(location string, version int) string {
	return fmt.Sprintf("%s/metadata/%05d-%s.metadata.json", location, version, b.options.NewUUID())
}

// tag is the entity tag of one representation of a table's state.
func tag(o *object, mode mounts.Snapshots) string {
	sum := sha256.Sum256([]byte(string(mode) + " " + o.location))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// matches reports whether an If-None-Match holds the tag. Its comparison is
// weak (RFC 9110, 13.1.2); our own tags hold no comma.
func matches(ifNoneMatch, tag string) bool {
	for _, candidate := range strings.Split(ifNoneMatch, ",") {
		candidate = strings.TrimSpace(candidate)
		if candidate == "*" || strings.TrimPrefix(candidate, "W/") == tag {
			return true
		}
	}
	return false
}
