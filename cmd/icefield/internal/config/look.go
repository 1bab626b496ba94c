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
	return Fingerprint{problem: problem, files: look(names), values: look(included)}
}

func look(names []string) map[string]seen {
	files := map[string]seen{}
	for _, name := range names {
		text, err := readBounded(name, maxFile)
		if err != nil {
			files[name] = seen{unreadable: readProblem(err)}
			continue
		}
		files[name] = seen{sum: sha256.Sum256(text)}
	}
	return files
}

// Same reports whether there are the same configuration files with the same
// content. Of the files that values come from it compares those that were looked
// at both times: which ones these are is for the configuration files to say.
func (f Fingerprint) Same(other Fingerprint) bool {
	if f.problem != other.problem || !maps.Equal(f.files, other.files) {
		return false
	}
	for name, content := range f.values {
		if there, both := other.values[name]; both && there != content {
			return false
		}
	}
	return true
}
