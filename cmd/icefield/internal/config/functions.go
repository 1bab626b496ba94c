package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// maxIncluded bounds what file("…") may read.
const maxIncluded = 1 << 20

// functions is what an expression of a file in folder dir can call; include
// reads files for it.
func functions(dir string, lookup func(string) (string, bool), include func(path string) ([]byte, error)) *hcl.EvalContext {
	return &hcl.EvalContext{Functions: map[string]function.Function{
		"env":  envFunction(lookup),
		"file": fileFunction(dir, include),
	}}
}

// envFunction is env(name) and env(name, default).
func envFunction(lookup func(string) (string, bool)) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "name", Type: cty.String}},
		VarParam: &function.Parameter{Name: "default", Type: cty.String},
		Type:     function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if len(args) > 2 {
				return cty.NilVal, function.NewArgErrorf(2, `env takes a name and at most one default: env("NAME", "default")`)
			}
			name := args[0].AsString()
			if value, ok := lookup(name); ok {
				return cty.StringVal(value), nil
			}
			if len(args) == 2 {
				return args[1], nil
			}
			return cty.NilVal, fmt.Errorf(`the environment variable %s is not set. Set it, or give a default: env(%q, "…")`, name, name)
		},
	})
}

// fileFunction is file(path): the text of a file, without its last line break.
func fileFunction(dir string, include func(string) ([]byte, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			path := absolute(dir, args[0].AsString())
			text, err := include(path)
			if err != nil {
				return cty.NilVal, fmt.Errorf("%s: %s. A relative path starts at the folder of the configuration file", path, readProblem(err))
			}
			return cty.StringVal(strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")), nil
		},
	})
}

// absolute resolves a path that stands in a file of folder dir.
func absolute(dir, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return filepath.Clean(path)
}
