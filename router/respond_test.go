package router

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// loads answers loadTable with metadata of a size, and 304 to its own tag.
func loads(size int) (string, mounts.Backend) {
	metadata := json.RawMessage(`{"format-version":2,"x":"` + strings.Repeat("0123456789abcdef", size/16) + `"}`)
	_, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		if load, ok := req.(*mounts.LoadTableRequest); ok && load.IfNoneMatch == `"e1"` {
			return &mounts.Table{NotModified: true, ETag: `"e1"`}, nil
		}
		return &mounts.Table{MetadataLocation: "s3://b/m.json", Metadata: metadata, ETag: `"e1"`, Config: map[string]string{"k": "v"}}, nil
	})
	return `{"metadata-location":"s3://b/m.json","metadata":` + string(metadata) + `,"config":{"k":"v"}}`, b
}

func TestAnswersArriveWholeAtEverySizeWithAndWithoutGzip(t *testing.T) {
	for _, size := range []int{gzipFrom, 20 << 10, spliceUpTo - 100, spliceUpTo + 1, 3 << 20} {
		want, b := loads(size)
		w := over(t, b)
		g := w.do("GET", "/v1/namespaces/a/tables/t", "")
		if g.body != want || g.header.Get("Content-Length") != fmt.Sprint(len(want)) || g.header.Get("Content-Encoding") != "" {
			t.Errorf("%d: plain: %d bytes of %d, %v", size, len(g.body), len(want), g.header)
		}
		for range 2 { // the second time with a used writer
			g = w.do("GET", "/v1/namespaces/a/tables/t", "", "Accept-Encoding: br, gzip;q=0.5")
			length := g.header.Get("Content-Length") // of a large one, zipped on its way out, nobody knows it
			if len(want) <= spliceUpTo && length == "" || length != "" && length != fmt.Sprint(len(g.body)) {
				t.Errorf("%d: the length is %q of %d", size, length, len(g.body))
			}
			if g.header.Get("Content-Encoding") != "gzip" || g.header.Get("Vary") != "Accept-Encoding" {
				t.Fatalf("%d: not zipped: %v", size, g.header)
			}
			z, err := gzip.NewReader(strings.NewReader(g.body))
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(z); err != nil || string(text) != want {
				t.Errorf("%d: zipped: %d bytes of %d, %v", size, len(text), len(want), err)
			}
		}
		g = w.do("GET", "/v1/namespaces/a/tables/t", "", "Accept-Encoding: gzip", `If-None-Match: "e1"`)
		if g.status != 304 || g.body != "" || g.header.Get("Etag") != `"e1"` || g.header.Get("Content-Encoding") != "" {
			t.Errorf("%d: %d %q %v", size, g.status, g.body, g.header)
		}
	}
}

func TestSmallAnswersAndThoseOfWhoDoesNotAskAreNotZipped(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "identity": false, "br": false, "gzip": true, "GZIP": true, "x-gzip": true, "*": true, "gzip;q=0": false, "gzip; q=0.0": false,
		"*;q=0": false, "*, gzip;q=0": false, "deflate, gzip;q=1.0": true,
	} {
		if got := acceptsGzip([]string{header}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	w := over(t, failing(&mounts.Error{Kind: mounts.NoSuchTable}))
	if g := w.do("GET", "/v1/namespaces/a/tables/t", "", "Accept-Encoding: gzip"); g.header.Get("Content-Encoding") != "" {
		t.Error("a small answer is zipped")
	}
}

// Java clients look the header up with the case of the letters, and an answer
// to HEAD, a 204 and a 304 end with their headers.
func TestHeadersAreSpelledAndBodilessAnswersEndAsTheyMust(t *testing.T) {
	_, b := loads(100)
	w := over(t, b)
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	// one connection: a stray byte of a body would end up in the next status line
	for _, c := range []struct{ request, status string }{
		{"HEAD /v1/namespaces/a/tables/t HTTP/1.1\r\n", "HTTP/1.1 204 No Content"},
		{"HEAD /v1/namespaces/a/nope HTTP/1.1\r\n", "HTTP/1.1 404 Not Found"},
		{"HEAD /v1/config HTTP/1.1\r\n", "HTTP/1.1 405 Method Not Allowed"},
		{"HEAD /health HTTP/1.1\r\n", "HTTP/1.1 200 OK"},
		{"GET /v1/namespaces/a/tables/t HTTP/1.1\r\nIf-None-Match: \"e1\"\r\n", "HTTP/1.1 304 Not Modified"},
		{"DELETE /v1/namespaces/a HTTP/1.1\r\n", "HTTP/1.1 204 No Content"},
		{"GET /v1/namespaces/a/tables/t HTTP/1.1\r\n", "HTTP/1.1 200 OK"},
	} {
		if _, err := io.WriteString(conn, c.request+"Host: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		lines := readHead(t, in)
		if lines[0] != c.status {
			t.Fatalf("%s: %q", c.request, lines)
		}
		joined := strings.Join(lines, "\n")
		if strings.Contains(c.request, "If-None-Match") || c.status == "HTTP/1.1 200 OK" && strings.Contains(c.request, "tables/t") {
			if !strings.Contains(joined, "\nETag: \"e1\"") {
				t.Errorf("%s: no ETag spelled so: %s", c.request, joined)
			}
		}
		if strings.Contains(c.status, "204") && strings.Contains(joined, "Content-Length") {
			t.Errorf("%s: %s", c.request, joined)
		}
	}
}

func readHead(t *testing.T, in *bufio.Reader) []string {
	t.Helper()
	var lines []string
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line == "" {
			return lines
		}
		lines = append(lines, line)
	}
}

// An existence check works where the catalog behind has none.
func TestTableExistsFallsBackOnALoadWithoutAskingForAccess(t *testing.T) {
	s, b := scripted(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		if _, ok := req.(*mounts.TableExistsRequest); ok {
			return nil, mounts.NotSupported(req)
		}
		if req.Object().Name == "t" {
			return sample(req.Op()), nil
		}
		return nil, &mounts.Error{Kind: mounts.NoSuchTable}
	})
	w := over(t, b)
	w.do(http.MethodHead, "/v1/namespaces/a/tables/t", "", "X-Iceberg-Access-Delegation: vended-credentials").want(t, 204, "")
	if load, ok := s.last().(*mounts.LoadTableRequest); !ok || load.Delegation != "" {
		t.Errorf("asked %#v", s.last())
	}
	w.do(http.MethodHead, "/v1/namespaces/a/tables/u", "").want(t, 404, "")
}

// An error that is no absence stays one for HEAD: a client that is told "not
// there" creates a second one.
func TestHeadKeepsTheStatusOfAnError(t *testing.T) {
	for kind, status := range map[mounts.Kind]int{mounts.Forbidden: 403, mounts.BadGateway: 502, mounts.Timeout: 504, mounts.Unavailable: 503, mounts.Internal: 500} {
		w := over(t, failing(&mounts.Error{Kind: kind}))
		for _, path := range []string{"/v1/namespaces/a", "/v1/namespaces/a/tables/t", "/v1/namespaces/a/views/v"} {
			w.do("HEAD", path, "").want(t, status, "")
		}
	}
}
