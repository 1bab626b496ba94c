package rest_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/rest"
)

// TestACallerWhoLeavesCostsNobodyElseTheirConnection counts the connections
// that a remote sees.
func TestACallerWhoLeavesCostsNobodyElseTheirConnection(t *testing.T) {
	const callers = 4
	var opened atomic.Int32
	var hang atomic.Bool
	arrived, release := make(chan struct{}), make(chan struct{})
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/config" {
			io.WriteString(w, `{"defaults":{},"overrides":{}}`)
			return
		}
		hangs := hang.Load()
		arrived <- struct{}{}
		if hangs {
			<-r.Context().Done()
			return
		}
		<-release
		io.WriteString(w, `{"metadata-location":"s3://b/m","metadata":{}}`)
	}))
	srv.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	srv.Start()
	t.Cleanup(srv.Close)
	b, err := rest.Open(context.Background(), rest.Config{URL: srv.URL, InFlight: callers})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	// together makes n calls that are all under way at once.
	together := func(n int) {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				if err := invoke(b, orderLoad()); err != nil {
					t.Error(err)
				}
			})
		}
		for range n {
			<-arrived
		}
		for range n {
			release <- struct{}{}
		}
		wg.Wait()
	}
	together(callers)
	before := opened.Load()
	hang.Store(true)
	ctx, leave := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.LoadTable(ctx, &mounts.LoadTableRequest{Table: orders})
	}()
	<-arrived
	leave()
	<-done
	hang.Store(false)
	together(callers - 1)
	if n := opened.Load() - before; n != 0 {
		t.Errorf("%d connections had to be made again", n)
	}
}
