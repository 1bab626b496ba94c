//go:build peers

package peers

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
)

//go:embed seaweed/go.mod.txt
var seaweedModule string

//go:embed seaweed/access.json
var seaweedAccess string

// SeaweedFS is a store of objects with an Iceberg REST catalog, which takes OAuth2 tokens and requests that are signed as
// AWS has it, and hands out storage credentials that are good for one table each: the store holds sessions to their policy.
type SeaweedFS struct {
	*launch.Process
	// URL is the catalog's; each table bucket is a catalog of its own, and the prefix of its paths.
	URL string
	// S3 is the endpoint of the store.
	S3 string
	// Bucket is the one table bucket.
	Bucket string
	// AccessKeyID and SecretKey may do everything, in the store and, as an OAuth2 client, in the catalog.
	AccessKeyID, SecretKey string
}

// StartSeaweedFS starts one on free ports and waits until it serves. It is killed when the test ends. The program is built
// from its source on first use, which takes minutes.
func StartSeaweedFS(t testing.TB) *SeaweedFS {
	t.Helper()
	return StartSeaweedFSWithSessions(t, 12*time.Hour)
}

// StartSeaweedFSWithSessions is StartSeaweedFS with sessions that end after the longest time, also where more was asked for:
// its token service takes no request for less than 15 minutes.
func StartSeaweedFSWithSessions(t testing.TB, longest time.Duration) *SeaweedFS {
	t.Helper()
	program := filepath.Join(cached(t, "seaweedfs", seaweedModule, buildSeaweedFS), "weed")
	folder := t.TempDir()
	s := &SeaweedFS{Bucket: "lake", AccessKeyID: "icefield_admin", SecretKey: "the secret of the tests' own server"}
	access := filepath.Join(folder, "access.json")
	config := strings.NewReplacer("ACCESS_KEY", s.AccessKeyID, "SECRET_KEY", s.SecretKey, "LONGEST_SESSION", longest.String()).Replace(seaweedAccess)
	if err := os.WriteFile(access, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"mini", "-master.telemetry=false", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
		"-dir=data", // not its whole path, which may hold a comma: the flag is a list
		"-s3.config=" + access, "-s3.iam.config=" + access, "-tableBucket=" + s.Bucket,
		"-s3.iceberg.credentialRole=arn:aws:iam::000000000000:role/Vend", "-s3.iceberg.credentialDurationSeconds=900",
		"-webdav=false", "-admin.ui=false", "-s3.port.lance=0"}
	if err := os.Mkdir(filepath.Join(folder, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	names := []string{"master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc",
		"s3.port.grpc", "admin.port", "admin.port.grpc"}
	ports := freePorts(t, len(names)+2)
	for i, name := range names {
		args = append(args, "-"+name+"="+ports[i])
	}
	catalog, store := ports[len(names)], ports[len(names)+1]
	s.URL, s.S3 = "http://127.0.0.1:"+catalog, "http://127.0.0.1:"+store
	args = append(args, "-s3.port="+store, "-s3.port.iceberg="+catalog, "-s3.externalUrl="+s.S3)
	s.Process = launch.Start(t, launch.Command{
		Name: "seaweedfs", Path: program, Args: args, Dir: folder,
		Env:   []string{"HOME=" + folder}, // it looks for settings there
		Ready: s.URL + "/v1/config?warehouse=" + s.Bucket,
		Wait:  2 * time.Minute,
	})
	s.awaitBucket(t)
	return s
}

// awaitBucket waits for the table bucket, which is made after the catalog answers its first requests.
func (s *SeaweedFS) awaitBucket(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/"+s.Bucket+"/namespaces", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Token(t))
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-s.Exited():
			t.Fatalf("SeaweedFS exited: %s", s.Tail(8000))
		case <-ctx.Done():
			t.Fatalf("SeaweedFS has no table bucket: %v\n%s", err, s.Tail(8000))
		case <-tick.C:
		}
	}
}

// Token logs in with the access key as an OAuth2 client, and returns a token that is good for an hour.
func (s *SeaweedFS) Token(t testing.TB) string {
	t.Helper()
	answer, err := http.PostForm(s.URL+"/v1/oauth/tokens", url.Values{
		"grant_type": {"client_credentials"}, "client_id": {s.AccessKeyID}, "client_secret": {s.SecretKey},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var token struct {
		Text string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&token); err != nil || token.Text == "" {
		t.Fatalf("SeaweedFS gives no token: %s, %v", answer.Status, err)
	}
	return token.Text
}

// freePorts are ports that nothing listens on, and no two of which are the same.
func freePorts(t testing.TB, n int) (ports []string) {
	t.Helper()
	for range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close() // held until all are known
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, port)
	}
	return ports
}

// buildSeaweedFS builds the program in a module of its own, so that nothing of it gets into this one.
func buildSeaweedFS(folder string) error {
	if err := os.WriteFile(filepath.Join(folder, "go.mod"), []byte(seaweedModule), 0o644); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-mod=mod", "-trimpath", "-ldflags=-s -w", "-o", "weed", "github.com/seaweedfs/seaweedfs/weed")
	build.Dir = folder
	build.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build of SeaweedFS: %w\n%s", err, tail(string(output)))
	}
	return nil
}
