// Command icefield serves many Iceberg catalogs as one.
//
//	icefield serve                          a complete catalog on 127.0.0.1:8181, in ./icefield-data
//	icefield serve --config icefield.hcl    the catalogs of a mount table, as one
//	icefield check icefield.hcl             what is wrong with a mount table, and what to do about it
//	icefield mounts                         how the mounts of a running server are doing
//	icefield jobs                           what a running server does in the background
//	icefield token                          API keys and what a configuration holds of them
//	icefield migrate --from URL --to URL    a native registry moves into another store
//	icefield policy check icefield.hcl      what is wrong with policies; test and explain say what they decide
//	icefield demo                           two catalogs seen as one, with nothing else installed
//
// Each subcommand is one file. Package config reads the mount table; the files
// drivers.go, wiring.go and server.go make a running server of it, and are the
// only place that knows every kind of backend and every decorator.
//
// What is served is a generation: one mount table come to life (generation.go).
// When the configuration changes, the next one is built beside it from the mounts
// that mean the same and from others that are opened first, and takes over as a
// whole or not at all (catalogs.go, reload.go, watch.go). Requests end on the
// generation that they began with; what it alone held is closed after the last of
// them. A bolt file is handed over open, since nobody can open it twice (stores.go).
//
// Who may do what belongs to a generation too (access.go): logins and audit trail
// are shared by those that mean the same, policies are watched by themselves and
// swapped when a generation takes over. With what the server proves itself is read
// again whenever it changes (tls.go).
//
// It exits with 0 when it did what it was asked, 1 when that failed or was
// refused, and 2 when it was asked in a way that makes no sense. Errors go to
// standard error.
//
// Layer: the highest; it may import everything.
package main
