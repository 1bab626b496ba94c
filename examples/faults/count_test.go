//go:build !peers

package faults

import "time"

const commits = 1_000

const (
	rounds    = 1
	quiet     = 2 * time.Second
	trouble   = 7 * time.Second
	patients  = 50
	sufferers = 150
	pulse     = 25    // requests a second to it
	measured  = false // times mean nothing here: other packages' tests are running

	rewrites = 20
	perSec   = 50
)
