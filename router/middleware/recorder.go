package middleware

import (
	"net/http"
	"sync/atomic"
)

// Recorder is the response writer of a call. It remembers what was answered,
// and lets exactly one of several would-be writers answer.
type Recorder struct {
	http.ResponseWriter
	status  int
	bytes   int64
	claimed atomic.Bool
}

// Claim reports true to its first caller only: that one may write the answer.
// Handlers that can be overtaken by a deadline claim before they touch headers.
func (r *Recorder) Claim() bool { return r.claimed.CompareAndSwap(false, true) }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(status int) {
	if r.status == 0 || r.status < 200 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (r *Recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the server's own writer.
func (r *Recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// Claim claims the answer on w; true if w is not a Recorder.
func Claim(w http.ResponseWriter) bool {
	if r, ok := w.(*Recorder); ok {
		return r.Claim()
	}
	return true
}
