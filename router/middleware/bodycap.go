package middleware

import (
	"fmt"
	"net/http"

	"github.com/icefield/icefield/mounts"
)

// BodyCap refuses a request body of more than limit bytes as sent (TooLarge): at
// once when its length is declared, else when reading gets that far, with an
// *http.MaxBytesError.
func BodyCap(fail Fail, limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		if r.ContentLength > limit {
			fail(w, r, TooLarge(limit))
			return
		}
		Cap(w, r, limit)
		next.ServeHTTP(w, r)
	})
}

// Cap makes reading a request's body fail, with an *http.MaxBytesError, behind
// the first limit bytes.
func Cap(w http.ResponseWriter, r *http.Request, limit int64) {
	if recorder, ok := w.(*Recorder); ok {
		w = recorder.ResponseWriter // the server's own, which then closes the connection
	}
	r.Body = http.MaxBytesReader(w, r.Body, limit)
}

// TooLarge is the error of a body over the limit.
func TooLarge(limit int64) *mounts.Error {
	return &mounts.Error{Kind: mounts.TooLarge,
		Msg: fmt.Sprintf("the request body is larger than this server's limit of %d bytes (server.max_body)", limit)}
}
