//go:build peers

package peers

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Kit is a run of Iceberg's REST compatibility kit against a server: JUnit tests that use a catalog through Iceberg's Java
// client. They read and write files, so that the server has to be on this machine, and some put tables into folders
// directly below /tmp, so that its warehouse has to be "file:///tmp".
type Kit struct {
	URL        string
	Warehouse  string            // what the client asks /v1/config for
	Properties map[string]string // more for the client, and the kit's own switches ("rck.…")
	Source     string            // a Java file to compile first, with test classes of one's own; empty: none
	Select     []string          // the tests: names of classes, or "class#method"
}

// KitTest is what became of one test.
type KitTest struct {
	Outcome KitOutcome
	Detail  string // what the report says of it, unless it passed
}

// KitOutcome is one of three.
type KitOutcome string

const (
	KitPassed KitOutcome = "passed"
	KitFailed KitOutcome = "failed"
	KitUnrun  KitOutcome = "not run" // disabled, or ended by an assumption of its own
)

// Run runs the tests and returns what became of each, by "Class.method", with the class's simple name, and "[1]", "[2]" …
// where a method is run with several parameters. Only a run that did not take place fails the test; failures inside it
// are in what it returns. One takes place at a time, because of the folders, and those that it made are removed.
func (k Kit) Run(t testing.TB) map[string]KitTest {
	t.Helper()
	defer locked(t, "kit")()
	defer removeNew(t, kitFolders())()
	libraries, reports := classPath(t), t.TempDir()
	if k.Source != "" {
		classes := t.TempDir()
		if err := command("javac", "-cp", libraries, "-d", classes, k.Source); err != nil {
			t.Fatal(err)
		}
		libraries += string(os.PathListSeparator) + classes
	}
	args := []string{"-Xmx1g", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Drck.local=false", "-Duri=" + k.URL, "-Dwarehouse=" + k.Warehouse}
	for name, value := range k.Properties {
		args = append(args, "-D"+name+"="+value)
	}
	args = append(args, "-cp", libraries, "org.junit.platform.console.ConsoleLauncher", "execute",
		"--disable-banner", "--details=none", "--fail-if-no-tests", "--reports-dir="+reports)
	for _, selected := range k.Select {
		kind := "--select-class="
		if strings.Contains(selected, "#") {
			kind = "--select-method="
		}
		args = append(args, kind+selected)
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "java", args...)
	// What begins with CATALOG_ would become a property of the kit's client.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "CATALOG_") })
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	const someFailed = 1
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != someFailed) {
		t.Fatalf("the compatibility kit: %v\n%s", err, tail(output.String()))
	}
	tests, err := readReports(reports)
	if err != nil || len(tests) == 0 {
		t.Fatalf("the compatibility kit reports %d tests (%v):\n%s", len(tests), err, tail(output.String()))
	}
	return tests
}

// report is a JUnit report in the old XML format, one for each engine.
type report struct {
	Tests int `xml:"tests,attr"`
	Cases []struct {
		Class   string  `xml:"classname,attr"`
		Name    string  `xml:"name,attr"`
		Failure *detail `xml:"failure"`
		Error   *detail `xml:"error"`
		Skipped *detail `xml:"skipped"`
	} `xml:"testcase"`
}

type detail struct {
	Text string `xml:",chardata"`
}

func readReports(folder string) (map[string]KitTest, error) {
	files, err := filepath.Glob(filepath.Join(folder, "TEST-*.xml"))
	if err != nil {
		return nil, err
	}
	tests, announced := map[string]KitTest{}, 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var read report
		if err := xml.Unmarshal(content, &read); err != nil {
			return nil, err
		}
		announced += read.Tests
		for _, c := range read.Cases {
			test := KitTest{Outcome: KitPassed}
			for outcome, why := range map[KitOutcome][]*detail{KitFailed: {c.Failure, c.Error}, KitUnrun: {c.Skipped}} {
				for _, why := range why {
					if why != nil {
						test = KitTest{Outcome: outcome, Detail: strings.TrimSpace(why.Text)}
					}
				}
			}
			method, rest, _ := strings.Cut(c.Name, "(") // "replace(int)[2]" is the second run of replace
			_, run, _ := strings.Cut(rest, ")")
			tests[c.Class[strings.LastIndexByte(c.Class, '.')+1:]+"."+method+run] = test
		}
	}
	if announced != len(tests) {
		return nil, errors.New("the reports announce another number of tests than they name")
	}
	return tests, nil
}

// kitFolders is every folder that the kit's table locations and a server's default ones are in: the kit's namespaces.
func kitFolders() []string {
	var folders []string
	for _, namespace := range []string{
		"a", "a.b", "default", "new.db", "new%2Fdb", "newdb", "ns", "ns.x", "ns1", "ns2", "ns_1", "ns_2", "other_ns", "parent",
	} {
		folders = append(folders, filepath.Join("/tmp", namespace))
	}
	return folders
}

// removeNew returns what removes those of the folders that are not there yet.
func removeNew(t testing.TB, folders []string) func() {
	absent := slices.DeleteFunc(folders, func(folder string) bool {
		_, err := os.Lstat(folder)
		return !errors.Is(err, os.ErrNotExist)
	})
	return func() {
		for _, folder := range absent {
			if err := os.RemoveAll(folder); err != nil {
				t.Error(err)
			}
		}
	}
}
