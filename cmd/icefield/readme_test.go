package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
)

// readme returns the README's code blocks of one language.
func readme(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)\n```\n").FindAllStringSubmatch(string(text), -1) {
		blocks = append(blocks, m[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("the README has no %s", language)
	}
	return blocks
}

// readmeFile returns the README's file of a name, which its first line says.
func readmeFile(t *testing.T, language, name string) string {
	t.Helper()
	for _, block := range readme(t, language) {
		if first, _, _ := strings.Cut(block, "\n"); strings.TrimLeft(first, "#/ ") == name {
			return block + "\n"
		}
	}
	t.Fatalf("the README has no %s", name)
	return ""
}

// readmeCommands returns the README's commands that begin with a line.
func readmeCommands(t *testing.T, first string) []string {
	t.Helper()
	for _, block := range readme(t, "sh") {
		if lines := strings.Split(block, "\n"); lines[0] == first {
			return lines
		}
	}
	t.Fatalf("the README has no %q", first)
	return nil
}

const moving = "icefield migrate --from bolt:///var/lib/icefield/prod.db --to env:PROD_DATABASE_URL"

// TestReadmeHoldsNoCommandThatNoTestRuns fails when the README gains a command:
// run it here, then list it. `go test ./...` is what runs this.
func TestReadmeHoldsNoCommandThatNoTestRuns(t *testing.T) {
	want := []string{
		"go run ./cmd/icefield demo",
		"go test ./...",
		"icefield check icefield.hcl\nicefield serve --config icefield.hcl\nicefield mounts\nicefield jobs",
		"icefield token mint --name ci --tenant acme --role writer\nicefield check governed.hcl\nicefield policy test --config governed.hcl decisions.hcl\n" +
			"icefield policy explain --config governed.hcl --principal key/ci --action dropTable --resource prod.crm.customers",
		moving + "\nicefield migrate status env:PROD_DATABASE_URL",
	}
	if got := readme(t, "sh"); !slices.Equal(got, want) {
		t.Errorf("the README's commands are %q", got)
	}
}

func TestReadmeFirstCommandShowsFederationAtWork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // it builds the program
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", readme(t, "sh")[0])
	cmd.Dir = moduleRoot(t)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		fmt.Fprintln(&seen, lines.Text())
		if strings.Contains(lines.Text(), "-e \"SELECT") { // the last line it prints before it serves
			break
		}
	}
	// The shell and go run ignore the signal or pass it on; the program ends by
	// itself, which is what a person's Ctrl-C does.
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // go run reports the interrupt as a failure
	for _, want := range []string{"partner", "orders", "prod", "events", "scratch", "load_catalog", "ATTACH", "spark-sql"} {
		if !strings.Contains(seen.String(), want) {
			t.Errorf("it does not show %q:\n%s%s", want, seen.String(), problems.String())
		}
	}
}

// lookForURL waits for the start-up line of serve.
func lookForURL(t *testing.T, log io.Reader) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			if m := regexp.MustCompile(`serving (http://[0-9.:]+)`).FindStringSubmatch(lines.Text()); m != nil {
				select {
				case found <- m[1]:
				default:
				}
			}
		}
	}()
	select {
	case u := <-found:
		return u
	case <-time.After(time.Minute):
		t.Fatal("the server does not start")
		return ""
	}
}

func TestMountTablesInPackageDocumentationPassCheck(t *testing.T) {
	secrets := config.Options{LookupEnv: func(string) (string, bool) { return "a-secret-that-is-long-enough", true }}
	found := 0
	err := filepath.WalkDir(moduleRoot(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "doc.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, example := range regexp.MustCompile(`(?m)^//\t(mount "[^"]*" |server |auth |policy |tenant "[^"]*" |audit )\{\n(//(\t.*)?\n)+`).FindAllString(string(text), -1) {
			found++
			example = regexp.MustCompile(`(?m)^//\t?`).ReplaceAllString(example, "")
			if !strings.Contains(example, "mount ") {
				example += nativeText("/", "root")
			}
			if _, report := config.Parse(filepath.Join(t.TempDir(), "doc.hcl"), []byte(example), secrets); report.HasErrors() {
				t.Errorf("%s: the example has mistakes: %+v", path, report.Findings)
			}
		}
		return nil
	})
	if err != nil || found < 4 {
		t.Errorf("%d examples found: %v", found, err)
	}
}

