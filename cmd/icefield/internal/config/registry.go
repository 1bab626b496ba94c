package config

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/icefield/icefield/native/store/postgres"
)

// Registry is where a native registry keeps what it knows; exactly one field is
// set.
type Registry struct {
	// Bolt is the absolute path of a file.
	Bolt string
	// Postgres is the URL of a database, which may hold a password: it is for who
	// opens the database, and Place is for everybody else.
	Postgres string
}

// BadRegistry is what is wrong with the URL of a registry. It repeats nothing of
// the URL, which may hold a password.
type BadRegistry struct {
	// Summary is a few words, Problem a sentence, Advice what to write instead.
	Summary, Problem, Advice string
}

// Error implements error.
func (e *BadRegistry) Error() string { return e.Problem + " " + e.Advice }

const registryAdvice = `Write "bolt://" and a path ("bolt:///var/lib/icefield/catalog.db", or "bolt://catalog.db" beside the configuration file), or "postgres://user@host:5432/database".`

// ParseRegistry reads the URL of a registry as catalog_url has it. Relative paths
// start at dir. The error is a *BadRegistry.
func ParseRegistry(url, dir string) (Registry, error) {
	scheme, path, _ := strings.Cut(url, "://")
	switch {
	case scheme == "postgres" || scheme == "postgresql":
		var bad *postgres.BadURL
		if _, err := postgres.ParseURL(url); errors.As(err, &bad) {
			return Registry{}, &BadRegistry{"Invalid registry", "The database URL " + bad.Problem + ".", `It looks like "postgres://user@host:5432/database?sslmode=verify-full".`}
		} else if err != nil {
			return Registry{}, &BadRegistry{"Invalid registry", "This is not the URL of a database.", registryAdvice}
		}
		return Registry{Postgres: url}, nil
	case scheme != "bolt":
		return Registry{}, &BadRegistry{"Unknown registry", "A native mount keeps its registry in a bolt file or a PostgreSQL database.", registryAdvice}
	case path == "" || strings.HasSuffix(path, "/") || strings.ContainsAny(path, "?#"):
		return Registry{}, &BadRegistry{"Invalid registry", `After "bolt://" stands the path of a file, and nothing else.`, registryAdvice}
	}
	return Registry{Bolt: absolute(dir, path)}, nil
}

// Place is the registry's URL without secrets, the same for every way to write
// it; empty for none.
func (r Registry) Place() string {
	switch {
	case r.Postgres != "":
		address, err := postgres.ParseURL(r.Postgres)
		if err != nil {
			return ""
		}
		return address.Place
	case r.Bolt == "":
		return ""
	}
	return "bolt://" + filepath.ToSlash(r.Bolt)
}

// String is Place, so that a URL with a password is not printed by accident.
func (r Registry) String() string { return r.Place() }

// MarshalJSON writes Place, for the same reason.
func (r Registry) MarshalJSON() ([]byte, error) { return json.Marshal(r.Place()) }

// writtenPassword finds a password in the source of an expression, the rest of
// which may come from the environment.
var writtenPassword = regexp.MustCompile(`://[^/@\s"$]*:[^/@\s"$][^@\s"]*@|[?&](ssl)?password=[^&\s"$]`)

// passwordIn reports whether the file itself holds the database's password. Where
// a URL cannot be read at all, its text may hold one too.
func (l *loader) passwordIn(attr *hcl.Attribute, url string) bool {
	if address, err := postgres.ParseURL(url); err == nil && literal(attr.Expr) {
		return address.Password
	}
	at := attr.Expr.Range()
	text := l.parser.Sources()[at.Filename]
	return at.CanSliceBytes(text) && writtenPassword.Match(at.SliceBytes(text))
}
