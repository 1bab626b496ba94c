// Package faults is one Icefield in front of remote catalogs that fail in every way that networks and servers can, and
// whose mount table changes while it is used.
//
//	go test ./examples/faults               # the short forms, in half a minute
//	go test -tags peers ./examples/faults   # the long ones, in some minutes, with what is measured
//
// commits_test.go, with faults.hcl: thousands of commits go to a remote over a network that cuts, delays and half-closes
// connections. None is sent twice, and none is reported as what it was not.
//
// isolation_test.go, with isolation.hcl: hundreds of clients use a mount whose remote hangs and one whose remote fails half
// of its calls, by errors and by resets. The mount beside them answers as fast as when it is alone; the server holds a
// bounded number of goroutines and of bytes; nobody is told that something is absent; and when the remotes are well again
// so are the mounts, by themselves. The healthy mount's load comes at a fixed rate, and its answers are timed from when
// they were due. Its remote takes 20 ms for each, so what is compared is what a client of a catalog some way off sees, and
// 1.2 times of it is 4 ms.
//
// reload_test.go, with reload.hcl, tables_test.go and remains_test.go: clients load, list page by page and commit, while mounts come and go,
// lead to other remotes and get other logins and limits, and each fourth mount table has a mistake in it. No request
// fails to a mount that stays, no walk through a listing starts anew, and nothing is left of what a mount held.
//
// The package holds tests only.
package faults
