package rest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

var (
	errTooLarge = errors.New("the answer is larger than limit.response allows")
	errEncoding = errors.New("the answer has an encoding that was not asked for")
)

const (
	// maxErrorBody bounds what is read of an answer that is an error.
	maxErrorBody = 64 << 10
	// firstBuffer is the most that is allocated on a remote's word alone.
	firstBuffer = 1 << 20
)

// reader reads whole answers. It keeps buffers and inflaters for the next one;
// what it returns is the caller's. The zero reader is ready.
type reader struct{ scratch, inflate sync.Pool }

// keptBuffer is the largest buffer that is kept.
const keptBuffer = 1 << 20

// read reads a whole answer of at most limit bytes, counted both as sent and as
// inflated.
func (r *reader) read(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, errTooLarge
	}
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		if n := resp.ContentLength; n >= 0 && n <= firstBuffer {
			body := make([]byte, n)
			_, err := io.ReadFull(resp.Body, body)
			return body, err
		}
		return r.all(&bounded{r: resp.Body, left: limit})
	case "gzip", "x-gzip":
		z, err := r.inflater(&bounded{r: resp.Body, left: limit})
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		defer r.inflate.Put(z)
		return r.all(&bounded{r: z, left: limit})
	}
	return nil, errEncoding
}

func (r *reader) inflater(sent io.Reader) (*gzip.Reader, error) {
	z, ok := r.inflate.Get().(*gzip.Reader)
	if !ok {
		return gzip.NewReader(sent)
	}
	if err := z.Reset(sent); err != nil {
		r.inflate.Put(z)
		return nil, err
	}
	return z, nil
}

// all reads to the end through a kept buffer, so that a body of unknown length
// costs one allocation of its own size.
func (r *reader) all(from io.Reader) ([]byte, error) {
	kept, ok := r.scratch.Get().(*[]byte)
	if !ok {
		kept = new([]byte)
		*kept = make([]byte, 0, 32<<10)
	}
	buf := (*kept)[:0]
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := from.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == nil {
			continue
		}
		if err != io.EOF {
			return nil, err
		}
		if cap(buf) > keptBuffer {
			return buf, nil
		}
		body := bytes.Clone(buf)
		*kept = buf
		r.scratch.Put(kept)
		return body, nil
	}
}

// bounded fails with errTooLarge where io.LimitReader would pretend an end.
type bounded struct {
	r    io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n, errTooLarge
	}
	return n, err
}
