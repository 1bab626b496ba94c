package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/icefield/icefield"

// layers are the import layers, lowest first. A package may import what lies in
// a lower layer, and nothing of its own layer but its own sub-packages.
var layers = [][]string{
	{"capabilities", "pagination"},
	{"mounts"},
	{"mounts/commit"},
	{"mounts/memory", "mounts/rest", "mounts/wrap", "mounts/mounttest", "native", "policy", "router/federate"},
	{"router", "router/middleware", "router/console"},
	{"cmd"},
	{"examples"},
}

// interpretsMetadata lists who may import iceberg-go: those that read or write
// table metadata. On the proxy path metadata stays raw JSON.
var interpretsMetadata = []string{"mounts/commit", "native", "cmd/icefield/internal/sample", "examples"}

type listedPackage struct {
	ImportPath string
	Imports    []string
	GoFiles    []string
}

func modulePackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,GoFiles", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []listedPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p listedPackage
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 10 {
		t.Fatalf("only %d packages found", len(list))
	}
	return list
}

// place finds the layer and the layer's entry that a package belongs to: the
// longest entry that is its path or a folder above it.
func place(pkg string) (layer int, entry string) {
	layer = -1
	for i, entries := range layers {
		for _, e := range entries {
			if (pkg == e || strings.HasPrefix(pkg, e+"/")) && len(e) > len(entry) {
				layer, entry = i, e
			}
		}
	}
	return layer, entry
}

func TestImportsPointDownTheLayers(t *testing.T) {
	for _, p := range modulePackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		layer, entry := place(from)
		if layer < 0 || (entry == "mounts" && from != "mounts") {
			t.Errorf("%s belongs to no layer", from)
			continue
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module+"/") {
				continue
			}
			to := strings.TrimPrefix(imported, module+"/")
			toLayer, toEntry := place(to)
			own := toEntry == entry
			routerParts := entry == "router" && strings.HasPrefix(to, "router/")
			if toLayer >= layer && !own && !routerParts {
				t.Errorf("%s imports %s, which is not below it", from, to)
			}
		}
	}
}

func TestOnlyWhatInterpretsMetadataImportsIcebergGo(t *testing.T) {
	for _, p := range modulePackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed := slices.ContainsFunc(interpretsMetadata, func(a string) bool { return from == a || strings.HasPrefix(from, a+"/") })
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "github.com/apache/iceberg-go") && !allowed {
				t.Errorf("%s imports %s: metadata must stay raw there", from, imported)
			}
		}
	}
}

func TestEveryPackageHasItsDocumentationInDocGo(t *testing.T) {
	root := moduleRoot(t)
	for _, p := range modulePackages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		folder := filepath.Join(root, strings.TrimPrefix(p.ImportPath, module))
		text, err := os.ReadFile(filepath.Join(folder, "doc.go"))
		if err != nil || !strings.Contains(string(text), "\n// ") && !strings.HasPrefix(string(text), "// ") {
			t.Errorf("%s has no package documentation in doc.go", p.ImportPath)
		}
	}
}

func TestNothingElseStandsAtTheTopLevel(t *testing.T) {
	allowed := []string{"cmd", "router", "mounts", "pagination", "capabilities", "policy", "native", "examples",
		"go.mod", "go.sum", "README.md", "LICENSE"}
	entries, err := os.ReadDir(moduleRoot(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s stands at the top level", e.Name())
		}
	}
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
