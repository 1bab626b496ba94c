// Package cork lets an answer leave in one write. The HTTP server of the standard
// library writes an answer's header with the first 4 KiB of its body, and then
// the rest: two system calls, two packets at least, and a client that wakes up
// for the first and finds the second missing.
//
//	server := &http.Server{Handler: h, ConnContext: cork.Context}
//	err := server.Serve(cork.Listener(listener))
//
//	conn := cork.From(r.Context()) // in the handler
//	conn.Cork()
//	w.WriteHeader(http.StatusOK)
//	w.Write(body)
//	conn.Uncork()
//
// It is not a buffer for whole answers: it holds back one small write, until the
// next one comes or the cork is pulled. Without Cork a connection is as it was.
//
// Layer: below router; it knows nothing of catalogs.
package cork
