package faults

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/router"
)

// remote is a correct catalog that keeps a book of the commits that reach it, each known by the number that it sets, and
// misbehaves on some of them, as their number says.
type remote struct {
	*httptest.Server
	catalog http.Handler

	mu     sync.Mutex
	booked map[int]*booked
	cut    int // requests that broke off before their end
}

// booked is what became of one commit.
type booked struct {
	received int  // whole
	applied  bool // by the catalog
	refused  bool // by the catalog, or by the remote before it
}

func startRemote(t *testing.T) *remote {
	t.Helper()
	backend := memory.New(memory.Options{})
	r := &remote{catalog: router.New(router.Config{Tree: router.Catalog{Backend: backend}}), booked: map[int]*booked{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

var numbered = regexp.MustCompile(`"commit":"(\d+)"`)

func (r *remote) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.mu.Lock()
		r.cut++
		r.mu.Unlock()
		panic(http.ErrAbortHandler) // the rest will not come, and nobody reads an answer
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	number := numbered.FindSubmatch(body)
	if number == nil {
		r.catalog.ServeHTTP(w, req)
		return
	}
	n, _ := strconv.Atoi(string(number[1]))
	r.mu.Lock()
	b := r.booked[n]
	if b == nil {
		b = &booked{}
		r.booked[n] = b
	}
	b.received++
	r.mu.Unlock()
	r.answer(w, req, n, b)
}

// answer works on a commit, or does not, and answers with the truth, with something else, or not at all.
func (r *remote) answer(w http.ResponseWriter, req *http.Request, n int, b *booked) {
	refuse := func(status int, kind string, header http.Header) {
		r.mu.Lock()
		b.refused = true
		r.mu.Unlock()
		for name, values := range header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":"not now","type":%q,"code":%d}}`, kind, status)
	}
	switch n % 40 {
	case 0:
		refuse(http.StatusServiceUnavailable, "SlowDownException", http.Header{"Retry-After": {"1"}})
		return
	case 1:
		refuse(http.StatusTooManyRequests, "TooManyRequestsException", nil)
		return
	case 2:
		refuse(http.StatusConflict, "CommitFailedException", nil)
		return
	}
	worked := httptest.NewRecorder()
	r.catalog.ServeHTTP(worked, req)
	r.mu.Lock()
	b.applied, b.refused = worked.Code == http.StatusOK, worked.Code >= 400
	r.mu.Unlock()
	switch n % 40 {
	case 3: // done, but it says that it failed
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, `{"error":{"message":"out of order","type":"InternalServerError","code":500}}`)
	case 4: // a proxy before it lost the answer
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusBadGateway)
		io.WriteString(w, "<html><body>Bad Gateway</body></html>")
	case 5: // the answer is half of one
		w.Header().Set("Content-Type", "application/json")
		w.Write(worked.Body.Bytes()[:worked.Body.Len()/2])
	case 6: // it says that it is overloaded, after all
		w.WriteHeader(http.StatusServiceUnavailable)
	case 7: // it closes its side of the connection, and leaves the other one open
		halfClose(w)
	case 8: // it takes longer than anybody waits
		select {
		case <-req.Context().Done():
		case <-time.After(3 * time.Second):
		}
	default:
		for name, values := range worked.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(worked.Code)
		w.Write(worked.Body.Bytes())
	}
}

// halfClose ends what the remote sends and goes on reading, until the other side closes too.
func halfClose(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	connection.(*net.TCPConn).CloseWrite()
	connection.SetReadDeadline(time.Now().Add(5 * time.Second))
	io.Copy(io.Discard, connection)
	connection.Close()
}
