//go:build peers

package faults

import "time"

const commits = 10_000

// The long form: two minutes of trouble for 500 clients in all, and an hundred reloads at 200 requests a second.
const (
	rounds    = 12
	quiet     = 6 * time.Second
	trouble   = 10 * time.Second
	patients  = 100 // clients of the mount that is well
	sufferers = 400 // clients of the others
	pulse     = 100 // requests a second to it
	measured  = true

	rewrites = 100
	perSec   = 200
)
