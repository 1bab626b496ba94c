// Package postgres keeps a registry in a PostgreSQL database, for any number of
// processes at once.
//
//	s, err := postgres.Open(ctx, postgres.Config{
//		URL: "postgres://icefield@db:5432/prod?sslmode=verify-full",
//	})
//
// In a mount table:
//
//	mount "prod" {
//	  backend            = "native"
//	  owner              = "acme"
//	  catalog_url        = "postgres://icefield@db:5432/prod?sslmode=verify-full"
//	  warehouse_location = "s3://prod-bucket/warehouse"
//	}
//
// The password comes from PGPASSWORD, a password file, or with the whole URL from
// a variable: catalog_url = env("PROD_DATABASE_URL").
//
// The URL takes libpq's parameters (sslmode, sslrootcert, passfile,
// target_session_attrs, several hosts …), pgx's for its pool, and one of its own:
//
//	schema                  the schema of the registry; "icefield". Several
//	                        registries can share a database
//	pool_max_conns          connections of one process; 16
//	connect_timeout         seconds; 5
//	default_query_exec_mode "exec": prepare nothing, see below
//
// # Schema
//
// Open makes the schema and brings it up to date, under an advisory lock; one of
// a newer release is refused. Its user needs the right to create the schema, or
// one that an administrator made for it (CREATE SCHEMA icefield AUTHORIZATION
// name). Names and values are bytea: any bytes are legal, and they sort bytewise
// under every collation.
//
// # Transactions
//
// A View that reads once is one statement. One that reads again asks both
// questions in one snapshot, and goes on if the first answer is still the same.
//
// An Update runs in READ COMMITTED. What it reads by name it locks until its end,
// so it stays true; what it adds is unique by a constraint; and a listing locks
// its table against writers. So Updates are serializable for what they read and
// write, with one exception: a name that was found absent, and is not then
// created, may be created by another before the end. Rows are locked in the order
// in which the closure reads them, namespaces FOR SHARE and objects, receipts and
// jobs FOR UPDATE: who changes several objects sorts them first. SERIALIZABLE was
// measured too: it commits as many swaps of different pointers a second, with an
// eighth of 64 writers' transactions run twice, and it could not see a fence that
// came while it waited.
//
// Writes are sent with the next question or with COMMIT. A commit of one table
// costs two round trips: one that begins, locks and reads the pointer, and one
// that writes pointer, log and receipt and commits. Serialization failures,
// deadlocks, and assumptions of the first run that did not hold make the closure
// run again, at most 60 times, with growing pauses.
//
// # Failures
//
// Until COMMIT is sent nothing is done, and a connection that breaks only means
// another run; a database that stays away for Config.Patience, or whose pool is
// used up for Config.Acquire, is store.ErrUnavailable. When the connection breaks
// at COMMIT, the store looks on another one what became of it (see outcome.go);
// only if it cannot find out, in Config.Resolve, is it store.ErrOutcomeUnknown.
// Every statement, every wait for a lock and every idle transaction is bounded in
// the database, by settings of the transaction.
//
// # Poolers and other databases
//
// Nothing is kept in sessions but prepared statements, so PgBouncer may pool
// transactions. Where it does not carry prepared statements along (before 1.21, or
// with max_prepared_statements = 0) the first one that is missing makes the store
// do without, at about twice the cost of a read;
// default_query_exec_mode=exec says so from the start.
//
// CockroachDB and Yugabyte are not tested. The hot path uses no feature that they
// lack but advisory locks, which are of use to the fence of a migration and to the
// search for a lost commit: where they hold nothing, a registry cannot be copied,
// and a commit whose row is not found is of unknown outcome.
//
// Layer: beside the other stores, below native.
package postgres
