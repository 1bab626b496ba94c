package rest

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// The ways of access to storage that a client can ask for (REST spec, header
// X-Iceberg-Access-Delegation).
const (
	vendedCredentials = "vended-credentials" // #nosec G101 -- a word of the REST spec
	remoteSigning     = "remote-signing"
)

// wish is what a client asked for.
type wish struct{ credentials, signing bool }

func readWish(delegation string) (w wish) {
	for token := range strings.SplitSeq(delegation, ",") {
		switch strings.ToLower(strings.TrimSpace(token)) {
		case vendedCredentials:
			w.credentials = true
		case remoteSigning:
			w.signing = true
		}
	}
	return w
}

func (w wish) any() bool { return w.credentials || w.signing }

// delegation is what is asked of the remote for a client that asked so: the
// tokens of the spec, and nothing if the mount withholds.
func (b *Backend) delegation(asked string) string {
	if b.config.Withhold || asked == "" {
		return ""
	}
	switch w := readWish(asked); {
	case w.credentials && w.signing:
		return vendedCredentials + "," + remoteSigning
	case w.credentials:
		return vendedCredentials
	case w.signing:
		return remoteSigning
	}
	return ""
}

// relayed are the operations of access, functions and scan planning that a mount
// offers: scans, functions and the signing of requests where the remote has them, credentials
// always, since a load answers for a remote without a route for them.
func relayed(c Config, has capabilities.Set) capabilities.Set {
	set := has.Intersect(capabilities.Of(capabilities.PlanScan, capabilities.FetchPlan, capabilities.CancelPlan, capabilities.FetchScanTasks,
		capabilities.ListFunctions, capabilities.LoadFunction))
	if c.Withhold {
		return set
	}
	set = set.Union(has.Intersect(capabilities.Of(capabilities.SignRequest)))
	if has.Has(capabilities.LoadCredentials) || has.Has(capabilities.LoadTable) {
		set = set.Union(capabilities.Of(capabilities.LoadCredentials))
	}
	return set
}

