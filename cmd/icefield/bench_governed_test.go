package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/icefield/icefield/policy/authn/authntest"
)

// What it costs to know who calls, to decide, to write it down and to count: loads
// of a server with all of that (tokens of an issuer, policies, an audit trail that
// fails closed, both rate limits) beside the same loads of one with none of it.
// The servers take turns, some hundred requests each, so that what else the machine
// does slows all of them. "x" is the requests a second, and "cpu" the processor time
// that one takes, each as a share of that of the server with nothing; client, remote
// and server are one process, so that both are milder than the truth.
//
//	go test ./cmd/icefield -run '^$' -bench Governed -benchtime 30x -count 5

// governedText turns everything on, with n policies beside the built-in ones.
func governedText(b *testing.B, issuer *authntest.Issuer, n int) string {
	b.Helper()
	dir := b.TempDir()
	var rules strings.Builder
	for i := range n {
		fmt.Fprintf(&rules, "permit (principal in Icefield::Group::\"acme/role%d\", action in Icefield::Action::\"read\", resource in Icefield::Namespace::\"prod/space%d\");\n", i, i)
	}
	file := filepath.Join(dir, "rules.cedar")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf(`
server {
  rate_limit {
    requests_per_second = 1000000
    burst               = 1000000
  }
  tenant_rate_limit {
    requests_per_second = 1000000
    burst               = 1000000
  }
}
auth {
  oidc "corp" {
    issuer       = %q
    audience     = ["icefield"]
    tenant_claim = "tenant"
    roles_claim  = "roles"
  }
}
policy {
  builtin = true
  files   = [%q]
}
audit {
  sink        = "file"
  path        = %q
  fail_closed = true
}
`, issuer.URL(), file, filepath.Join(dir, "audit.jsonl"))
}

// contender is one of the servers that take turns, with a client's connections.
type contender struct {
	name  string
	lines []*line
	wall  time.Duration
	cpu   time.Duration
}

const (
	governedClients = 8
	governedTurn    = 400 // requests of all clients
)

// turn lets all clients ask, at the same time.
func (c *contender) turn(b *testing.B) {
	began, used := time.Now(), processorTime(b)
	var all sync.WaitGroup
	for _, l := range c.lines {
		all.Go(func() {
			for range governedTurn / len(c.lines) {
				if _, err := l.ask(); err != nil {
					b.Errorf("%s: %v", c.name, err)
					return
				}
			}
		})
	}
	all.Wait()
	c.wall += time.Since(began)
	c.cpu += processorTime(b) - used
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func BenchmarkGovernedLoadTable(b *testing.B) {
	issuer := authntest.New(b, authntest.Options{})
	roles := []string{"analyst", "reader", "role7", "writer"}
	token := "Authorization: Bearer " + issuer.Mint(map[string]any{"sub": "alice", "tenant": "acme", "roles": roles})
	native := func(b *testing.B) (text string, make func(front, token string)) {
		return nativeMount(b, "prod"), func(front, token string) { governedTable(b, front, token) }
	}
	for _, c := range []struct {
		name, path, status string
		mount              func(b *testing.B) (string, func(front, token string))
		headers            []string
		tagged             bool
	}{
		{name: "native", path: "/v1/namespaces/prod%1Fshop/tables/orders", status: "200", mount: native},
		{name: "not modified", path: "/v1/namespaces/prod%1Fshop/tables/orders", status: "304", mount: native, tagged: true},
		{name: "proxied", path: "/v1/namespaces/partner%1Fshop/tables/orders", status: "200", mount: func(b *testing.B) (string, func(front, token string)) {
			return fmt.Sprintf("mount \"partner\" {\n backend = \"rest\"\n owner = \"acme\"\n catalog_url = %q\n}\n", benchRemote(b)), nil
		}},
		{name: "vended", path: "/v1/namespaces/prod%1Fshop/tables/orders", status: "200", headers: []string{"X-Iceberg-Access-Delegation: vended-credentials"},
			mount: func(b *testing.B) (string, func(front, token string)) {
				return vendingMount(b), func(front, token string) { governedTable(b, front, token) }
			}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var all []*contender
			for _, rules := range []int{-1, 10, 10_000} {
				mount, fill := c.mount(b)
				name, headers := "nothing", c.headers
				if rules >= 0 {
					name, headers, mount = fmt.Sprint(rules, "-policies"), append([]string{token}, c.headers...), governedText(b, issuer, rules)+mount
				}
				front := benchServer(b, mount)
				if fill != nil {
					fill(front, token)
				}
				if c.tagged {
					headers = append(headers, "If-None-Match: "+tagOf(b, front+c.path, token))
				}
				one := &contender{name: name}
				for range governedClients {
					one.lines = append(one.lines, dial(b, front, c.path, c.status, headers...))
				}
				all = append(all, one)
				one.turn(b) // until everything is warm
				one.wall, one.cpu = 0, 0
			}
			for n := 0; b.Loop(); n++ {
				for i := range all {
					all[(i+n)%len(all)].turn(b)
				}
			}
			for _, one := range all {
				for _, l := range one.lines {
					l.conn.Close()
				}
			}
			bare := all[0]
			b.ReportMetric(float64(bare.cpu.Microseconds())/float64(b.N*governedTurn), "cpu-us/load")
			for _, one := range all[1:] {
				b.ReportMetric(float64(bare.wall)/float64(one.wall), "x-"+one.name)
				b.ReportMetric(float64(bare.cpu)/float64(one.cpu), "cpu-"+one.name)
			}
		})
	}
}

