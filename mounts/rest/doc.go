// Package rest is the backend over somebody else's Iceberg REST catalog.
//
//	mount "partner" {
//	  backend     = "rest"
//	  catalog_url = "https://catalog.partner.example/api/catalog"
//	  warehouse   = "sales"
//	  owner       = "acme"
//	  auth "oauth2" {
//	    token_url         = "https://idp.partner.example/token"
//	    client_id         = "icefield"
//	    client_secret_env = "PARTNER_SECRET"
//	  }
//	}
//
// Open asks the remote's /v1/config for its prefix, namespace separator, moved
// address and endpoint list; from then on each catalog call is one HTTP call.
// Only reads of namespaces, tables and views are forwarded: every write answers
// UnsupportedOperation.
//
// Metadata is opaque: it is found in the answer by a scan of the top-level
// members and passed on byte for byte. What would lead an engine around this
// server is taken out: credentials, addresses and anything else in a table's
// config that is not on the list of harmless storage hints (hints.go), the
// remote's page tokens and the remote's own words about absences (errors.go).
//
// A remote is taken to be hostile or broken: redirects are never followed,
// answers are bounded in size before and after decompression, in time, in
// nesting (the JSON scanner stops at 10,000 levels) and in rows, and whatever is
// not the protocol is an error of kind BadGateway, never an absence. The
// caller's own credentials, cookies and headers are never forwarded, but for the
// request id, the trace context and the list of servers that the call came
// through, by which loops are noticed.
//
// It does not retry, cache, limit or break circuits: package wrap does, around
// any backend. The one call that is sent twice is one that the remote refused
// with 401 or 419 and for which there is a renewed token.
//
// Layer: above mounts, beside the other backends.
package rest
