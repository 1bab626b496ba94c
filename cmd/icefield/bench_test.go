package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
)

// The benchmarks of one request over loopback, through everything that a
// request passes in `icefield serve`. Ratios between them, in one run, are what
// counts: the client and the remote run in the same process and cost the same
// in each.
//
//	go test ./cmd/icefield -run '^$' -bench Request -benchtime 2s -count 5

const benchmarkMetadata = 20 << 10

// line is a client that costs next to nothing: one connection, a request that
// was written out before, and of the answer only the length is read.
type line struct {
	conn    net.Conn
	answers *bufio.Reader
	request []byte
	status  string
}

func dial(b *testing.B, base, path, status string, headers ...string) *line {
	b.Helper()
	u, err := url.Parse(base)
	if err != nil {
		b.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		b.Fatal(err)
	}
	text := "GET " + path + " HTTP/1.1\r\nHost: " + u.Host + "\r\n" + strings.Join(append(headers, "\r\n"), "\r\n")
	text = strings.Replace(text, "\r\n\r\n\r\n", "\r\n\r\n", 1)
	return &line{conn: conn, answers: bufio.NewReaderSize(conn, 64<<10), request: []byte(text), status: status}
}

// ask sends the request, reads the answer to its end and returns its length.
func (l *line) ask() (int, error) {
	if _, err := l.conn.Write(l.request); err != nil {
		return 0, err
	}
	length, chunked := 0, false
	for first := true; ; first = false {
		header, err := l.answers.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		text := strings.TrimRight(string(header), "\r\n")
		if first && !strings.Contains(text, l.status) {
			return 0, fmt.Errorf("answered %q, not %s", text, l.status)
		}
		if text == "" {
			break
		}
		if value, is := strings.CutPrefix(strings.ToLower(text), "content-length: "); is {
			if length, err = strconv.Atoi(value); err != nil {
				return 0, err
			}
		}
		chunked = chunked || strings.EqualFold(text, "transfer-encoding: chunked")
	}
	if !chunked {
		return l.answers.Discard(length)
	}
	body, err := io.Copy(io.Discard, httputil.NewChunkedReader(l.answers))
	if err == nil {
		_, err = l.answers.ReadSlice('\n') // what ends the trailer
	}
	return int(body), err
}

// request measures requests, on one connection for each goroutine.
func request(b *testing.B, base, path, status string, least int, headers ...string) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		l := dial(b, base, path, status, headers...)
		defer l.conn.Close()
		for pb.Next() {
			if n, err := l.ask(); err != nil || n < least {
				b.Errorf("%s: %d bytes, %v", path, n, err)
				return
			}
		}
	})
}

// benchServer serves a mount table over loopback and returns its URL.
func benchServer(b *testing.B, table string) string {
	b.Helper()
	cfg, report := config.Parse("bench.hcl", []byte(table), config.Options{})
	if report.HasErrors() {
		var text strings.Builder
		_ = report.WriteText(&text)
		b.Fatal(text.String())
	}
	c, err := openCatalogs(context.Background(), cfg, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.close(); err != nil {
			b.Error(err)
		}
	})
	front := httptest.NewServer(c)
	b.Cleanup(front.Close)
	return front.URL
}

func nativeMount(b *testing.B, name string) string {
	dir := b.TempDir()
	return fmt.Sprintf("mount %q {\n backend = \"native\"\n owner = \"acme\"\n catalog_url = \"bolt://%s/c.db\"\n warehouse_location = \"file://%s/w\"\n}\n", name, dir, dir)
}

// tableAnswer is a remote's answer to loadTable.
func tableAnswer() []byte {
	return fmt.Appendf(nil, `{"metadata-location":"s3://sample-bucket/warehouse/shop/orders/metadata/00001-a.metadata.json","metadata":%s,"config":{"s3.region":"eu-central-1"}}`,
		mounttest.Metadata(benchmarkMetadata))
}

func answerWith(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}
}

// benchRemote is the least that a remote catalog can cost.
func benchRemote(b *testing.B) string {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/config", answerWith([]byte(`{"defaults":{},"overrides":{}}`)))
	mux.HandleFunc("GET /v1/namespaces/shop/tables/orders", answerWith(tableAnswer()))
	remote := httptest.NewServer(mux)
	b.Cleanup(remote.Close)
	return remote.URL
}

func post(b *testing.B, address string, body any) map[string]any {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.Post(address, "application/json", strings.NewReader(string(text)))
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("POST %s: %d %v %v", address, resp.StatusCode, answer, err)
	}
	return answer
}

// nativeTable makes a table whose metadata has about the benchmark's size.
func nativeTable(b *testing.B, front string) {
	post(b, front+"/v1/namespaces", map[string]any{"namespace": []string{"prod", "shop"}})
	post(b, front+"/v1/namespaces/prod%1Fshop/tables", map[string]any{"name": "orders",
		"schema":     map[string]any{"type": "struct", "fields": []any{map[string]any{"id": 1, "name": "id", "type": "long", "required": false}}},
		"properties": map[string]string{"comment": strings.Repeat("x", benchmarkMetadata-1<<10)}})
}

