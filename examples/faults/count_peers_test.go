//go:build peers

package faults

const commits = 10_000
