// Package jobstest lays real tables out in a local folder, for tests of what
// becomes of their files: data files, delete files, manifests and manifest lists
// as engines write them, with real Avro and little in it.
//
//	l := jobstest.New(t, "file:///…/table")
//	l.Append(jobstest.Snapshot{Manifests: 10, Files: 100})
//	file := l.Finish(nil)               // the metadata file of a table that no catalog knows
//	all := jobstest.Tree(t, folder)     // every file below a folder
//
// It is for tests only, and holds none of the code under test.
//
// Layer: imports nothing of ours.
package jobstest
