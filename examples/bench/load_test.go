//go:build peers

package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// target is a server under load: where, and the paths that are asked for in turn.
type target struct {
	name, base string
	paths      []string
}

func tables(name, base, mount, namespace string, n int) target {
	t := target{name: name, base: base}
	for i := range n {
		t.paths = append(t.paths, path(mount, namespace, i))
	}
	return t
}

// line is a client that costs next to nothing: one connection, requests that
// were written out before, and of the answer only the length is read.
type line struct {
	conn     net.Conn
	answers  *bufio.Reader
	requests [][]byte
}

func dial(t target) (*line, error) {
	host := strings.TrimPrefix(t.base, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	l := &line{conn: conn, answers: bufio.NewReaderSize(conn, 64<<10)}
	for _, path := range t.paths {
		l.requests = append(l.requests, []byte("GET "+path+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"))
	}
	return l, nil
}

// ask sends one request, reads the answer to its end and returns its length.
func (l *line) ask(i int) (int, error) {
	if _, err := l.conn.Write(l.requests[i%len(l.requests)]); err != nil {
		return 0, err
	}
	length, chunked := 0, false
	for first := true; ; first = false {
		header, err := l.answers.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		text := strings.TrimRight(string(header), "\r\n")
		if first && !strings.Contains(text, " 200 ") {
			return 0, fmt.Errorf("answered %q", text)
		}
		if text == "" {
			break
		}
		if name, value, ok := strings.Cut(text, ": "); ok && strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(value); err != nil {
				return 0, err
			}
		} else if ok && strings.EqualFold(name, "Transfer-Encoding") {
			chunked = true
		}
	}
	if !chunked {
		return l.answers.Discard(length)
	}
	n, err := io.Copy(io.Discard, httputil.NewChunkedReader(l.answers))
	if err == nil {
		_, err = l.answers.ReadSlice('\n') // what ends the trailer
	}
	return int(n), err
}

// press loads a target from so many clients for so long, and returns the
// requests a second, the median time of one, and how many there were.
func press(b *testing.B, t target, clients int, d time.Duration) (perSecond float64, median time.Duration, n int) {
	b.Helper()
	lines := make([]*line, clients)
	for i := range lines {
		l, err := dial(t)
		if err != nil {
			b.Fatal(err)
		}
		defer l.conn.Close()
		lines[i] = l
	}
	var all sync.WaitGroup
	var stop atomic.Bool
	times := make([][]time.Duration, clients)
	begin := time.Now()
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	for i, l := range lines {
		all.Go(func() {
			for n := i; !stop.Load(); n++ {
				start := time.Now()
				if _, err := l.ask(n); err != nil {
					if !stop.Swap(true) { // one is enough to know
						b.Errorf("%s: %v", t.name, err)
					}
					return
				}
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	all.Wait()
	took := time.Since(begin)
	joined := slices.Concat(times...)
	if len(joined) == 0 {
		b.Fatalf("%s: no answer in %v", t.name, d)
	}
	slices.Sort(joined)
	return float64(len(joined)) / took.Seconds(), joined[len(joined)/2], len(joined)
}

func medianOf(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return values[len(values)/2]
}
