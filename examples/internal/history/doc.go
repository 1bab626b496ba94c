// Package history runs many clients against a catalog that is killed, restarted
// and cut off meanwhile, records what each of them asked and was told, and checks
// that all of it fits one order: that the catalog behaved like one copy that
// applies one change after the other (linearizability, checked with porcupine),
// however many replicas serve it and however often they died.
//
//	load := history.Start(t, history.Config{Servers: []string{url}, Writers: 16})
//	for range 50 {
//		load.Await(t, 40) // changes that came to an end
//		server.Kill()
//		server.Restart(t)
//		load.Up()
//	}
//	load.Stop()
//	load.Verify(t)
//
// The clients append snapshots to tables of their own and to shared ones, to two
// tables in one transaction, and create and drop namespaces with a table in them.
// Half of the appends carry an Idempotency-Key and are sent again, to any replica,
// until they have an answer; of the others whose answer was lost the end of the
// run tells whether they were made.
//
// It is test support for the packages below examples and is not part of the
// server.
package history
