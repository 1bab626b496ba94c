//go:build peers

package embedded

import (
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
)

// As with the life cycle: what the script asserts is the protocol.
func TestViewsScriptHoldsForIcebergsOwnServer(t *testing.T) {
	t.Setenv("LENIENT", "1")
	ends(t, peers.NewPython(t).Run(t, "views.py", peers.StartJavaServer(t).URL), "views: all steps passed")
}

func TestPyIcebergViews(t *testing.T) {
	python := peers.NewPython(t)
	_, address := start(t)
	ends(t, python.Run(t, "views.py", address), "views: all steps passed")
	ends(t, python.Run(t, "views.py", address, "root"), "views: all steps passed") // as the mount's own catalog
}
