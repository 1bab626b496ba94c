package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts/rest"
	"github.com/icefield/icefield/mounts/wrap"
)

// What a hostile remote may know, and what nobody but the remote may.
const (
	callerSecret = "callers-own-secret-token"
	mountSecret  = "mounts-own-secret-token"
	// hostileLimit is limit.response; hostileHeap what the heap may grow by
	// under attacks that are many times as large.
	hostileLimit, hostileHeap = 8 << 20, 96 << 20
)

// elsewhere is a place that nobody may ever go to, on a host of another name; it
// counts who does.
type elsewhere struct {
	url         string
	connections atomic.Int64
}

func newElsewhere(t testing.TB) *elsewhere {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	e := &elsewhere{url: "http://localhost:" + port}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			e.connections.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return e
}

// hostile is a remote under somebody else's control, the whole server in front of
// it, and a client with a login of its own.
type hostile struct {
	front string
	away  *elsewhere
	mu    sync.Mutex
	leaks []string
}

// look notes what a request to the remote should not have borne.
func (h *hostile) look(r *http.Request) {
	var leaks []string
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, " "), callerSecret) {
			leaks = append(leaks, fmt.Sprintf("%s %s bore the caller's own secret in %s", r.Method, r.URL, name))
		}
	}
	if strings.Contains(r.URL.String(), mountSecret) || strings.Contains(r.URL.String(), callerSecret) {
		leaks = append(leaks, fmt.Sprintf("a secret is in the URL %s", r.URL))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leaks = append(h.leaks, leaks...)
}

// attack is one answer that a hostile remote gives.
type attack struct {
	config string // /v1/config; empty: nothing odd
	answer func(w http.ResponseWriter, r *http.Request)
}

func attacked(t testing.TB, a attack, change ...func(*rest.Config)) *hostile {
	t.Helper()
	h := &hostile{away: newElsewhere(t)}
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.look(r)
		if strings.HasSuffix(r.URL.Path, "/v1/config") && a.config != "-" {
			w.Header().Set("Content-Type", "application/json")
			config := a.config
			if config == "" {
				config = `{"defaults":{},"overrides":{}}`
			}
			io.WriteString(w, strings.ReplaceAll(config, "{elsewhere}", h.away.url))
			return
		}
		a.answer(w, r)
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	c := rest.Config{URL: srv.URL, Mount: "prod", Request: 2 * time.Second, MaxResponse: hostileLimit, Writable: true,
		Auth: rest.Bearer(func() (string, error) { return mountSecret, nil })}
	for _, f := range change {
		f(&c)
	}
	b, err := rest.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	h.front = wholeServer(t, b, wrap.Options{Timeout: 4 * time.Second, Breaker: wrap.BreakerOptions{Failures: 1000}}, 5*time.Second)
	return h
}

const (
	ordersPath = "/v1/namespaces/prod%1Fshared/tables/orders"
	listPath   = "/v1/namespaces/prod%1Fshared/tables"
	commitBody = `{"requirements":[],"updates":[{"action":"set-properties","updates":{"a":"b"}}]}`
)

// do makes a client's call, reads a bounded answer, and says how far the heap
// grew meanwhile.
func (h *hostile) do(t testing.TB, method, path, body string) (status int, header http.Header, answer string, grown int64) {
	t.Helper()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		var top int64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				peak <- top
				return
			case <-tick.C:
				var now runtime.MemStats
				runtime.ReadMemStats(&now)
				top = max(top, int64(now.HeapInuse)-int64(before.HeapInuse))
			}
		}
	}()
	req, err := http.NewRequest(method, h.front+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+callerSecret)
	req.Header.Set("Cookie", "session="+callerSecret)
	req.Header.Set("X-Iceberg-Access-Delegation", "vended-credentials,remote-signing")
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatalf("the server itself is gone: %v", err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	close(stop)
	grown = <-peak
	if err != nil {
		t.Fatalf("the answer broke off: %v", err)
	}
	return resp.StatusCode, resp.Header, string(got), grown
}

// unharmed checks what holds after every attack.
func (h *hostile) unharmed(t testing.TB, header http.Header, answer string, grown int64) {
	t.Helper()
	if n := h.away.connections.Load(); n != 0 {
		t.Errorf("%d connections went elsewhere", n)
	}
	if grown > hostileHeap {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, leak := range h.leaks {
		t.Error(leak)
	}
	all := answer
	for name, values := range header {
		all += name + strings.Join(values, "")
	}
	for _, bad := range []string{mountSecret, callerSecret, "remote-cookie", "X-Evil", h.away.url} {
		if strings.Contains(all, bad) {
			t.Errorf("the client was told %q: %.300s", bad, all)
		}
	}
}

func text(body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}
}

// endless writes head and then block until the client leaves or a gigabyte is out.
func endless(w io.Writer, head, block string) {
	many := []byte(strings.Repeat(block, 1+(64<<10)/len(block)))
	if _, err := io.WriteString(w, head); err != nil {
		return
	}
	for sent := 0; sent < 1<<30; sent += len(many) {
		if _, err := w.Write(many); err != nil {
			return
		}
	}
}

func loaded(members string) string {
	return `{"metadata-location":"s3://partner/t/metadata/0.metadata.json","metadata":{"format-version":2,"location":"s3://partner/t"}` + members + `}`
}

