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
// The other ways to log in (the functions that return an Auth):
//
//	auth "none" {}                        # the default
//	auth "bearer" {                       # read for every request
//	  token_file = "/run/secrets/partner" # or token_env
//	}
//	auth "oauth2" {                       # client credentials
//	  client_id          = "icefield"     # without token_url: at the remote's own /v1/oauth/tokens
//	  client_secret_file = "/run/secrets/partner"
//	  scope              = "PRINCIPAL_ROLE:ALL"
//	  basic              = true           # id and secret by HTTP Basic
//	}
//	auth "sigv4" {                        # Glue, S3 Tables, API Gateway, S3-compatible stores
//	  service         = "glue"            # signing name
//	  region          = "eu-central-1"
//	  role_arn        = "arn:aws:iam::123456789012:role/lake"
//	  external_id_env = "EXTERNAL_ID"
//	}
//	auth "passthrough" {}                 # the caller's own bearer token
//	auth "exchange" {                     # a token for each caller (RFC 8693)
//	  token_url         = "https://idp.partner.example/token"
//	  client_id         = "icefield"
//	  client_secret_env = "PARTNER_SECRET"
//	  audience          = "catalog"
//	}
//
// With the last two the remote is called in each caller's name: a caller without
// a token that it accepts is Unauthenticated, nothing that one caller was told
// serves another, and this server's own calls go without a login, or with the
// client's own. With all others a login that fails is the mount's fault, not the
// caller's: BadGateway when it was refused, Unavailable when it could not be had,
// and nothing was sent. Secrets are got once for all who wait, renewed ahead of
// their end, and renewed once when the remote refuses them (lease.go); no message
// and no log repeats one, in any spelling (redact.go). A token endpoint that the
// remote names is never used.
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
// Changes are forwarded by a Writable mount, verbatim and once: requirements,
// updates, schemas and members that nobody here knows go out as the bytes they
// came as, names in the remote's way. A change of which a byte was written and
// whose answer is lost or vague has an unknown outcome; one of which none was
// says that nothing was sent (passage.go). A success counts with the statuses
// 200, 201 and 204 if it holds all that the operation answers; otherwise it is an
// unknown outcome too. The client's Idempotency-Key goes along to a remote that
// says it honours them, so that the client may send the change again; nothing
// here does.
//
// Without a route for transactions, one of a single change is sent as that
// table's commit and others are refused. Metrics reports are dropped where the
// remote takes none. The SQL of a view and its default-catalog are passed on as
// they are: names in them that begin with the remote's own name for itself mean
// nothing here.
//
// Metadata is opaque: it is found in the answer by a scan of the top-level
// members and passed on byte for byte. What would lead an engine around this
// server is taken out: addresses, logins and anything else in a table's config
// that is not on the list of harmless storage hints (hints.go) or access to the
// storage that the caller asked for (access.go), the remote's page tokens, and
// the remote's own names in its messages (ours.go).
//
// Access to storage is asked for where the caller asked, unless the mount
// withholds. Credentials leave as storage credentials and in the config, by a
// list of known keys (access_keys.go); a signer's address and the ids of scan
// plans leave sealed for their table (sign.go, seal.go). What cannot be passed on
// is an error, never a success without access: credentials that have expired,
// for a location outside of AllowedLocations or in a warehouse of this server, a
// signer on another host. Behind a create that was made it is an unknown outcome
// instead. A caller who asked gets entity tags that bring no 304 for access.
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
