package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclparse"
)

const (
	maxFile  = 4 << 20
	maxFiles = 1000
	maxDepth = 1000
)

// sources reads what path names: a file, or every configuration file of a
// folder. The problems of one file do not keep the others from being read.
func sources(parser *hclparse.Parser, path string) (files []*hcl.File, names []string, diags hcl.Diagnostics) {
	names, problem := fileNames(path)
	if problem != "" {
		return nil, nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "No configuration", Detail: problem}}
	}
	for _, name := range names {
		text, err := readBounded(name, maxFile)
		if err != nil {
			diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Unreadable configuration",
				Detail: fmt.Sprintf("Cannot read %s: %s.", name, readProblem(err))})
			continue
		}
		file, found := parse(parser, name, text)
		diags = append(diags, found...)
		if file != nil {
			files = append(files, file)
		}
	}
	return files, names, diags
}

func parse(parser *hclparse.Parser, name string, text []byte) (*hcl.File, hcl.Diagnostics) {
	if tooDeep(text) {
		return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Unreadable configuration",
			Detail: fmt.Sprintf("%s opens more than %d brackets inside one another. Is it a configuration, and is a closing one missing?", name, maxDepth)}}
	}
	if strings.HasSuffix(name, ".json") {
		// Some editors begin a file with a byte order mark. HCL's native syntax
		// allows it, its JSON does not.
		return parser.ParseJSON(bytes.TrimPrefix(text, []byte("\ufeff")), name)
	}
	return parser.ParseHCL(text, name)
}

// tooDeep reports a text that the parsers, which recurse, would fail on for want
// of stack or take minutes for. It counts brackets wherever they stand.
func tooDeep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '{', '[', '(':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']', ')':
			depth = max(0, depth-1)
		}
	}
	return false
}

// fileNames lists the files to read, or says why there are none.
func fileNames(path string) (names []string, problem string) {
	if path == "" {
		return nil, "The path is empty. Name a configuration file, or a folder that holds *.hcl or *.hcl.json files."
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Sprintf("Cannot read %s: %s. Name a configuration file, or a folder that holds *.hcl or *.hcl.json files.", path, readProblem(err))
	}
	if !info.IsDir() {
		return []string{path}, ""
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Sprintf("Cannot read the folder %s: %s.", path, readProblem(err))
	}
	for _, entry := range entries {
		base := entry.Name()
		if !entry.IsDir() && (strings.HasSuffix(base, ".hcl") || strings.HasSuffix(base, ".hcl.json")) {
			names = append(names, filepath.Join(path, base))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Sprintf("The folder %s holds no *.hcl and no *.hcl.json file.", path)
	}
	if len(names) > maxFiles {
		return nil, fmt.Sprintf("The folder %s holds %d configuration files, more than the %d that are read.", path, len(names), maxFiles)
	}
	slices.Sort(names)
	return names, ""
}

// errTooLarge and errNotAFile are the refusals of readBounded.
var (
	errTooLarge = errors.New("too large")
	errNotAFile = errors.New("not a regular file")
)

// readBounded reads a regular file of at most limit bytes. A pipe or device,
// which could block or never end, is refused.
func readBounded(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNotAFile
	}
	f, err := os.Open(name) // #nosec G304 -- the configuration, or a file that the operator names in it
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: more than %s", errTooLarge, sizeText(limit))
	}
	return text, nil
}

// readProblem is an error of the file system in words, without the path, which
// the sentence around it has.
func readProblem(err error) string {
	var pathErr *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read it"
	case errors.As(err, &pathErr):
		return pathErr.Err.Error()
	}
	return err.Error()
}
