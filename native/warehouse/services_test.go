package warehouse

import (
	"context"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/fsouza/fake-gcs-server/fakestorage"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// each runs a test over a warehouse of every kind for which there is a server.
func each(t *testing.T, run func(t *testing.T, w *Warehouse)) {
	t.Run("file", func(t *testing.T) {
		run(t, opened(t, filepath.Join(t.TempDir(), "wh"), nil))
	})
	for _, service := range services() {
		t.Run(service.name, func(t *testing.T) {
			authority, storage := service.start(t)
			run(t, opened(t, service.scheme+"://"+authority+"/wh", storage))
		})
	}
}

// service is a server of objects. start gives a fresh bucket or container.
type service struct {
	name, scheme string
	start        func(testing.TB) (authority string, storage map[string]string)
	// absent is a bucket or container that does not exist.
	absent func(authority string) string
}

func services() []service {
	other := func(string) string { return "other" }
	return append([]service{
		{"s3", "s3", func(t testing.TB) (string, map[string]string) { return "lake", fakeS3(t, "lake") }, other},
		{"gs", "gs", func(t testing.TB) (string, map[string]string) { return "lake", fakeGCS(t, "lake") }, other},
		{"gs-json", "gs", func(t testing.TB) (string, map[string]string) {
			storage := fakeGCS(t, "lake")
			storage["gcs.usejsonapi"] = "true"
			return "lake", storage
		}, other},
	}, peerServices()...)
}

func opened(t testing.TB, root string, storage map[string]string) *Warehouse {
	t.Helper()
	w, err := Open(context.Background(), root, storage)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// fakeS3 starts an S3 server with one bucket and returns how to reach it.
func fakeS3(t testing.TB, bucket string) map[string]string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return s3At(server.URL)
}

func s3At(url string) map[string]string {
	return map[string]string{"s3.endpoint": url, "s3.region": "us-east-1",
		"s3.access-key-id": "test", "s3.secret-access-key": "secret-of-the-test"}
}

// fakeGCS starts a server of Google's protocol with one bucket.
func fakeGCS(t testing.TB, bucket string) map[string]string {
	t.Helper()
	// The server must be told its own address: under that, and no other, it serves
	// what the client reads through the XML interface.
	server := httptest.NewUnstartedServer(nil)
	address := server.Listener.Addr().String()
	fake, err := fakestorage.NewServerWithOptions(fakestorage.Options{NoListener: true, Writer: io.Discard, PublicHost: address, ExternalURL: "http://" + address})
	if err != nil {
		t.Fatal(err)
	}
	fake.CreateBucketWithOpts(fakestorage.CreateBucketOpts{Name: bucket})
	server.Config.Handler = fake.HTTPHandler()
	server.Start()
	t.Cleanup(func() {
		server.Close()
		fake.Stop()
	})
	return gcsAt(server.URL)
}

func gcsAt(url string) map[string]string {
	return map[string]string{"gcs.service.host": url + "/storage/v1/", "gcs.no-auth": "true"}
}
