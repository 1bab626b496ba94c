package config

import (
	"crypto/sha256"
	"maps"
)

// Fingerprint tells the files of a configuration from what they were.
type Fingerprint struct {
	// problem is why the path names no files, which is a state like another.
	problem string
	// files are the configuration's own, values those that its values come from.
	files, values map[string]seen
}

// seen is a file's content, or why there is none.
type seen struct {
	sum        [sha256.Size]byte
	unreadable string
}

// Look reads the configuration files that path names, a file or a folder, and the
// files that its values come from. It goes by their content, wherever links lead:
// times and sizes can be the same for another content.
func Look(path string, included []string) Fingerprint {
	names, problem := fileNames(path)
	return Fingerprint{problem: problem, files: look(names, maxFile), values: look(included, maxIncluded)}
}

func look(names []string, limit int64) map[string]seen {
	files := map[string]seen{}
	for _, name := range names {
		files[name] = see(readBounded(name, limit))
	}
	return files
}

// see is what is to be remembered of a file that was read.
func see(text []byte, err error) seen {
	if err != nil {
		return seen{unreadable: readProblem(err)}
	}
	return seen{sum: sha256.Sum256(text)}
}

// With is the fingerprint of configuration files with that of the files that their
// values came from when they were read.
func (f Fingerprint) With(report *Report) Fingerprint {
	f.values = report.values
	return f
}

// Same reports whether there are the same files with the same content.
func (f Fingerprint) Same(other Fingerprint) bool {
	return f.problem == other.problem && maps.Equal(f.files, other.files) && maps.Equal(f.values, other.values)
}
