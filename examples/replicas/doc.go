// Package replicas is one catalog that several processes serve on one PostgreSQL database: replicas.hcl. Its tests need
// that database and are behind the build tag "peers". They run two replicas as real processes, kill them, restart the
// database and cut its connections under 16 clients, and check with porcupine that the two were one catalog all the
// time; and they send changes again under their Idempotency-Key, to the other replica too.
//
// The package holds tests only.
package replicas
