// Package pgtest runs a throw-away PostgreSQL for tests: a cluster of its own in a
// temporary folder, on a loopback port, with durable writes, which is gone when
// the tests are, also when they are killed.
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }
//
//	func TestSomething(t *testing.T) {
//		url := pgtest.Shared(t).NewDatabase(t) // postgres://…, with a password
//	}
//
// A test that stops or restarts the database starts one of its own:
//
//	cluster := pgtest.Start(t)
//	cluster.Restart(t)
//
// It needs the server's programs (initdb, postgres) on the PATH or where Debian
// and the PostgreSQL project install them. The server refuses to run as root:
// where the tests do, it runs as the user postgres or nobody. A cluster that
// cannot be started fails the test; nothing is skipped. The package is behind the
// build tag "peers", so that "go test ./..." needs nothing but Go.
//
// Layer: test support, imported by tests only.
package pgtest
