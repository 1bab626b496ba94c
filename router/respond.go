package router

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/icefield/icefield/router/cork"
	"github.com/icefield/icefield/router/middleware"
)

const (
	// gzipFrom is the smallest body worth compressing: a smaller one fits into
	// one packet as it is.
	gzipFrom = 1400
	// spliceUpTo is the largest body that is put together in one buffer, so that
	// it leaves in one go; in a larger one copying costs more than a write.
	spliceUpTo = 256 << 10
	// keepUpTo is the largest buffer that goes back into the pool.
	keepUpTo = 1 << 20
)

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// buffers keeps the memory that answers are put together in.
type buffers struct {
	plain sync.Pool // *[]byte
	gzip  sync.Pool // *compressor
}

type compressor struct {
	out    bytes.Buffer
	writer *gzip.Writer
}

func (p *buffers) get() *[]byte {
	if b, ok := p.plain.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, 0, 4<<10)
	return &b
}

func (p *buffers) put(b *[]byte) {
	if cap(*b) <= keepUpTo {
		*b = (*b)[:0]
		p.plain.Put(b)
	}
}

func (p *buffers) compressor() *compressor {
	if c, ok := p.gzip.Get().(*compressor); ok {
		c.out.Reset()
		c.writer.Reset(&c.out)
		return c
	}
	c := &compressor{}
	c.writer, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed) // the level is a valid one
	return c
}

func (p *buffers) release(c *compressor) {
	c.writer.Reset(io.Discard) // holds on to no connection
	if c.out.Cap() <= keepUpTo {
		p.gzip.Put(c)
	}
}

// body is an answer's body: head, middle and tail in a row. The middle is
// another's memory (a table's metadata) and is only read.
type body struct{ head, middle, tail []byte }

func (b body) len() int { return len(b.head) + len(b.middle) + len(b.tail) }

// write sends an answer whose headers are set but for the length and encoding.
// The caller has claimed w. A HEAD answer has no body.
func (p *buffers) write(w http.ResponseWriter, r *http.Request, status int, b body) {
	h := w.Header()
	if b.len() == 0 || r.Method == http.MethodHead {
		h.Del("Content-Type")
		w.WriteHeader(status)
		return
	}
	if len(h["Content-Type"]) == 0 {
		h["Content-Type"] = []string{"application/json"}
	}
	if b.len() >= gzipFrom {
		h["Vary"] = []string{"Accept-Encoding"}
		if acceptsGzip(r.Header["Accept-Encoding"]) {
			p.writeGzip(w, r, status, b)
			return
		}
	}
	h["Content-Length"] = []string{strconv.Itoa(b.len())}
	conn := cork.From(r.Context())
	conn.Cork()
	defer conn.Uncork()
	w.WriteHeader(status)
	switch {
	case len(b.middle)+len(b.tail) == 0:
		_, _ = w.Write(b.head)
	case b.len() <= spliceUpTo:
		whole := p.get()
		*whole = append(append(append(*whole, b.head...), b.middle...), b.tail...)
		_, _ = w.Write(*whole)
		p.put(whole)
	default:
		for _, part := range [...][]byte{b.head, b.middle, b.tail} {
			if _, err := w.Write(part); err != nil {
				return // the client left; the access log has how far it got
			}
		}
	}
}

// writeGzip zips an answer: into memory while it is small, so that it leaves in
// one go and with its length; a large one on its way out, so that it is not held
// twice.
func (p *buffers) writeGzip(w http.ResponseWriter, r *http.Request, status int, b body) {
	c := p.compressor()
	defer p.release(c)
	w.Header()["Content-Encoding"] = []string{"gzip"}
	if b.len() > spliceUpTo {
		c.writer.Reset(w)
		w.WriteHeader(status)
		if c.zip(b) == nil {
			_ = c.writer.Close()
		}
		return
	}
	_ = c.zip(b) // into memory
	_ = c.writer.Close()
	w.Header()["Content-Length"] = []string{strconv.Itoa(c.out.Len())}
	conn := cork.From(r.Context())
	conn.Cork()
	defer conn.Uncork()
	w.WriteHeader(status)
	_, _ = w.Write(c.out.Bytes())
}

func (c *compressor) zip(b body) error {
	for _, part := range [...][]byte{b.head, b.middle, b.tail} {
		if _, err := c.writer.Write(part); err != nil {
			return err // the client left
		}
	}
	return nil
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3): gzip must be
// named, or stand under `*`, with a weight that is not zero.
func acceptsGzip(lines []string) bool {
	star := false
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			coding, params, _ := strings.Cut(item, ";")
			coding = strings.TrimSpace(coding)
			ok := !zeroWeight(params)
			switch {
			case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
				return ok
			case coding == "*":
				star = ok
			}
		}
	}
	return star
}

func zeroWeight(params string) bool {
	name, value, ok := strings.Cut(strings.TrimSpace(params), "=")
	if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
		return false
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err == nil && q <= 0
}

// claim claims the answer on w, which is then the caller's alone to write.
func claim(w http.ResponseWriter) bool { return middleware.Claim(w) }
