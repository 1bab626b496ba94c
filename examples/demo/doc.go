// Package demo takes what "icefield demo" prints for a person to paste, and pastes it: the PyIceberg lines into Python and
// the DuckDB lines into DuckDB, as they are, and checks the rows that come back.
//
// The package holds tests only, all behind the build tag "peers".
package demo
