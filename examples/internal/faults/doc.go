// Package faults stands between icefield and a remote catalog in a test and makes the remote fail on demand: stopped,
// hung, slow, and answering with what no catalog answers. It counts what reaches it, so that a test can prove that an
// open breaker sends nothing, and how many remote calls one client call costs.
//
//	proxy := faults.New(t, "http://127.0.0.1:8181")
//	proxy.Set(faults.Hang)
//
// RequireBearer stands before a catalog without authentication and demands a bearer token.
//
// It is test support for the packages below examples and is not part of the server.
package faults