// grant makes a table of what was loaded, with the access to storage that the
// call asked for and no other.
//
// Credentials leave in both places that clients read: as storage credentials,
// and, if exactly one of those is the one for the table, in the config too. What
// stands in the config only becomes the credential for the table's location.
// Access that was asked for and given and cannot be passed on is an error, never
// left out.
func (b *Backend) grant(c call, l *loaded) (*mounts.Table, error) {
	t := &mounts.Table{MetadataLocation: l.location, Metadata: l.metadata, Config: l.config, Extra: l.extra}
	asked := readWish(c.delegation)
	if !asked.any() && len(b.config.AllowedLocations) == 0 {
		return t, nil
	}
	location, err := l.tableLocation()
	if err != nil {
		return nil, broken(c, err)
	}
	if err := b.lies(c, location, l.location); err != nil {
		return nil, err
	}
	if !asked.any() {
		return t, nil
	}
	g := given{backend: b, call: c, loaded: l, location: location, table: t}
	if err := g.read(); err != nil {
		return nil, broken(c, err)
	}
	if asked.credentials {
		if err := g.credentials(); err != nil {
			return nil, err
		}
	}
	if asked.signing || len(t.StorageCredentials) == 0 {
		if err := g.sign(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// lies refuses a table that lies outside of the mount's allowed locations.
func (b *Backend) lies(c call, location, metadata string) error {
	if len(b.config.AllowedLocations) == 0 {
		return nil
	}
	for _, at := range []struct{ what, where string }{{"", location}, {"the metadata of ", metadata}} {
		if at.where == "" && c.staged {
			continue
		}
		if why := b.outside(at.where); why != nil {
			return refuseAccess(c, why, fmt.Sprintf("the remote catalog says that %s{object} lies at %s, which is not inside this mount's allowed_locations",
				at.what, spelled(at.where)))
		}
	}
	return nil
}

// spelled is a location fit for a message.
func spelled(location string) string {
	if location == "" {
		return "no location"
	}
	return plain(location, nil)
}

// refuseAccess is the error of access that cannot be passed on. Behind a change
// that was made the change is not denied.
func refuseAccess(c call, why error, msg string) error {
	e := &mounts.Error{Kind: mounts.Forbidden, Op: c.op, Ident: c.object, Msg: msg, Err: why, Answered: true}
	if c.op.Row().Class != capabilities.Read && !c.staged {
		e.Kind, e.OutcomeUnknown = mounts.BadGateway, true
		e.Msg = "the remote catalog made the change, but " + msg
	}
	return e
}

// given is the access that came with one answer.
type given struct {
	backend  *Backend
	call     call
	loaded   *loaded
	location string
	table    *mounts.Table

	// inConfig are the access keys of the config, list the storage credentials
	// with everything that stands in them.
	inConfig map[string]string
	list     []mounts.StorageCredential
}

func (g *given) read() (err error) {
	if g.inConfig, err = accessOf(g.loaded.said); err != nil {
		return err
	}
	g.list, err = readCredentials(g.loaded.credentials)
	return err
}

// credentials checks the credentials that came and puts them into both places.
func (g *given) credentials() error {
	list, err := usable(g.list)
	if err != nil {
		return broken(g.call, err)
	}
	open := len(opened(g.inConfig)) > 0
	if len(list) == 0 && !open {
		return nil
	}
	if len(list) == 0 && g.location != "" {
		list = []mounts.StorageCredential{{Prefix: g.location, Config: g.inConfig}}
	}
	if len(list) == 1 && list[0].Prefix == "" {
		list[0].Prefix = g.location
	}
	if err := g.backend.mayRelay(g.call, list, g.location, g.loaded.location); err != nil {
		return err
	}
	if err := fresh(g.call, append(list[:len(list):len(list)], mounts.StorageCredential{Config: g.inConfig})); err != nil {
		return err
	}
	for i := range list {
		list[i].Config = withHints(list[i].Config, g.loaded.config)
	}
	mirrored := g.inConfig
	if !open {
		mirrored = one(list, g.location, g.loaded.location)
	}
	if len(mirrored) > 0 {
		g.table.Config = merged(g.table.Config, mirrored)
	}
	g.table.StorageCredentials, g.table.Refresh = list, true
	return nil
}

// mayRelay refuses credentials for a location that is not the mount's: outside
// of its allowed locations, or in a warehouse of this very server.
func (b *Backend) mayRelay(c call, list []mounts.StorageCredential, locations ...string) error {
	for _, credential := range list {
		if len(b.config.AllowedLocations) > 0 {
			if why := b.outside(credential.Prefix); why != nil {
				return refuseAccess(c, why, fmt.Sprintf("the remote catalog gave storage credentials of {object} for %s, which is not inside this mount's allowed_locations; "+
					"they are not passed on", spelled(credential.Prefix)))
			}
		}
		if b.ours(credential.Prefix) {
			return b.oursRefused(c, credential.Prefix)
		}
	}
	for _, location := range locations {
		if b.ours(location) {
			return b.oursRefused(c, location)
		}
	}
	return nil
}

func (b *Backend) oursRefused(c call, location string) error {
	return refuseAccess(c, errors.New("the location lies in a warehouse of this server"), fmt.Sprintf(
		"the remote catalog says that {object} lies at %s, in a warehouse that this server governs itself; no access to it is passed on", spelled(location)))
}

// fresh refuses credentials that have expired before anybody had them.
func fresh(c call, list []mounts.StorageCredential) error {
	now := time.Now()
	for _, credential := range list {
		if expired(credential.Config, now) {
			e := refuseAccess(c, errors.New("the credentials have expired"),
				"the remote catalog gave storage credentials of {object} that have already expired; try again, or look at the clocks of both catalogs")
			if known := e.(*mounts.Error); known.Kind == mounts.Forbidden {
				known.Kind = mounts.BadGateway
			}
			return e
		}
	}
	return nil
}

var errNoCredentials = errors.New("storage-credentials is missing")

// maxCredentials bounds the credentials of one answer.
const maxCredentials = 64

// readCredentials reads a list of storage credentials as it came; absent and
// null are an empty one.
func readCredentials(value jsontext.Value) ([]mounts.StorageCredential, error) {
	if len(value) == 0 || value.Kind() == 'n' {
		return nil, nil
	}
	var list []mounts.StorageCredential
	err := elements(value, func(element jsontext.Value) error {
		if len(list) == maxCredentials {
			return errors.New("there are too many storage credentials")
		}
		var credential mounts.StorageCredential
		err := members(element, func(name string, value jsontext.Value) (err error) {
			switch name {
			case "prefix":
				var ok bool
				if credential.Prefix, ok = stringValue(value); !ok && value.Kind() != 'n' {
					err = errWrongType
				}
			case "config":
				credential.Config, err = stringMap(value)
			}
			return err
		})
		list = append(list, credential)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("storage-credentials: %w", err)
	}
	return list, nil
}

// usable keeps of each credential what gives access and the hints, and drops
// those that give none.
func usable(list []mounts.StorageCredential) ([]mounts.StorageCredential, error) {
	var kept []mounts.StorageCredential
	for _, credential := range list {
		access, err := accessOf(credential.Config)
		if err != nil {
			return nil, err
		}
		if len(opened(access)) > 0 {
			kept = append(kept, mounts.StorageCredential{Prefix: credential.Prefix, Config: merged(storageHints(credential.Config), access)})
		}
	}
	return kept, nil
}

// withHints adds the table's hints for the stores that a credential opens, for
// clients that look at nothing but the credential.
func withHints(config, hints map[string]string) map[string]string {
	out := maps.Clone(config)
	stores := opened(config)
	for name, value := range hints {
		if _, has := out[name]; !has && stores[hintStore(name)] {
			out[name] = value
		}
	}
	return out
}

// one is the config of the credential for the table: the one with the longest
// prefix, for its location and for its metadata's. Nil if there is none, or more
// than one could be meant.
func one(list []mounts.StorageCredential, locations ...string) map[string]string {
	found := -1
	for _, location := range locations {
		if location == "" {
			continue
		}
		best, tied := -1, false
		for i, credential := range list {
			if !covers(credential.Prefix, location) {
				continue
			}
			switch {
			case best < 0 || len(credential.Prefix) > len(list[best].Prefix):
				best, tied = i, false
			case len(credential.Prefix) == len(list[best].Prefix):
				tied = true
			}
		}
		if best < 0 || tied || found >= 0 && found != best {
			return nil
		}
		found = best
	}
	if found < 0 {
		return nil
	}
	return list[found].Config
}

// covers reports whether a client would use a credential of this prefix for a
// location. It is a plain prefix of the text (REST spec, StorageCredential),
// whichever way the scheme is spelled.
func covers(prefix, location string) bool {
	return strings.HasPrefix(sameSpelling(location), sameSpelling(prefix))
}

func sameSpelling(location string) string {
	if scheme, rest, ok := strings.Cut(location, "://"); ok {
		return sameScheme(scheme) + "://" + rest
	}
	return location
}

// merged is a new map of both; the second wins.
func merged(a, b map[string]string) map[string]string {
	out := make(map[string]string, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}
