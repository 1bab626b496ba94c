// Package seaweed is a lake whose files nobody holds keys to: SeaweedFS is both the store and, behind an Icefield, the
// catalog, and hands out credentials that are good for one table and for minutes. Icefield, which alone has a login, passes
// them on to those who ask.
//
// seaweed.hcl mounts the same catalog three times: with the credentials relayed, with them withheld, and with a fence that
// the tables lie outside of. The tests run it with the real binary in front of a real SeaweedFS: PyIceberg and DuckDB, which
// know no key, write and read; credentials are renewed through Icefield; the store refuses them for another table's files;
// and what must not leave (the mount's own login everywhere, every key of the store where they are withheld) is hunted
// for in all that came back and in all that was logged.
//
//	go test -tags peers -v ./examples/seaweed
//
// The package holds tests only.
package seaweed
