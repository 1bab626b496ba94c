//go:build !peers

package faults

const commits = 1_000
