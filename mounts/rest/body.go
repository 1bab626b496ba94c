package rest

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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

// readBody reads a whole answer of at most limit bytes, counted both as sent
// and as inflated.
func readBody(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, errTooLarge
	}
	sent := &bounded{r: resp.Body, left: limit}
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		return readAll(sent, resp.ContentLength)
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(sent)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return readAll(&bounded{r: z, left: limit}, 4*resp.ContentLength)
	}
	return nil, errEncoding
}

func readAll(r io.Reader, expected int64) ([]byte, error) {
	if expected < 512 {
		expected = 512
	}
	buf := make([]byte, 0, min(expected, firstBuffer)+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
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
