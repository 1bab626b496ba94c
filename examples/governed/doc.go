// Package governed is a lake of two companies under rules: who may read, who may write, and who is handed keys of the store.
//
// governed.hcl has logins of an OpenID issuer and API keys, the built-in policies of admin, writer and reader, two policies
// of one company's own (a table for one person; rows of one country with masked columns) and one of the server's, an audit
// trail without which nothing is done, and four mounts on SeaweedFS: keys for one table at a time, requests signed one by
// one, keys that end within a minute, and the other company's. The tests run it with the real binary, an OpenID provider
// that others wrote, and clients that have no key of the store: PyIceberg, PySpark and DuckDB. They show
//
//   - what vended keys open, for a reader and for a writer, and that they end and are renewed;
//   - tables written and read by remote signing alone, by the table's own route and by the one that old clients know, and
//     what is not signed;
//   - every way in: credential, token and token exchange, by form and by HTTP Basic, and that wrong secrets get one answer;
//   - what somebody gets whose reads are restricted, and what an engine gets that is trusted to apply restrictions;
//   - that what was handed out and changed is in the audit trail, and no secret in it or in the log.
//
// Run them with
//
//	go test -tags peers -v ./examples/governed
//
// and the server by hand as governed.hcl says at its top. The package holds tests only.
package governed
