package policy

import (
	"encoding/json"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// secretWords are what the names of keys hold that give access to something, in
// every spelling that catalogs use. A hint about storage holds none of them.
var secretWords = [...]string{ // read only
	"key", "secret", "token", "password", "credential", "sas", "signer", "signing", "oauth", "auth", "session", "expir"}

// opensStorage reports a key of a config, or a member of an answer, that may give
// access to storage or is only of use with it.
func opensStorage(name string) bool {
	switch name { // the usual hints, told at once
	case "s3.region", "s3.endpoint", "s3.path-style-access", "client.region", "io-impl", "py-io-impl", readRestrictions:
		return false
	}
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			name = strings.ToLower(name)
			break
		}
	}
	for _, word := range secretWords {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// plain is a config without what opensStorage; the same one if there is nothing.
func plain(config map[string]string) map[string]string {
	found := false
	for name := range config {
		found = found || opensStorage(name)
	}
	if !found {
		return config
	}
	out := make(map[string]string, len(config))
	for name, value := range config {
		if !opensStorage(name) {
			out[name] = value
		}
	}
	return out
}

// plainExtra is the same for members that nobody here knows.
func plainExtra(extra map[string]json.RawMessage) map[string]json.RawMessage {
	found := false
	for name := range extra {
		found = found || opensStorage(name)
	}
	if !found {
		return extra
	}
	out := make(map[string]json.RawMessage, len(extra))
	for name, value := range extra {
		if !opensStorage(name) {
			out[name] = value
		}
	}
	return out
}

// hidesTable reports whether a table's answer holds access that was not given.
func (c *call) hidesTable(t *mounts.Table) bool {
	if c.width != mounts.NoStorage && c.relays {
		return false
	}
	if len(t.StorageCredentials) > 0 || t.Refresh || t.Signing != nil && c.width == mounts.NoStorage {
		return true
	}
	for name := range t.Config {
		if opensStorage(name) {
			return true
		}
	}
	for name := range t.Extra {
		if opensStorage(name) {
			return true
		}
	}
	return false
}

// stripTable is t with nothing in it that was not given.
func (c *call) stripTable(t *mounts.Table) *mounts.Table {
	if !c.hidesTable(t) {
		return t
	}
	out := *t
	out.StorageCredentials, out.Refresh = nil, false
	out.Config, out.Extra = plain(t.Config), plainExtra(t.Extra)
	if c.width == mounts.NoStorage {
		out.Signing = nil
	}
	return &out
}

// stripDocument is the same for a scan plan.
func (c *call) stripDocument(d *mounts.Document) *mounts.Document {
	if c.width != mounts.NoStorage && c.relays || len(d.StorageCredentials) == 0 && !d.Refresh {
		return d
	}
	out := *d
	out.StorageCredentials, out.Refresh = nil, false
	return &out
}

// stripView is the same for a view, with which no access ever comes.
func stripView(v *mounts.View) *mounts.View {
	config, extra := plain(v.Config), plainExtra(v.Extra)
	if len(config) == len(v.Config) && len(extra) == len(v.Extra) {
		return v
	}
	out := *v
	out.Config, out.Extra = config, extra
	return &out
}
