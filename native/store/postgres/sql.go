package postgres

import (
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// reading is one question in its three forms: in a View, where the answer tells
// first whether the registry is fenced off; in an Update, where what was read
// stays as it is until the end; and in a careful Update, where what was read is
// going to be written.
//
// A listing in an Update locks its table first: what it did not find must not
// come while the Update runs. Only rare operations list there.
type reading struct{ view, update, careful, lock statement }

// statements are the texts for one schema. Every table is named with it, since a
// session behind a pooler has no search path of ours.
type statements struct {
	begin, beginView, commit, rollback           statement
	setup, exclusive, fence, setFence, dropFence statement

	namespace, children, owners                 reading
	insertNamespace, putNamespace               statement
	holdNamespace, seizeNamespace               statement
	deleteNamespace, occupied                   statement
	object, names, holders, commits             reading
	insertObject, swapObject, moveObject        statement
	deleteObject, insertCommit                  statement
	receipt                                     reading
	deleteExpired, insertReceipt, pruneReceipts statement
	job, dueJob, jobs                           reading
	insertJob, putJob, pruneJobs                statement
	mark, pruneMarks, marked, logged            statement
	waitFor, terminate                          statement
	counts, clear, insertRoot                   statement
	plain                                       statement
	namespacesFrom, objectsIn, objectsFrom      statement
	commitsFrom, receiptsFrom, jobsFrom         statement
	importNamespace, importObject, importCommit statement
	importReceipt, importJob                    statement
}

const (
	namespaceColumns = "id, owner, property_names, property_values, created, updated"
	objectColumns    = "kind, id, location, previous, generation, created, updated"
	commitColumns    = "generation, from_location, to_location, time, principal, request, idempotency_key"
	receiptColumns   = "fingerprint, outcome, created, expires"
	jobColumns       = "id, kind, object, namespace, name, object_kind, location, state, progress, attempts, last_error, lease, leased_until, " +
		"not_before, created, updated, time, principal, request, idempotency_key"
)

func newStatements(schema string) *statements {
	tables := strings.NewReplacer("{", pgx.Identifier{schema}.Sanitize()+".", "}", "")
	st := func(text string) statement { return newStatement(tables.Replace(text)) }
	// A single statement sees one state, also of the fence.
	viewed := func(text string) statement {
		return st("SELECT f.role, q.* FROM (SELECT (SELECT role FROM {fence} WHERE role <> 1) AS role) f LEFT JOIN LATERAL (" + text + ") q ON true")
	}
	read := func(text, lock, carefulLock string) reading {
		return reading{view: viewed(text), update: st(text + lock), careful: st(text + carefulLock)}
	}
	list := func(table, text string) reading {
		r := read(text, "", "")
		r.lock = st("LOCK TABLE " + table + " IN SHARE ROW EXCLUSIVE MODE")
		return r
	}
	row := func(text string) reading { return read(text, " FOR UPDATE", " FOR UPDATE") }
	return &statements{
		begin:     st("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"),
		beginView: st("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
		commit:    st("COMMIT"),
		rollback:  st("ROLLBACK"),
		// Settings of the transaction, not of the session, which a pooler may give
		// to others. The two locks are of the fence and of this transaction.
		setup: st("SELECT set_config('statement_timeout', convert_from($1, 'UTF8'), true), set_config('lock_timeout', convert_from($2, 'UTF8'), true), " +
			"set_config('idle_in_transaction_session_timeout', convert_from($3, 'UTF8'), true), " +
			"pg_advisory_xact_lock_shared($4::bigint), pg_advisory_xact_lock($5::bigint)"),
		exclusive: st("SELECT set_config('statement_timeout', convert_from($1, 'UTF8'), true), set_config('lock_timeout', convert_from($2, 'UTF8'), true), " +
			"set_config('idle_in_transaction_session_timeout', convert_from($3, 'UTF8'), true), pg_advisory_xact_lock($4::bigint)"),
		fence:     st("SELECT role, migration, peer, since FROM {fence}"),
		dropFence: st("DELETE FROM {fence}"),
		setFence:  st("INSERT INTO {fence} (role, migration, peer, since) VALUES ($1, $2, $3, $4)"),

		namespace:       read("SELECT "+namespaceColumns+" FROM {namespaces} WHERE key = $1", " FOR SHARE", " FOR UPDATE"),
		children:        list("{namespaces}", "SELECT name FROM {namespaces} WHERE parent = $1 AND name >= $2 AND (name > $2 OR name = '') ORDER BY name LIMIT $3::bigint"),
		owners:          read("SELECT name, owner FROM {namespaces} WHERE key = ANY ($1::bytea[])", " FOR SHARE", " FOR SHARE"),
		insertNamespace: st("INSERT INTO {namespaces} (key, path, parent, name, " + namespaceColumns + ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
		putNamespace:    st("UPDATE {namespaces} SET id = $2, owner = $3, property_names = $4, property_values = $5, created = $6, updated = $7 WHERE key = $1"),
		holdNamespace:   st("SELECT 1 FROM {namespaces} WHERE key = $1 FOR NO KEY UPDATE NOWAIT"),
		seizeNamespace:  st("SELECT 1 FROM {namespaces} WHERE key = $1 FOR UPDATE NOWAIT"),
		deleteNamespace: st("DELETE FROM {namespaces} WHERE key = $1"),
		// The order makes it a seek, also where one namespace holds nearly everything.
		occupied: st("SELECT (SELECT name FROM {namespaces} WHERE parent = $1 ORDER BY name LIMIT 1) IS NOT NULL " +
			"OR (SELECT name FROM {objects} WHERE namespace = $1 ORDER BY name LIMIT 1) IS NOT NULL"),
		object: row("SELECT " + objectColumns + " FROM {objects} WHERE namespace = $1 AND name = $2"),
		names:  list("{objects}", "SELECT name FROM {objects} WHERE namespace = $1 AND kind = $2 AND name >= $3 AND (name > $3 OR name = '') ORDER BY name LIMIT $4::bigint"),
		holders: list("{objects}", "SELECT n.path, o.name, "+qualified("o", objectColumns)+" FROM {objects} o JOIN {namespaces} n ON n.key = o.namespace "+
			"WHERE ((o.folder >= $1 AND o.folder < $2) OR o.folder = $3) AND substring(o.location, 1, $4::bigint::int) = $5 ORDER BY o.location, o.id LIMIT $6::bigint"),
		insertObject: st("INSERT INTO {objects} (namespace, name, " + objectColumns + ", folder) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"),
		swapObject:   st("UPDATE {objects} SET location = $3, previous = $4, generation = $5, updated = $6, folder = $7 WHERE namespace = $1 AND name = $2"),
		moveObject:   st("UPDATE {objects} SET namespace = $3, name = $4, updated = $5 WHERE namespace = $1 AND name = $2"),
		deleteObject: st("DELETE FROM {objects} WHERE namespace = $1 AND name = $2"),

		commits:      list("{commits}", "SELECT "+commitColumns+" FROM {commits} WHERE object = $1 AND generation > $2 ORDER BY generation LIMIT $3::bigint"),
		insertCommit: st("INSERT INTO {commits} (object, " + commitColumns + ", transaction) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"),

		receipt:       row("SELECT " + receiptColumns + " FROM {receipts} WHERE key = $1"),
		deleteExpired: st("DELETE FROM {receipts} WHERE key = $1 AND expires <= $2"),
		insertReceipt: st("INSERT INTO {receipts} (key, " + receiptColumns + ") VALUES ($1, $2, $3, $4, $5)"),
		pruneReceipts: st("DELETE FROM {receipts} WHERE key = ANY (ARRAY(SELECT key FROM {receipts} WHERE expires <= $1 ORDER BY expires LIMIT $2::bigint FOR UPDATE SKIP LOCKED))"),

		job: row("SELECT " + jobColumns + " FROM {jobs} WHERE id = $1"),
		dueJob: read("SELECT "+jobColumns+" FROM {jobs} WHERE state < 3 AND not_before <= $1 AND (lease = '' OR leased_until <= $1) ORDER BY id LIMIT 1",
			" FOR UPDATE SKIP LOCKED", " FOR UPDATE SKIP LOCKED"),
		jobs:      list("{jobs}", "SELECT "+jobColumns+" FROM {jobs} WHERE id < $1 ORDER BY id DESC LIMIT $2::bigint"),
		insertJob: st("INSERT INTO {jobs} (" + jobColumns + ") VALUES (" + places(20) + ")"),
		putJob:    st("UPDATE {jobs} SET (" + jobColumns + ") = (" + places(20) + ") WHERE id = $1"),
		pruneJobs: st("DELETE FROM {jobs} WHERE id = ANY (ARRAY(SELECT id FROM {jobs} WHERE state >= 3 AND updated < $1 ORDER BY updated LIMIT $2::bigint FOR UPDATE SKIP LOCKED))"),

		mark:       st("INSERT INTO {outcomes} (transaction, time) VALUES ($1, $2)"),
		pruneMarks: st("DELETE FROM {outcomes} WHERE time < $1"),
		marked:     st("SELECT 1 FROM {outcomes} WHERE transaction = $1"),
		logged:     st("SELECT 1 FROM {commits} WHERE object = $1 AND generation = $2 AND transaction = $3"),
		waitFor:    st("SELECT pg_advisory_xact_lock($1::bigint)"),
		terminate: st("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) " +
			"AND ((classid::bigint << 32) | objid::bigint) = $1::bigint AND objsubid = 1 AND granted AND pid <> pg_backend_pid()"),

		counts: st("SELECT (SELECT count(*) FROM {namespaces} WHERE parent IS NOT NULL), (SELECT count(*) FROM {objects}), (SELECT count(*) FROM {commits}), " +
			"(SELECT count(*) FROM {receipts}), (SELECT count(*) FROM {jobs})"),
		clear: st("TRUNCATE {namespaces}, {objects}, {commits}, {receipts}, {jobs}, {outcomes}"),
		insertRoot: st("INSERT INTO {namespaces} (key, path, name, id, owner, property_names, property_values, created, updated) " +
			"VALUES ($1, $2, '', $3, '', $4, $4, 0, 0) ON CONFLICT DO NOTHING"),

		// A compiler of plans takes longer than a page.
		plain: st("SELECT set_config('jit', 'off', true)"),
		namespacesFrom: st("SELECT path, " + namespaceColumns + " FROM {namespaces} WHERE substring(path, 1, 1024) >= substring($1::bytea, 1, 1024) AND path > $1 " +
			"ORDER BY substring(path, 1, 1024), path LIMIT $2::bigint"),
		// The rest of one namespace, then those of the ones that follow.
		objectsIn: st("SELECT n.path, o.name, " + qualified("o", objectColumns) + " FROM {objects} o JOIN {namespaces} n ON n.key = o.namespace " +
			"WHERE o.namespace = $1 AND o.name > $2 ORDER BY o.name LIMIT $3::bigint"),
		objectsFrom: st("SELECT n.path, o.name, " + qualified("o", objectColumns) + " FROM {namespaces} n CROSS JOIN LATERAL " +
			"(SELECT name, " + objectColumns + " FROM {objects} WHERE namespace = n.key ORDER BY name LIMIT $2::bigint) o " +
			"WHERE substring(n.path, 1, 1024) >= substring($1::bytea, 1, 1024) AND n.path > $1 ORDER BY substring(n.path, 1, 1024), n.path, o.name LIMIT $2::bigint"),
		commitsFrom:  st("SELECT object, " + commitColumns + " FROM {commits} WHERE (object, generation) > ($1, $2) ORDER BY object, generation LIMIT $3::bigint"),
		receiptsFrom: st("SELECT key, " + receiptColumns + " FROM {receipts} WHERE key > $1 ORDER BY key LIMIT $2::bigint"),
		jobsFrom:     st("SELECT " + jobColumns + " FROM {jobs} WHERE id >= $1 AND (id > $1 OR $2::bigint = 0) ORDER BY id LIMIT $3::bigint"),

		importNamespace: st("INSERT INTO {namespaces} (key, path, parent, name, " + namespaceColumns + ") VALUES (" + places(10) + ") ON CONFLICT (key) DO UPDATE SET " +
			over("path, parent, name, "+namespaceColumns)),
		importObject: st("INSERT INTO {objects} (namespace, name, " + objectColumns + ", folder) VALUES (" + places(10) + ") ON CONFLICT (namespace, name) DO UPDATE SET " +
			over(objectColumns+", folder")),
		importCommit: st("INSERT INTO {commits} (object, " + commitColumns + ", transaction) VALUES (" + places(9) + ") ON CONFLICT (object, generation) DO UPDATE SET " +
			over("from_location, to_location, time, principal, request, idempotency_key, transaction")),
		importReceipt: st("INSERT INTO {receipts} (key, " + receiptColumns + ") VALUES (" + places(5) + ") ON CONFLICT (key) DO UPDATE SET " + over(receiptColumns)),
		importJob:     st("INSERT INTO {jobs} (" + jobColumns + ") VALUES (" + places(20) + ") ON CONFLICT (id) DO UPDATE SET " + over(jobColumns)),
	}
}

// qualified puts a table's name before each column of a list.
func qualified(table, columns string) string {
	return table + "." + strings.ReplaceAll(columns, ", ", ", "+table+".")
}

// over sets each column of a list to what could not be inserted.
func over(columns string) string {
	var sets []string
	for _, column := range strings.Split(columns, ", ") {
		sets = append(sets, column+" = excluded."+column)
	}
	return strings.Join(sets, ", ")
}

// places is $1 to $n.
func places(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "$" + strconv.Itoa(i+1)
	}
	return strings.Join(list, ", ")
}
