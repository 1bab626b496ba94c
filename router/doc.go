// Package router is the HTTP surface of the server: it reads requests of the
// Iceberg REST catalog protocol, asks a mounts.Backend, and writes answers and
// errors as the protocol has them. It serves the tree at /v1/… and every mount,
// as a catalog of its own, at /v1/{prefix}/…, and the server's own routes
// /health, /ready, /metrics, /v1/oauth/tokens and, below /admin/v1, mounts, jobs,
// commits, policy and audit.
//
//	handler := router.New(router.Config{
//		Tree:          router.Catalog{Name: "icefield", Backend: guard},
//		Views:         []router.Catalog{{Name: "prod", Prefix: "prod", Backend: view, Visible: view.Visible}},
//		Authenticator: logins, Limits: limits, Inspect: guard.MayInspect, Trail: audit,
//	})
//	http.Serve(listener, handler)
//
// A request passes, in this order: recovery from panics, request id, body cap,
// access log, the client's rate, authentication, the tenant's rate; only then its
// path and body are read. So whoever is turned away has cost nothing but that,
// and has learnt nothing: not what is there, nor what is wrong with the request.
//
// It does not know mounts, remotes or storage, and decides nothing that a
// backend could: it never opens metadata, and federation, policy and limits are
// Backends around Backends. It asks others who calls, and which catalogs and
// which of the server's own routes are for that caller. Routes are the rows of
// capabilities.Operations; kinds of errors become statuses in one table
// (errors.go).
//
// # Where it differs from the REST spec, and what the spec leaves open
//
//   - An operation that the responsible mount does not have is a 501
//     UnsupportedOperationException, not a 406.
//   - /v1/config of the tree lists what every mount has that the caller may see;
//     more works, request by request, on the mounts that have it.
//   - With authentication everything needs a caller but /health, /ready and
//     /v1/oauth/tokens, unknown routes and catalogs included. Every 401 is the
//     same, whatever is wrong, a malformed or doubled credential included, which
//     without authentication is a 400; it says WWW-Authenticate: Bearer. 419 is not
//     used. An Authorization of another scheme is a failed login, unless a key or
//     token is sent beside it.
//   - A 401 or 429 to a request with a body closes the connection (HTTP/1.1): the
//     body is not waited for. Over the rate of a client or tenant, and after too
//     many failed logins, it is a 429 with Retry-After.
//   - A catalog that the caller may not see is absent, by its prefix and as a
//     warehouse: the 404 names those that may be seen.
//   - With authentication every answer that does not say otherwise is no-store:
//     caches know nothing of API keys and client certificates.
//   - A page token that is not the catalog's own for this listing starts the
//     listing again instead of being a 400.
//   - Without pageToken a listing is answered whole, whatever pageSize says; one
//     of more than a million rows is a 400 that asks for pages. pageSize is cut
//     to 1000. A client sees no empty page but the last one.
//   - A load of a table or view in a namespace that does not exist is a
//     NoSuchTableException or NoSuchViewException.
//   - A name in a path that cannot be one (empty, a control character, longer
//     than 1024 bytes, more than 64 levels) is, to a read, an absence like any
//     other; to a change it is a 400 unless it is merely empty. In a body it is
//     always a 400.
//   - `+` in a path segment is a blank from Java clients, and a plus from all
//     others. PyIceberg's `parent` parameter is decoded once more, as it is
//     encoded twice; if that is no namespace it is taken as it is.
//   - Slashes too many in front of or behind /v1 and the prefix, a slash at the
//     end and a second /v1 are overlooked without a redirect.
//   - Every error, of unknown routes, wrong methods and panics too, has the
//     spec's error body with code equal to the status, and HEAD answers have no
//     body. Types that the spec does not name: NoSuchRouteException (404),
//     MethodNotAllowedException (405), ContentTooLargeException (413),
//     TooManyRequestsException (429), BadGatewayException (502),
//     GatewayTimeoutException (504), LoopDetectedException (508). Messages of
//     5xx answers end with the request id.
//   - A commit whose outcome is unknown is a 500, 502 or 504
//     CommitStateUnknownException, never a 503; other changes keep their type.
//   - A change goes on when its client leaves, and beyond a deadline that its
//     client was told of.
//   - An Idempotency-Key counts on everything that changes the catalog, views
//     included. It is any UUID of 36 characters, of whatever version; another
//     shape, or two of them, is a 400, also where the mount does not honour keys.
//     Reads, scan plans and metrics reports ignore it. The key stands for one
//     principal, operation, catalog (a mount by the tree and by its own prefix
//     are two), object, purgeRequested and body, byte by byte once decompressed;
//     under another request it is a 422 and nothing is done. A request whose
//     predecessor is still being worked on waits for it, and in the end is a 503
//     with Retry-After, never a 409. Successes, 400s, 404s, 409s and 422s that a
//     mount gave are given again; what this package refuses, 401, 403, 429 and
//     5xx are not remembered. /v1/config has idempotency-key-lifetime where all
//     mounts of that catalog that can change something honour keys: the shortest.
//   - An object that names a field twice, anything behind the JSON value, nesting
//     over 1000 levels and null as a property's value are 400s. Null in an
//     optional field counts as absent. Fields that are not known here go on to a
//     remote catalog, at most 64 of them in one object (more are a 400), and
//     nobody else looks at them. Unknown parameters and headers are ignored, and
//     so is the identifier in the body of a commit whose path names the table.
//     Missing lists of requirements or updates count as empty.
//   - A metrics report that cannot be delivered is a 204 nevertheless, since an
//     engine can do nothing about it. One for an absent table is a 404.
//   - A staged table's answer has no metadata-location. `config` is always there;
//     `storage-credentials` only with something in it.
//   - The ETag of an answer is the same with and without gzip: it identifies the
//     representation of the table, which clients compare.
//   - referenced-by that cannot be read is ignored.
//   - Storage credentials are renewed, and storage requests signed, at this
//     server's own routes, named by relative paths under the client's prefix and
//     names. A route to renew at is named only where Java's clients can use it:
//     one credential a store, with its expiry.
//   - /v1/aws/s3/sign, the sign route of old clients that names no table, serves
//     the tables of mounts that find them by location. It is signRequest, and is
//     not advertised. What lies in no table that the caller may know of is a 403
//     ForbiddenException, be there a table or not.
//   - Plan ids and plan tasks of remote catalogs are sealed: one that is not of
//     this table and mount is a NoSuchPlanIdException or NoSuchPlanTaskException.
//   - /v1/oauth/tokens, deprecated, is there for old clients where the server has
//     logins that it can serve, behind any prefix; its errors are those of OAuth
//     2.0, but for a body over 64 KiB (413) and rates (429). Without such logins it
//     is an unknown route. /v1/aws/s3/sign and it are found behind a base URL that
//     ends in a prefix too.
//   - /ready answers 200 to everybody, failed logins and clients over their rate
//     included, and says more only to who may inspect the server; /health names
//     the server and its version only without authentication.
//   - /admin/v1 shows mounts to those who may inspect them, as if the others were
//     not there (a 404 for one that is asked for by name), and the server itself to
//     operators; everybody else gets a 403. /metrics needs the action readMetrics.
//   - What net/http refuses before any handler sees it (a request line or header
//     that is no HTTP, headers over its limit) is net/http's own plain 400 or 431.
//
// Layer: above every backend, below cmd; it imports router/middleware.
package router
