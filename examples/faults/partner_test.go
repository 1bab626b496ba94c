package faults

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/mounts/memory"
	"github.com/icefield/icefield/router"
)

// manner is how a partner deals with what it is asked.
type manner int32

const (
	well    manner = iota
	hanging        // it answers nothing
	broken         // each fourth request is answered with 500, and each fourth one's connection is reset
)

// partner is a remote catalog with tables in the namespace "shop", that takes a while for each answer, misbehaves when it
// is told to, and knows its connections and who asked.
type partner struct {
	*httptest.Server
	catalog http.Handler
	delay   time.Duration
	manner  atomic.Int32
	asked   atomic.Int64

	mu     sync.Mutex
	conns  map[net.Conn]bool
	logins map[string]int // requests by what stood in Authorization
	uuids  map[string]string
}

func startPartner(t *testing.T, tables int, delay time.Duration) *partner {
	t.Helper()
	p := &partner{
		catalog: router.New(router.Config{Tree: router.Catalog{Backend: memory.New(memory.Options{})}}),
		conns:   map[net.Conn]bool{}, logins: map[string]int{}, uuids: map[string]string{},
	}
	p.Server = httptest.NewUnstartedServer(p)
	p.Config.ConnState = func(c net.Conn, state http.ConnState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch state {
		case http.StateNew:
			p.conns[c] = true
		case http.StateClosed, http.StateHijacked:
			delete(p.conns, c)
		}
	}
	p.Start()
	t.Cleanup(p.Close)
	catalog := wire.New(p.URL, "")
	defer catalog.Close()
	catalog.MustCreateNamespace(t, "shop")
	for i := range tables {
		catalog.MustCreateTable(t, tableName(i), "shop")
		loaded, err := catalog.LoadTable(tableName(i), "shop")
		if err != nil {
			t.Fatal(err)
		}
		p.uuids[tableName(i)] = loaded.Metadata.UUID
	}
	p.delay = delay
	return p
}

func tableName(i int) string { return fmt.Sprintf("orders-%03d", i) }

func (p *partner) behave(m manner) { p.manner.Store(int32(m)) }

// open is how many connections there are now.
func (p *partner) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// loginsOf is how many requests came with a bearer token.
func (p *partner) loginsOf(token string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logins["Bearer "+token]
}

func (p *partner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := p.asked.Add(1)
	p.mu.Lock()
	p.logins[r.Header.Get("Authorization")]++
	p.mu.Unlock()
	switch manner(p.manner.Load()) {
	case hanging:
		<-r.Context().Done() // whoever asked has given up
		panic(http.ErrAbortHandler)
	case broken:
		switch n % 4 {
		case 1:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, `{"error":{"message":"out of order","type":"InternalServerError","code":500}}`)
			return
		case 3:
			reset(w)
			return
		}
	}
	if p.delay > 0 && !strings.HasSuffix(r.URL.Path, "/config") {
		timer := time.NewTimer(p.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	p.catalog.ServeHTTP(w, r)
}

// reset ends a connection at once, with nothing sent.
func reset(w http.ResponseWriter) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	connection.(*net.TCPConn).SetLinger(0)
	connection.Close()
}
