package config

import (
	"path/filepath"
	"strings"
)

// Registry is where a native registry keeps what it knows; exactly one field is
// set.
type Registry struct {
	// Bolt is the absolute path of a file.
	Bolt string
}

// BadRegistry is what is wrong with the URL of a registry. It repeats nothing of
// the URL, which may hold a password.
type BadRegistry struct {
	// Summary is a few words, Problem a sentence, Advice what to write instead.
	Summary, Problem, Advice string
}

// Error implements error.
func (e *BadRegistry) Error() string { return e.Problem + " " + e.Advice }

const registryAdvice = `Write "bolt://" and a path: "bolt:///var/lib/icefield/catalog.db", or "bolt://catalog.db" beside the configuration file.`

// ParseRegistry reads the URL of a registry as catalog_url has it. Relative paths
// start at dir. The error is a *BadRegistry.
func ParseRegistry(url, dir string) (Registry, error) {
	path, ok := strings.CutPrefix(url, "bolt://")
	switch {
	case !ok:
		return Registry{}, &BadRegistry{"Unknown registry", "A native mount keeps its registry in a bolt file.", registryAdvice}
	case path == "" || strings.HasSuffix(path, "/") || strings.ContainsAny(path, "?#"):
		return Registry{}, &BadRegistry{"Invalid registry", `After "bolt://" stands the path of a file, and nothing else.`, registryAdvice}
	}
	return Registry{Bolt: absolute(dir, path)}, nil
}

// Place is the registry's URL without secrets, the same for every way to write
// it; empty for none.
func (r Registry) Place() string {
	if r.Bolt == "" {
		return ""
	}
	return "bolt://" + filepath.ToSlash(r.Bolt)
}
