package rest

import (
	"net/url"
	"slices"

	"github.com/icefield/icefield/capabilities"
)

// Profile is what is known of a vendor's catalogs beyond what they say of
// themselves. The zero Profile is a catalog as the spec has it. What the mount
// itself says goes before it.
type Profile struct {
	// Name is the preset's, "polaris"; empty for none.
	Name string
	// Path is where the vendor's catalogs begin. It is appended to a URL without
	// a path.
	Path string
	// Levels is how deep namespaces can be; 0 is any depth. A deeper name is
	// absent there, and never asked for.
	Levels int
	// Separator is the namespace separator of a remote that names none.
	Separator string
	// Endpoints is what a remote without an endpoint list has; empty for the
	// spec's default set.
	Endpoints capabilities.Set
	// ThrottlesWith400 takes a 400 that speaks of a rate for a 429.
	ThrottlesWith400 bool
	// MissingLists takes a required list that is missing from an answer for an
	// empty one.
	MissingLists bool
	// NoHEAD never sends HEAD, whatever the remote's list says.
	NoHEAD bool
	// FoldsCase tells that names which differ in case only are the same there: for
	// mounts.Mount.
	FoldsCase bool
	// Headers are sent where the mount does not set them.
	Headers map[string]string
	// Login is how the vendor wants to be logged in to.
	Login LoginPreset
}

// LoginPreset is how a vendor's catalogs are logged in to. What an Auth leaves
// open is filled in from it.
type LoginPreset struct {
	// Kind is "oauth2", "bearer" or "sigv4", as the auth blocks are called; it is
	// a proposal.
	Kind string
	// Service is the signing name of SigV4.
	Service string
	// Scope is asked for with OAuth2.
	Scope string
	// TokenPath is the path of the token endpoint on the remote's host. Empty: the
	// remote's own /v1/oauth/tokens, unless NoTokenRoute says that it has none;
	// then OAuth2 needs a token URL.
	TokenPath    string
	NoTokenRoute bool
}

// ProfileNamed returns the preset of that name.
func ProfileNamed(name string) (Profile, bool) {
	all := Profiles()
	i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return all[i], true
}

// under fills in what the URL leaves open. The URL is one that checkURL passed.
func (p Profile) under(base string) string {
	if u, err := url.Parse(base); p.Path == "" || err != nil || u.Path != "" {
		return base
	}
	return base + p.Path
}

// headers adds the profile's headers to the mount's own.
func (p Profile) headers(own map[string]string) map[string]string {
	if len(p.Headers) == 0 {
		return own
	}
	all := map[string]string{}
	for _, set := range []map[string]string{p.Headers, own} {
		for name, value := range set {
			all[name] = value
		}
	}
	return all
}

// fill fills in what a login leaves open.
func (l LoginPreset) fill(a Auth, base string) Auth {
	switch kind := a.kind.(type) {
	case SigV4Config:
		if kind.Service == "" {
			kind.Service = l.Service
		}
		return Auth{kind}
	case OAuth2Config:
		if kind.Scope == "" {
			kind.Scope = l.Scope
		}
		if u, err := url.Parse(base); kind.TokenURL == "" && l.TokenPath != "" && err == nil {
			kind.TokenURL = u.Scheme + "://" + u.Host + l.TokenPath
		}
		return Auth{kind}
	}
	return a
}

// lacks says what a login still needs, or nothing.
func (l LoginPreset) lacks(a Auth) string {
	if kind, ok := a.kind.(OAuth2Config); ok && kind.TokenURL == "" && l.NoTokenRoute {
		return "catalogs of this profile have no token route of their own: set the token_url of the identity provider"
	}
	return ""
}
