package native_test

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native"
	"github.com/icefield/icefield/native/store/bolt"
)

// TestConformance is about the registry as it is served: it remembers the
// outcomes of requests with an Idempotency-Key.
func TestConformance(t *testing.T) {
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend { return openRegistry(t, t.TempDir(), 64<<20).Idempotent() }})
}

// s3Registry is a registry whose warehouse is a bucket of an S3 server that
// lives with the test.
func s3Registry(t testing.TB, endpoint string, cache int64) *native.Backend {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := native.Open(context.Background(), native.Config{Store: s, Warehouse: "s3://lake/wh", MetadataCache: cache,
		Storage: map[string]string{"s3.endpoint": endpoint, "s3.region": "us-east-1",
			"s3.access-key-id": "test", "s3.secret-access-key": "secret-of-the-test"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func s3Server(t testing.TB) *httptest.Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("lake"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return server
}

// TestConformanceOnS3 also goes without the cache, so that every load reads the
// file, and without a memory for keys.
func TestConformanceOnS3(t *testing.T) {
	server := s3Server(t)
	mounttest.Run(t, mounttest.Config{Open: func(t testing.TB) mounts.Backend { return s3Registry(t, server.URL, 0) }})
}

func TestTablesOnS3SayHowToReachThemAndNoSecrets(t *testing.T) {
	ctx := context.Background()
	server := s3Server(t)
	b := s3Registry(t, server.URL, 0)
	space := mounts.Namespace{"a"}
	if _, err := b.CreateNamespace(ctx, &mounts.CreateNamespaceRequest{Namespace: space}); err != nil {
		t.Fatal(err)
	}
	created, err := b.CreateTable(ctx, &mounts.CreateTableRequest{Namespace: space, Name: "t", Schema: mounttest.Schema(), Location: "s3a://lake/wh/chosen/t"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(created.MetadataLocation, "s3a://lake/wh/chosen/t/metadata/00000-") {
		t.Errorf("created at %s", created.MetadataLocation)
	}
	if created.Config["s3.endpoint"] != server.URL || created.Config["s3.path-style-access"] != "true" || created.Config["client.region"] != "us-east-1" {
		t.Errorf("engines are told %v", created.Config)
	}
	for key, value := range created.Config {
		if strings.Contains(value, "secret") || strings.Contains(key, "key") {
			t.Errorf("engines are told the secret %s", key)
		}
	}
	// Storage that does not answer is an error, and no absence.
	server.Close()
	short, cancel := context.WithCancel(ctx)
	cancel()
	id := mounts.Identifier{Namespace: space, Name: "t"}
	if _, err := b.LoadTable(short, &mounts.LoadTableRequest{Table: id}); mounts.AsError(err).Kind != mounts.Timeout {
		t.Errorf("an ended load: %v", err)
	}
	_, err = b.LoadTable(ctx, &mounts.LoadTableRequest{Table: id})
	if e := mounts.AsError(err); e == nil || e.Kind != mounts.Internal || strings.Contains(e.Message(), "127.0.0.1") {
		t.Errorf("storage that is down: %v", err)
	}
}
