// Package postgres keeps a registry in a PostgreSQL database, for any number of processes.
package postgres
