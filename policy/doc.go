// Package policy decides who may do what with which object, and who is handed
// access to storage. It holds the words of that (principal, resource, action,
// decision, restriction), and the guard: a Backend that lets pass what an
// Authorizer permits.
//
//	ring, err := pagination.NewKeyring(secret, map[string][]byte{policy.GuardSource: nil})
//	guard := policy.NewGuard(tree, policy.GuardOptions{
//		Catalog: "icefield", Places: policy.InTree(table), Authorizer: rules, Trail: log, Ring: ring,
//	})
//	ctx = policy.WithPrincipal(ctx, alice, client)
//	loaded, err := guard.LoadTable(ctx, request) // or NoSuchTable, whether it is there or not
//
// A mount as a catalog of its own has a guard with InMount; both speak of the
// same resources, so that policies hold wherever an object is asked for.
//
// What is not decided here is refused: an operation without a row in the table of
// rules (rules.go), a request of a type that is not known, a decision that failed,
// a caller without a principal or, but for operators, without a tenant. Operators
// pass before any policy.
//
// # What a denial looks like
//
//   - A denied load, or existence check, is word for word the absence of that
//     object, and nothing is asked of the catalog.
//   - Anything else that is denied is Forbidden if the caller may know that the
//     object is there (Exists), and otherwise that absence too. What is to be made
//     has no existence of its own: then it is the namespace that it goes into.
//   - Of a rename both sides count, of a transaction every table. A side that may
//     not be seen is absent, whatever the others are.
//   - A listing shows the rows that may be seen, on full pages. A denied listing of
//     a namespace that may be seen is empty; the root of the tree is never denied.
//
// Policies speak of names, not of what is there: so the answers tell what somebody
// may do, and nothing of what exists. In the catalog underneath, where a top-level
// namespace belongs to the tenant that made it, one that is not there and one that
// is another's are answered alike and cost the same question. Whether a name is
// taken shows when something is made under it, as it must.
//
// Whatever a call asks of the policies is answered by one set of them, that of the
// moment when it came (Changing).
//
// # Listings
//
// Rows are decided in batches, one for each page that is asked of the catalog, or
// not at all where all are decided alike. A page is filled up, and a token given
// out only if a row follows that may be seen. It is sealed, and as long as it has to
// be for the longest name wherever rows are hidden, so that nothing of them shows:
// what else shows is the size of a remote catalog's tokens, where they are longer
// than about 1.5 KiB. The work for one
// page is bounded (list.go): where a bound is reached the page is handed out as it
// is, even empty, with a token. Whoever serves pages to clients that take an empty
// one for the end goes on by itself. A token leads behind a row; if that row is
// gone meanwhile, the page that it was on starts again.
//
// # Storage and restrictions
//
// Access to storage is given if it is asked for, by a caller who may load the
// table: for writing if loadCredentials (write) and commitTable are permitted,
// else for reading if loadCredentials is. Whatever an answer holds beyond that is
// taken out. A mount that relays wider credentials than that gives none, and may
// still sign, since each request to sign is decided by its method.
//
// A read that policies restrict (Restrictions) carries the restriction in the
// spec's member read-restrictions, with the ids of columns, conjoined with what a
// remote catalog put there: rows that both let through, of each column the
// stricter mask. One that does not fit the table refuses the load. Such a caller is
// given no credentials, signatures or plans, unless it is permitted vendRestricted,
// and no entity tag; it cannot rename the table, have it forgotten or overwritten,
// or change its columns. Two things are outside of this. A view is not restricted:
// engines load the tables behind it, as the same caller. And a metadata file can be
// registered under another name by whoever may register tables and knows where it
// is: permit registerTable only to those who may read the whole warehouse.
//
// # Audit
//
// A change is on the Trail as permitted before it is made, and credentials and
// signatures as issued before they leave: if the trail says that it cannot hold
// that, neither happens, and the answer is 503. What came of it follows. A read
// and a denial are one event each.
//
// The rules are Cedar's (policy/cedar), who calls is found out in policy/authn,
// what was decided is written down by policy/audit, storage credentials are made
// by policy/vend and storage requests signed by policy/sign, and policy/quota
// bounds how often anybody may ask.
//
// Layer: above mounts, beside the backends, below router.
package policy
