package cedar

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Source says which policies there are.
type Source struct {
	// Files are the paths of the server's own policies: globs as filepath.Glob
	// knows them. Whoever fills them in makes relative paths relative to the right
	// folder. A glob that finds nothing is a mistake.
	Files []string
	// Builtin puts the built-in policies into effect, beside the files.
	Builtin bool
	// Tenants are the globs of the policies of each tenant, by the tenant's name.
	// They are evaluated for resources of that tenant only.
	Tenants map[string][]string
}

// Clone returns a copy that shares nothing.
func (s Source) Clone() Source {
	s.Files = slices.Clone(s.Files)
	tenants := make(map[string][]string, len(s.Tenants))
	for name, globs := range s.Tenants {
		tenants[name] = slices.Clone(globs)
	}
	s.Tenants = tenants
	return s
}

// The bounds of a set. Each tenant has bounds of its own, so that none of them can
// use up what others need.
const (
	maxFiles          = 1000
	maxFile           = 4 << 20
	maxTotal          = 32 << 20
	maxPolicies       = 50_000
	maxTenantFiles    = 200
	maxTenantTotal    = 4 << 20
	maxTenantPolicies = 10_000
	// maxPolicy is how long the text of one policy may be, maxDepth how deep its
	// brackets: the reader of policies goes as deep as they do.
	maxPolicy = 64 << 10
	maxDepth  = 64
)

// file is one that a source names, as it was read.
type file struct {
	tenant string // empty for the server's own
	path   string
	text   []byte
	// problem is why there is no text, or no file.
	problem string
}

// read reads every file of a source: the server's first, then those of each
// tenant by its name. What cannot be read is there with its problem.
func (s Source) read() []file {
	r := reading{total: maxTotal, most: maxFiles}
	r.globs("", s.Files)
	files := r.files
	for _, tenant := range slices.Sorted(maps.Keys(s.Tenants)) {
		r := reading{total: maxTenantTotal, most: maxTenantFiles}
		r.globs(tenant, s.Tenants[tenant])
		files = append(files, r.files...)
	}
	return files
}

// reading is the files of one owner, up to so many and so many bytes in all.
type reading struct {
	total int64
	most  int

	files []file
	used  int64
	full  bool
}

func (r *reading) globs(tenant string, globs []string) {
	seen := map[string]bool{}
	for _, glob := range globs {
		paths, err := filepath.Glob(glob)
		switch {
		case err != nil:
			r.files = append(r.files, file{tenant: tenant, path: glob, problem: "is no pattern for paths: a bracket is not closed"})
			continue
		case len(paths) == 0:
			r.files = append(r.files, file{tenant: tenant, path: glob, problem: "there is no such file: correct the path, or remove it from the configuration"})
			continue
		}
		for _, path := range paths {
			if seen[path] || r.full {
				continue
			}
			seen[path] = true
			if len(r.files) >= r.most {
				r.full = true
				r.files = append(r.files, file{tenant: tenant, path: glob, problem: fmt.Sprintf("there are more than %d policy files: put more policies into each", r.most)})
				return
			}
			f := file{tenant: tenant, path: path}
			f.text, f.problem = readFile(path, r.total-r.used, r.total)
			r.used += int64(len(f.text))
			r.files = append(r.files, f)
		}
	}
}

// readFile reads a regular file, wherever links lead, of at most left bytes, which
// is what is left of total.
func readFile(path string, left, total int64) (text []byte, problem string) {
	// A pipe would be waited for when it is opened, also one that took the place of
	// a file that was looked at.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // #nosec G304 -- the operator's configuration names the files
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(err)
	}
	if !info.Mode().IsRegular() {
		return nil, "is not a file: name the files in it, as with *.cedar"
	}
	limit := min(maxFile, left)
	text, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if int64(len(text)) > limit {
		if limit < maxFile {
			return nil, fmt.Sprintf("all policy files together are longer than %d MiB", total>>20)
		}
		return nil, fmt.Sprintf("is longer than %d MiB: split it", maxFile>>20)
	}
	return text, ""
}

// unreadable says why, without the path, which is said beside it.
func unreadable(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return "cannot be read: " + err.Error()
}

// fingerprint tells the files of a source from what they were.
type fingerprint [sha256.Size]byte

// fingerprintOf goes by names and content: times and sizes can be the same for
// another content.
func fingerprintOf(files []file) fingerprint {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %q %q %d\n", f.tenant, f.path, f.problem, len(f.text))
		h.Write(f.text)
	}
	return fingerprint(h.Sum(nil))
}