// vendingMount is a native mount in a bucket, which hands out credentials for it.
func vendingMount(b *testing.B) string {
	backend := s3mem.New()
	if err := backend.CreateBucket("lake"); err != nil {
		b.Fatal(err)
	}
	store := httptest.NewServer(gofakes3.New(backend).Server())
	b.Cleanup(store.Close)
	sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAVENDED</AccessKeyId>`+
			`<SecretAccessKey>vended</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
			strings.Repeat("t", 800), time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	b.Cleanup(sts.Close)
	b.Setenv("BENCH_KEY_ID", "AKIAOFTHEMOUNT")
	b.Setenv("BENCH_SECRET_KEY", "secret-of-the-mount")
	return fmt.Sprintf(`
mount "prod" {
  backend            = "native"
  owner              = "acme"
  catalog_url        = "bolt://%s/prod.db"
  warehouse_location = "s3://lake/prod"
  storage = {
    "s3.endpoint"          = %q
    "s3.region"            = "us-east-1"
    "s3.access-key-id"     = env("BENCH_KEY_ID")
    "s3.secret-access-key" = env("BENCH_SECRET_KEY")
  }
  vending "aws" {
    role_arn     = "arn:aws:iam::123456789012:role/lake"
    sts_endpoint = %q
  }
}
`, b.TempDir(), store.URL, sts.URL)
}

// governedTable is nativeTable as somebody.
func governedTable(b *testing.B, front, token string) {
	b.Helper()
	before := http.DefaultClient
	http.DefaultClient = &http.Client{Transport: bearing(strings.TrimPrefix(token, "Authorization: "))}
	defer func() { http.DefaultClient = before }()
	nativeTable(b, front)
}

// bearing sends a token with each request.
type bearing string

func (t bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", string(t))
	return http.DefaultTransport.RoundTrip(r)
}

func tagOf(b *testing.B, address, token string) string {
	b.Helper()
	resp, err := (&http.Client{Transport: bearing(strings.TrimPrefix(token, "Authorization: "))}).Get(address)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	tag := resp.Header.Get("ETag")
	if resp.StatusCode != http.StatusOK || tag == "" {
		b.Fatalf("%s: %s, tag %q", address, resp.Status, tag)
	}
	return tag
}