func TestReadmeMountTableIsCheckedServedAndShown(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PARTNER_SECRET", "a-secret-of-the-partner")
	t.Setenv("LAKEHOUSE_TOKEN", "a-token-of-the-lakehouse")
	file := filepath.Join(dir, "icefield.hcl")
	// The README's own paths and port are not this machine's to use, and its
	// remotes lead nowhere.
	text := strings.NewReplacer("/var/lib/icefield", dir, "127.0.0.1:8181", "127.0.0.1:0",
		"https://polaris.partner.example", "http://127.0.0.1:9", "https://dbc.example.com", "http://127.0.0.1:9").Replace(readmeFile(t, "hcl", "icefield.hcl"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, problems bytes.Buffer
	if code := run(t.Context(), []string{"check", file}, &out, &problems); code != exitOK {
		t.Fatalf("check: %d\n%s%s", code, out.String(), problems.String())
	}

	ctx, stop := context.WithCancel(t.Context())
	log, write := io.Pipe()
	served := make(chan int, 1)
	go func() {
		served <- run(ctx, []string{"serve", "--config", file}, io.Discard, write)
		write.Close()
	}()
	address := lookForURL(t, log)
	out.Reset()
	if code := run(t.Context(), []string{"mounts", "--url", address}, &out, &problems); code != exitOK {
		t.Errorf("mounts: %d\n%s", code, problems.String())
	}
	for _, mount := range []string{"/", "prod", "partner", "lakehouse"} {
		if !regexp.MustCompile(`(?m)^` + mount + `\s`).MatchString(out.String()) {
			t.Errorf("%s is not shown:\n%s", mount, out.String())
		}
		if mount == "/" {
			mount = "root"
		}
		resp, err := http.Get(address + "/v1/config?warehouse=" + mount)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Errorf("warehouse %s answers %d", mount, resp.StatusCode)
		}
	}
	// The remote mounts do not answer, and have no jobs.
	out.Reset()
	if code := run(t.Context(), []string{"jobs", "--url", address}, &out, &problems); code != exitOK || !strings.HasPrefix(out.String(), "ID ") {
		t.Errorf("jobs: %d\n%s%s", code, out.String(), problems.String())
	}
	stop()
	if code := <-served; code != exitOK {
		t.Errorf("serve ended with %d", code)
	}
}

// moveAsInReadme runs the README's commands that move a registry, and serves its
// mount table on the new one, with that many servers.
func moveAsInReadme(t *testing.T, url string, replicas int) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PROD_DATABASE_URL", url)
	here := strings.NewReplacer("/var/lib/icefield", dir, "s3://prod-bucket", "file://"+dir)
	table := here.Replace(readmeFile(t, "hcl", "replicas.hcl"))
	before := strings.Replace(table, `env("PROD_DATABASE_URL")`, `"bolt://`+dir+`/prod.db"`, 1)
	s, _ := started(t, load(t, dir, before))
	if status, message := send(t, http.MethodPost, s.url()+"/v1/prod/namespaces", `{"namespace":["sales"]}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, message)
	}
	if err := s.close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range readmeCommands(t, moving) {
		code, out, problems := cli(t, strings.Fields(here.Replace(line))[1:]...)
		if code != exitOK || !strings.Contains(out, "1 namespaces") {
			t.Fatalf("%s: %d\n%s%s", line, code, out, problems)
		}
	}
	cfg := load(t, dir, table)
	for range replicas {
		s, _ := started(t, cfg)
		if status, message := send(t, http.MethodGet, s.url()+"/v1/prod/namespaces/sales", ""); status != http.StatusOK {
			t.Errorf("%d %s", status, message)
		}
	}
}

func TestReadmeMovesARegistry(t *testing.T) {
	moveAsInReadme(t, "bolt://"+t.TempDir()+"/new.db", 1)
}

func TestPackageDocumentationNamesEverySubcommand(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newRoot().Commands() {
		if name := c.Name(); name != "version" && name != "help" && !strings.Contains(string(text), "//\ticefield "+name) {
			t.Errorf("icefield %s is missing in doc.go", name)
		}
	}
}