// TestEndlessAnswersCostABoundedAmount is everything that is too large, too deep,
// too many or too slow, on loads, listings and commits.
func TestEndlessAnswersCostABoundedAmount(t *testing.T) {
	slow := func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"metadata-location":"s3://b/m","metadata":{"x":"`)
		for {
			select {
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
			if _, err := io.WriteString(w, "x"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
	bomb := func(head, block string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
			if err != nil {
				panic(err)
			}
			endless(z, head, block)
		}
	}
	for name, c := range map[string]struct {
		path   string
		answer func(http.ResponseWriter, *http.Request)
		status []int
	}{
		"endless body": {ordersPath, func(w http.ResponseWriter, _ *http.Request) {
			endless(w, `{"metadata-location":"s3://b/m","metadata":{"x":"`, "x")
		}, []int{502}},
		"endless body of an error": {ordersPath, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			endless(w, `{"error":{"message":"`, "x")
		}, []int{502}},
		"endless blanks": {ordersPath, func(w http.ResponseWriter, _ *http.Request) { endless(w, ``, " ") }, []int{502}},
		"promised terabyte": {ordersPath, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1099511627776")
			io.WriteString(w, "{")
		}, []int{502}},
		"gzip bomb":            {ordersPath, bomb(`{"metadata-location":"s3://b/m","metadata":{"x":"`, "x"), []int{502}},
		"gzip bomb of a page":  {listPath, bomb(`{"identifiers":[`, `{"namespace":["shared"],"name":"a"},`), []int{502}},
		"ten million entries":  {listPath, func(w http.ResponseWriter, _ *http.Request) { endless(w, `{"identifiers":[`, `{"name":"a"},`) }, []int{502}},
		"many tiny entries":    {listPath, text(`{"identifiers":[` + strings.Repeat(`{"name":"a"},`, 50_000) + `{"name":"b"}]}`), []int{200, 504}},
		"ten thousand deep":    {ordersPath, text(`{"metadata-location":"s3://b/m","metadata":{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`), []int{200, 502}},
		"a million deep":       {ordersPath, text(`{"metadata-location":"s3://b/m","metadata":{"a":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}}`), []int{502}},
		"a million deep, open": {ordersPath, text(strings.Repeat(`{"a":`, 1_000_000)), []int{502}},
		"deep in a listing":    {listPath, text(`{"identifiers":[` + strings.Repeat(`[`, 1_000_000)), []int{502}},
		"deep in an error": {ordersPath, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			io.WriteString(w, `{"error":`+strings.Repeat("[", 60_000))
		}, []int{502}},
		"huge config map": {ordersPath, func(w http.ResponseWriter, _ *http.Request) {
			var b bytes.Buffer
			for i := range 200_000 {
				fmt.Fprintf(&b, `"s3.x%d":"y",`, i)
			}
			io.WriteString(w, loaded(`,"config":{`+b.String()+`"z":"z"}`))
		}, []int{200, 502}},
		"huge credential list": {ordersPath, text(loaded(`,"storage-credentials":[` + strings.Repeat(`{"prefix":"s3://partner/t","config":{}},`, 100_000) + `{"prefix":"x","config":{}}]`)), []int{200, 502}},
		"many members":         {ordersPath, text(loaded(`,` + strings.TrimSuffix(strings.Repeat(`"x":1,`, 500_000), ","))), []int{200, 502}},
		"slow loris":           {ordersPath, slow, []int{504}},
		"slow loris of a page": {listPath, slow, []int{504}},
		"huge headers": {ordersPath, func(w http.ResponseWriter, _ *http.Request) {
			for i := range 4000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 1000))
			}
			io.WriteString(w, loaded(""))
		}, []int{200, 502}},
	} {
		t.Run(name, func(t *testing.T) {
			h := attacked(t, attack{answer: c.answer})
			status, header, answer, grown := h.do(t, "GET", c.path, "")
			if !contains(c.status, status) {
				t.Errorf("status %d, want one of %v: %.200s", status, c.status, answer)
			}
			h.unharmed(t, header, answer, grown)
			if c.path != ordersPath {
				return
			}
			status, header, answer, grown = h.do(t, "POST", ordersPath, commitBody)
			if status != 200 && status != 502 && status != 504 || status != 200 && !strings.Contains(answer, "CommitStateUnknownException") {
				t.Errorf("a commit: status %d: %.200s", status, answer)
			}
			h.unharmed(t, header, answer, grown)
		})
	}
}

func contains(list []int, n int) bool {
	for _, m := range list {
		if m == n {
			return true
		}
	}
	return false
}

// TestPagingWithoutEndEnds: a listing that is asked for whole has an end, whatever
// tokens the remote hands out.
func TestPagingWithoutEndEnds(t *testing.T) {
	var n atomic.Int64
	for name, token := range map[string]func() string{
		"the same token": func() string { return "same" },
		"two in turn":    func() string { return fmt.Sprint(n.Add(1) % 2) },
		"always another": func() string { return fmt.Sprint(n.Add(1)) },
		"endless token":  func() string { return strings.Repeat("x", 1<<20) },
	} {
		for _, rows := range []string{``, `{"namespace":["shared"],"name":"a"}`} {
			h := attacked(t, attack{answer: func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, `{"identifiers":[%s],"next-page-token":%q}`, rows, token())
			}})
			status, header, answer, grown := h.do(t, "GET", listPath, "")
			if status != 502 && status != 504 && status != 400 {
				t.Errorf("%s, rows %q: status %d: %.200s", name, rows, status, answer)
			}
			h.unharmed(t, header, answer, grown)
			// A client that pages gets one page, and a token of bounded length.
			status, header, answer, grown = h.do(t, "GET", listPath+"?pageToken=&pageSize=10", "")
			if len(answer) > 64<<10 || status == 500 {
				t.Errorf("%s, rows %q, paged: status %d, %d bytes", name, rows, status, len(answer))
			}
			h.unharmed(t, header, answer, grown)
		}
	}
}
