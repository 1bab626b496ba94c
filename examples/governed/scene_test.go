//go:build peers

package governed

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/examples/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// session is how long the keys of the mount "brief" are good for. Icefield hands out none that end within half a minute.
const session = 40 * time.Second

// scene is governed.hcl, running.
type scene struct {
	url      string
	issuer   *issuer
	store    *peers.SeaweedFS
	brief    *peers.SeaweedFS
	icefield *launch.Process
	audit    string
	// keys are the API keys, by the names of their logins.
	keys map[string]string
}

func begin(t *testing.T) *scene {
	t.Helper()
	s := &scene{issuer: startIssuer(t), keys: map[string]string{}}
	s.store, s.brief = peers.StartSeaweedFS(t), peers.StartSeaweedFSWithSessions(t, session)
	for _, weed := range []*peers.SeaweedFS{s.store, s.brief} {
		if _, err := owner(weed).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
			t.Fatal(err)
		}
	}
	address, data := launch.FreeAddress(t), t.TempDir()
	s.audit = filepath.Join(data, "audit.jsonl")
	env := []string{"GOVERNED_LISTEN=" + address, "GOVERNED_DATA=" + data, "GOVERNED_ISSUER=" + s.issuer.url,
		"GOVERNED_STORE=" + s.store.S3, "GOVERNED_BRIEF_STORE=" + s.brief.S3,
		"GOVERNED_STORE_KEY=" + s.store.AccessKeyID, "GOVERNED_STORE_SECRET=" + s.store.SecretKey}
	for login, variable := range map[string]string{
		"admin": "ACME_ADMIN", "writer": "ACME_WRITER", "reader": "ACME_READER", "globex": "GLOBEX_ADMIN", "engine": "ENGINE",
	} {
		s.keys[login] = login + "-" + rand.Text()
		env = append(env, "GOVERNED_"+variable+"="+s.keys[login])
	}
	launch.Check(t, env, "governed.hcl")
	decided := exec.Command(launch.Binary(t), "policy", "test", "--config", "governed.hcl", "policies/decisions.hcl")
	decided.Env = append(os.Environ(), env...)
	output, err := decided.CombinedOutput()
	if err != nil {
		t.Fatalf("the policies decide otherwise than their table says: %v\n%s", err, output)
	}
	t.Logf("%s", bytes.TrimSpace(output))
	s.url = "http://" + address
	s.icefield = launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "governed.hcl"}, Env: env, Ready: s.url + "/ready",
	})
	return s
}

// catalog is a mount as somebody sees it who shows a token or an API key.
type catalog struct {
	*wire.Catalog
	token string
}

// as is a mount as the API key of a login, or a person's token, sees it.
func (s *scene) as(t *testing.T, who, mount string) *catalog {
	t.Helper()
	token, known := s.keys[who]
	if !known {
		token = s.issuer.token(t, who)
	}
	return &catalog{wire.New(s.url, mount), token}
}

// ask sends a request, asking for access to storage in the given way, and wants a status.
func (c *catalog) ask(t *testing.T, status int, delegation, method, path string, body any) (*wire.Answer, given) {
	t.Helper()
	header := http.Header{"Authorization": {"Bearer " + c.token}}
	if delegation != "" {
		header.Set("X-Iceberg-Access-Delegation", delegation)
	}
	a, err := c.CallWithHeader(header, method, path, body)
	if err != nil || a.Status != status {
		t.Fatalf("%s %s: want %d, got %v, %v", method, path, status, a, err)
	}
	var g given
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &g); err != nil {
			t.Fatal(err)
		}
	}
	return a, g
}

// given is what an answer gives a client.
type given struct {
	MetadataLocation string `json:"metadata-location"`
	Metadata         struct {
		Location string
		Schemas  []struct {
			Fields []field
		}
	}
	Config      map[string]string
	Credentials []struct {
		Prefix string
		Config map[string]string
	} `json:"storage-credentials"`
	Restrictions json.RawMessage `json:"read-restrictions"`
}

type field struct {
	ID   int
	Name string
	Type json.RawMessage
}

// secretKeys are the members of a config that give access.
var secretKeys = []string{"s3.access-key-id", "s3.secret-access-key", "s3.session-token"}

// access reports whether an answer gives any access to the store.
func (g given) access() bool {
	for _, name := range append([]string{"s3.remote-signing-enabled", "s3.signer.endpoint", "client.refresh-credentials-endpoint"}, secretKeys...) {
		if g.Config[name] != "" {
			return true
		}
	}
	return len(g.Credentials) > 0
}

// programs runs the scripts of the clients, which print what they see.
type programs struct {
	python, spark func() *peers.Python
}

func clients(t *testing.T) programs {
	return programs{
		python: sync.OnceValue(func() *peers.Python { return peers.NewPython(t) }),
		spark:  sync.OnceValue(func() *peers.Python { return peers.NewSparkS3(t) }),
	}
}

// run runs a script with a task as JSON, shows what it printed, and returns the last line.
func run(t *testing.T, python *peers.Python, script, step string, task map[string]any) string {
	t.Helper()
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	output := strings.TrimSpace(python.Run(t, script, step, string(text)))
	lines := strings.Split(output, "\n")
	for _, line := range lines {
		t.Log(line)
	}
	last := lines[len(lines)-1]
	if last != step+": all steps passed" {
		t.Fatalf("%s does not say that all steps passed", script)
	}
	t.Logf("%s %s took %v", script, step, time.Since(start).Round(100*time.Millisecond))
	return output
}

func owner(weed *peers.SeaweedFS) *s3.Client {
	return keyed(weed.S3, weed.AccessKeyID, weed.SecretKey, "")
}

func keyed(endpoint, id, secret, token string) *s3.Client {
	return s3.New(s3.Options{BaseEndpoint: aws.String(endpoint), Region: "us-east-1", UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: id, SecretAccessKey: secret, SessionToken: token}, nil
		})})
}
