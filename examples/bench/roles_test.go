//go:build peers

package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/mounts/mounttest"
)

// The remote, the bare handler and the reverse proxy are this test binary again,
// as processes of their own.
const (
	roleEnv   = "BENCH_ROLE"
	listenEnv = "BENCH_LISTEN"
	remoteEnv = "BENCH_REMOTE"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleEnv) {
	case "remote":
		serve(newRemote())
	case "proxy":
		serve(reverseProxy(os.Getenv(remoteEnv)))
	default:
		os.Exit(launch.Main(m))
	}
}

func serve(h http.Handler) {
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Getenv(listenEnv), h))
	os.Exit(1)
}

func reverseProxy(to string) http.Handler {
	u, err := url.Parse(to)
	if err != nil {
		panic(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 0, 256
	transport.DisableCompression = true
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: transport}
}

// The remote's namespaces.
const (
	tagged   = "tagged"   // 20 KiB, with tags
	untagged = "untagged" // 20 KiB, without
	large    = "large"    // 1 MiB, with tags
	read     = "read"     // 1 MiB, with tags, taken apart for each load
)

// remote is a catalog that answers loads from memory.
type remote struct {
	calls, whole atomic.Int64
	small, big   string   // metadata
	bodies       sync.Map // path -> []byte
}

func newRemote() http.Handler {
	r, mux := &remote{small: string(mounttest.Metadata(20 << 10)), big: bigMetadata()}, http.NewServeMux()
	mux.HandleFunc("GET /v1/config", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"defaults":{},"overrides":{}}`))
	})
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%d %d", r.calls.Load(), r.whole.Load())
	})
	mux.HandleFunc("GET /v1/namespaces", r.counted(`{"namespaces":[["tagged"]]}`))
	mux.HandleFunc("GET /v1/namespaces/{namespace}/tables", r.counted(`{"identifiers":[{"namespace":["tagged"],"name":"t0"}]}`))
	mux.HandleFunc("HEAD /v1/namespaces/{namespace}/tables/{table}", func(w http.ResponseWriter, _ *http.Request) {
		r.calls.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /v1/namespaces/{namespace}/tables/{table}", r.load)
	return mux
}

func (r *remote) counted(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		r.calls.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}
}

func (r *remote) load(w http.ResponseWriter, req *http.Request) {
	r.calls.Add(1)
	namespace, table := req.PathValue("namespace"), req.PathValue("table")
	h := w.Header()
	if namespace != untagged {
		tag := `"` + namespace + "-" + table + `-1"`
		h["ETag"] = []string{tag}
		h["X-Accel-Expires"] = []string{"@1"} // for nginx: to be confirmed each time
		if req.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	r.whole.Add(1)
	text := r.body(namespace, table)
	if namespace == read {
		var parts map[string]any
		if json.Unmarshal(text, &parts) == nil {
			text, _ = json.Marshal(parts)
		}
	}
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(text))}
	_, _ = w.Write(text)
}

func (r *remote) body(namespace, table string) []byte {
	if known, ok := r.bodies.Load(namespace + "/" + table); ok {
		return known.([]byte)
	}
	metadata := r.small
	if namespace == large || namespace == read {
		metadata = r.big
	}
	// Each table's metadata is its own, and of the same size.
	metadata = strings.Replace(metadata, "9c12d441", fmt.Sprintf("%08x", hash(table)), 1)
	text := []byte(fmt.Sprintf(`{"metadata-location":"s3://bucket/%s/%s/metadata/1.json","metadata":%s,"config":{"s3.region":"eu-central-1"}}`, namespace, table, metadata))
	known, _ := r.bodies.LoadOrStore(namespace+"/"+table, text)
	return known.([]byte)
}

// bigMetadata is metadata of a little more than 1 MiB: the snapshots of a smaller
// document, often.
func bigMetadata() string {
	var doc map[string]json.RawMessage
	var snapshots []json.RawMessage
	if json.Unmarshal(mounttest.Metadata(64<<10), &doc) != nil || json.Unmarshal(doc["snapshots"], &snapshots) != nil || len(snapshots) == 0 {
		panic("the sample metadata has no snapshots")
	}
	all := snapshots
	for size := 0; size < 1<<20; size += len(doc["snapshots"]) {
		all = append(all, snapshots...)
	}
	doc["snapshots"], _ = json.Marshal(all)
	text, _ := json.Marshal(doc)
	return string(text)
}

func hash(s string) int {
	n := 0
	for _, c := range s {
		n = n*31 + int(c)
	}
	return n & 0xffffff
}
