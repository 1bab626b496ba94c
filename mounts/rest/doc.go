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
// address, endpoint list and key lifetime; from then on each catalog call is one
// HTTP call. The settings are asked for again in the background (renewal.go), and
// at once when answers look as if they were old: a 404 about the route, the
// prefix or the warehouse, or a run of refusals of a route that is advertised. A
// read that met such a sign is made once more if the settings are others by then.
// What the remote offers shows in Capabilities at once.
//
// A Profile says what is unusual about a vendor (profiles.go). Habits that any
// remote may have need none: a missing endpoint list, HEAD that is not there,
// namespaces of one level (depth.go), vendor types of errors (errors.go,
// absence.go, objection.go).
//
// Changes are forwarded by a Writable mount, verbatim and once. A change that was
// sent and whose answer is lost or vague has an unknown outcome.
//
// Metadata is opaque: it is found in the answer by a scan of the top-level
// members and passed on byte for byte. What would lead an engine around this
// server is taken out: addresses, logins and anything else in a table's config
// that is not on the list of harmless storage hints (hints.go) or access to the
// storage that the caller asked for (access.go), the remote's page tokens, and
// the remote's own names in its messages (ours.go).
//
// A remote is taken to be hostile or broken: redirects are never followed,
// answers are bounded in size before and after decompression, in time, in
// nesting (the JSON scanner stops at 10,000 levels) and in rows, and whatever is
// not the protocol is an error of kind BadGateway, never an absence. The
// caller's own credentials (but for Passthrough), cookies and headers are never
// forwarded, but for those of the protocol, the request id, the trace context and
// the list of servers that the call came through, by which loops are noticed.
//
// It does not retry, cache, limit or break circuits: package wrap does, around
// any backend. The calls that are sent twice are one that the remote refused
// with 401 or 419 and for which there is a renewed token, and a read under
// renewed settings.
//
// Probe reads what a catalog says of itself and guesses whose it is.
//
// Layer: above mounts, beside the other backends.
package rest
