package rest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/icefield/icefield/mounts"
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
	// smallAnswer is what an answer may hold without waiting for room: as many large
	// answers as there is memory for, on their way to slow clients, would otherwise
	// keep every mount from its settings, its health checks and its listings.
	smallAnswer = 64 << 10
	// maxSettings bounds /v1/config; one with every endpoint there is has 4 KiB.
	maxSettings = 4 << 20
)

// reader reads whole answers. It keeps buffers and inflaters for the next one;
// what it returns is the caller's, and counted in memory until the client that
// the call is made for has its answer. The zero reader is ready and counts
// nothing.
type reader struct {
	memory           *mounts.Memory
	scratch, inflate sync.Pool
}

// keptBuffer is the largest buffer that is kept.
const keptBuffer = 1 << 20

// read reads a whole answer of at most limit bytes, counted both as sent and as
// inflated. waits: unless it is small it may wait for room in memory, and fail with
// Unavailable; the answer to a change is read whatever it costs.
func (r *reader) read(ctx context.Context, resp *http.Response, limit int64, waits bool) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, errTooLarge
	}
	if r.memory == nil {
		return r.whole(resp, limit, func(int) error { return nil })
	}
	claim := r.memory.Claim()
	counted := 0
	body, err := r.whole(resp, limit, func(n int) error {
		if counted += n; waits && counted > smallAnswer {
			return claim.Grow(ctx, int64(n))
		}
		claim.Take(int64(n))
		return nil
	})
	if err != nil {
		claim.Release()
		return nil, err
	}
	mounts.CallerFrom(ctx).Scope.OnEnd(claim.Release)
	return body, nil
}

// noRoom is the error of an answer that memory had no room for, nil for any other.
// The remote did answer, so nobody may take it for unreachable.
func noRoom(err error) error {
	var e *mounts.Error
	if !errors.As(err, &e) {
		return nil
	}
	full := *e
	full.Answered = true
	return &full
}

// whole reads an answer. room is asked before memory is used.
func (r *reader) whole(resp *http.Response, limit int64, room func(n int) error) ([]byte, error) {
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		if n := resp.ContentLength; n >= 0 {
			return sized(resp.Body, int(n), room)
		}
		return r.unsized(&bounded{r: resp.Body, left: limit}, room)
	case "gzip", "x-gzip":
		z, err := r.inflater(&bounded{r: resp.Body, left: limit})
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		defer r.inflate.Put(z)
		return r.unsized(&bounded{r: z, left: limit}, room)
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

// sized reads exactly n bytes. A remote that promises many must send a part of
// them before the rest is allocated.
func sized(from io.Reader, n int, room func(n int) error) ([]byte, error) {
	var body []byte
	for have := 0; ; have = len(body) {
		size := min(n, max(firstBuffer, 4*have))
		if err := room(size - have); err != nil {
			return nil, err
		}
		larger := make([]byte, size)
		copy(larger, body)
		body = larger
		if _, err := io.ReadFull(from, body[have:]); err != nil {
			if err == io.EOF && n > 0 {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if size == n {
			return body, nil
		}
	}
}

// unsized reads to the end through a kept buffer, so that a body of unknown
// length costs one allocation of its own size.
func (r *reader) unsized(from io.Reader, room func(n int) error) ([]byte, error) {
	kept, ok := r.scratch.Get().(*[]byte)
	if !ok {
		kept = new([]byte)
		*kept = make([]byte, 0, 32<<10)
	}
	buf := (*kept)[:0]
	counted := 0
	for {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		// A kept buffer is larger than a small answer needs.
		end := cap(buf)
		if len(buf) < smallAnswer {
			end = min(end, smallAnswer)
		}
		if missing := end - counted; missing > 0 {
			if err := room(missing); err != nil {
				return nil, err
			}
			counted = end
		}
		n, err := from.Read(buf[len(buf):end])
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
