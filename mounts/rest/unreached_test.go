package rest

import (
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestWhyNoConnectionCouldBeMadeIsSaidWithWhatToDo(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{}`) })
	plainly := httptest.NewServer(handler)
	defer plainly.Close()
	secure := httptest.NewUnstartedServer(handler)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	gone := httptest.NewServer(handler)
	gone.Close()
	known := x509.NewCertPool()
	known.AddCert(secure.Certificate())
	for address, c := range map[string]struct {
		roots *x509.CertPool
		says  string
	}{
		secure.URL: {x509.NewCertPool(), "certificate is not accepted"},
		strings.Replace(secure.URL, "127.0.0.1", "localhost", 1): {known, "certificate is not accepted"},
		strings.Replace(plainly.URL, "http:", "https:", 1):       {nil, "does not speak TLS"},
		"http://no-such-host.invalid":                            {nil, "host is not known"},
		gone.URL:                                                 {nil, "cannot be reached; nothing was sent, try again later"},
	} {
		_, err := Open(t.Context(), Config{URL: address, RootCAs: c.roots})
		e := mounts.AsError(err)
		if e.Kind != mounts.Unavailable || e.OutcomeUnknown || !strings.Contains(e.Message(), c.says) || strings.Contains(e.Message(), "127.0.0.1") {
			t.Errorf("%s: %v, %q (%v)", address, e.Kind, e.Message(), e.Err)
		}
	}
}
