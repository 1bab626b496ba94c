//go:build !unix

package warehouse

import "os"

const directoryOnly = 0

// removeEmpty leaves the folder: without a call of the system that removes
// folders only, a file of the same name could be hit.
func removeEmpty(*os.File, string) error { return nil }