func BenchmarkRequestBareHandler(b *testing.B) {
	server := httptest.NewServer(answerWith(tableAnswer()))
	b.Cleanup(server.Close)
	request(b, server.URL, "/", "200", benchmarkMetadata)
}

func BenchmarkRequestNativeLoadTableWarm(b *testing.B) {
	front := benchServer(b, nativeMount(b, "prod"))
	nativeTable(b, front)
	request(b, front, "/v1/namespaces/prod%1Fshop/tables/orders", "200", benchmarkMetadata-1<<10)
}

func BenchmarkRequestNativeLoadTableNotModified(b *testing.B) {
	front := benchServer(b, nativeMount(b, "prod"))
	nativeTable(b, front)
	resp, err := http.Get(front + "/v1/namespaces/prod%1Fshop/tables/orders")
	if err != nil {
		b.Fatal(err)
	}
	resp.Body.Close()
	request(b, front, "/v1/namespaces/prod%1Fshop/tables/orders", "304", 0, "If-None-Match: "+resp.Header.Get("ETag"))
}

// BenchmarkRequestNativeLoadTableCold reads the metadata file each time.
func BenchmarkRequestNativeLoadTableCold(b *testing.B) {
	front := benchServer(b, strings.Replace(nativeMount(b, "prod"), "{\n", "{\n metadata_cache = \"0\"\n", 1))
	nativeTable(b, front)
	request(b, front, "/v1/namespaces/prod%1Fshop/tables/orders", "200", benchmarkMetadata-1<<10)
}

// BenchmarkRequestListHundredOf lists a page of 100 tables from the middle of a
// namespace.
func BenchmarkRequestListHundredOf(b *testing.B) {
	for _, tables := range []int{1_000, 1_000_000} {
		b.Run(strconv.Itoa(tables), func(b *testing.B) {
			mount := nativeMount(b, "prod")
			_, path, _ := strings.Cut(mount, "bolt://")
			path, _, _ = strings.Cut(path, `"`)
			fillTables(b, path, tables)
			front := benchServer(b, mount)
			token, listing := "", front+"/v1/namespaces/prod%1Fbig/tables?pageSize=100&pageToken="
			for range 5 {
				resp, err := http.Get(listing + url.QueryEscape(token))
				if err != nil {
					b.Fatal(err)
				}
				var page struct {
					Next string `json:"next-page-token"`
				}
				err = json.NewDecoder(resp.Body).Decode(&page)
				resp.Body.Close()
				if err != nil || page.Next == "" {
					b.Fatal(resp.Status, err)
				}
				token = page.Next
			}
			request(b, front, strings.TrimPrefix(listing, front)+url.QueryEscape(token), "200", 100*len(`{"namespace":["prod","big"],"name":"t000000"}`))
		})
	}
}

// fillTables makes a registry file with tables in the namespace "big".
func fillTables(b *testing.B, path string, tables int) {
	b.Helper()
	ctx := context.Background()
	s, err := bolt.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	space := mounts.Namespace{"big"}
	migration := store.Fence{Role: store.FenceDestination, Migration: uuid.New(), Since: time.Now()}
	if err := s.SetFence(ctx, nil, &migration); err != nil {
		b.Fatal(err)
	}
	entries := []store.Entry{{Namespace: &store.Namespace{Path: space, ID: uuid.New()}}}
	for i := range tables {
		entries = append(entries, store.Entry{Object: &store.Object{Namespace: space, Name: fmt.Sprintf("t%06d", i), Kind: store.Table, ID: uuid.New(),
			Location: fmt.Sprintf("file:///warehouse/big/t%06d/metadata/00000-%s.metadata.json", i, uuid.New()), Generation: 1}})
		if len(entries) == 10_000 || i == tables-1 {
			if err := s.Import(ctx, migration.Migration, entries); err != nil {
				b.Fatal(err)
			}
			entries = entries[:0]
		}
	}
	if err := errors.Join(s.SetFence(ctx, &migration, nil), s.Close()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRequestProxiedLoadTable(b *testing.B) {
	front := benchServer(b, fmt.Sprintf("mount \"partner\" {\n backend = \"rest\"\n owner = \"acme\"\n catalog_url = %q\n}\n", benchRemote(b)))
	request(b, front, "/v1/namespaces/partner%1Fshop/tables/orders", "200", benchmarkMetadata)
}

func BenchmarkRequestReverseProxy(b *testing.B) {
	remote, err := url.Parse(benchRemote(b))
	if err != nil {
		b.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(remote)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	proxy.Transport = transport
	front := httptest.NewServer(proxy)
	b.Cleanup(front.Close)
	request(b, front.URL, "/v1/namespaces/shop/tables/orders", "200", benchmarkMetadata)
}

func BenchmarkRequestListRootOverTenMounts(b *testing.B) {
	var table strings.Builder
	for i := range 9 {
		table.WriteString(nativeMount(b, fmt.Sprintf("mount%d", i)))
	}
	table.WriteString(strings.Replace(nativeMount(b, "/"), "{\n", "{\n name = \"root\"\n", 1))
	front := benchServer(b, table.String())
	for i := range 20 {
		post(b, front+"/v1/namespaces", map[string]any{"namespace": []string{fmt.Sprintf("below%d", i)}})
	}
	request(b, front, "/v1/namespaces", "200", 20*len(`["below1"]`))
}
