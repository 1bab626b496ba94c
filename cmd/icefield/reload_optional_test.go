package main

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mount that need not be reachable is opened in the background when the server
// starts. When it is changed, whoever uses it must not notice that.
func TestAMountThatNeedNotBeReachableServesWhileItIsChanged(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	var asked atomic.Int32
	url, _ := counted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/config") && asked.Add(1) == 2 {
			close(arrived)
			<-release
		}
		plainRemote(w, r)
	}))
	let := sync.OnceFunc(func() { close(release) })
	t.Cleanup(let)
	root := nativeText("/", "root")
	optional := restText("partner", url, "  required = false")
	a := serveAlive(t, root)
	a.applied(root + optional)
	serves := func(when string) {
		status, text := send(t, "GET", a.url()+"/v1/namespaces/partner%1Fa", "")
		assert.Equal(t, 200, status, "%s: %s", when, text)
	}
	serves("as soon as it is mounted")
	changed := make(chan struct{})
	go func() {
		defer close(changed)
		a.change(root + strings.Replace(optional, `"acme"`, `"other"`, 1))
	}()
	<-arrived
	serves("while it is opened with its new settings")
	let()
	<-changed
	serves("as soon as these are in effect")
	require.Equal(t, "other", a.mountsShown()["partner"]["owner"])
}
