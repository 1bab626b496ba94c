package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/router/middleware"
)

func listRoot() *mounts.ListNamespacesRequest { return &mounts.ListNamespacesRequest{} }

// pacedBody is a request's body whose second part comes when the test says so.
type pacedBody struct {
	first, second io.Reader
	rest          chan struct{}
}

func newPacedBody(first, second string) *pacedBody {
	return &pacedBody{first: strings.NewReader(first), second: strings.NewReader(second), rest: make(chan struct{})}
}

func (b *pacedBody) Read(p []byte) (int, error) {
	if n, err := b.first.Read(p); err == nil {
		return n, nil
	}
	<-b.rest
	return b.second.Read(p)
}

// sentName is the name that a server gives itself towards a remote whose mount
// was there before the configuration changed.
func sentName(t *testing.T, a *alive) string {
	t.Helper()
	names := make(chan string, 100)
	url, _ := counted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/config" {
			names <- r.Header.Get(middleware.ViaHeader)
		}
		plainRemote(w, r)
	}))
	cfg, _ := a.read()
	with := *cfg
	text := restText("watched", url, "")
	parsed, report := config.Parse(a.path, []byte(text), config.Options{})
	require.False(t, report.HasErrors())
	with.Mounts = append(with.Mounts, parsed.Mounts...)
	for i := range 2 { // the second time the mount stays and the name changes
		next := with
		next.Server.MaxBody += int64(i)
		_, err := a.catalogs.replace(t.Context(), &next)
		require.NoError(t, err)
	}
	rec := httptest.NewRecorder()
	a.catalogs.ServeHTTP(rec, httptest.NewRequest("GET", "/v1/namespaces/watched%1Fa", nil))
	require.Equal(t, 200, rec.Code, rec.Body.String())
	return <-names
}
