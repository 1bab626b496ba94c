package rest

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest/remote"
)

// forgetful is a way to a server that can forget the connections that there are:
// nothing passes on them any more, and nobody is told.
type forgetful struct {
	net.Listener
	forgotten atomic.Int64 // connections accepted up to then are forgotten
	accepted  atomic.Int64
}

func startForgetful(t *testing.T, to string) *forgetful {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forgetful{Listener: listener}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			number := f.accepted.Add(1)
			all.Go(func() { f.pass(from, to, number) })
		}
	})
	t.Cleanup(func() { listener.Close(); all.Wait() })
	return f
}

func (f *forgetful) pass(from net.Conn, to string, number int64) {
	defer from.Close()
	onward, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	defer onward.Close()
	go io.Copy(from, onward) // ends with onward
	buf := make([]byte, 4<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if number > f.forgotten.Load() {
			onward.Write(buf[:n])
		}
	}
}

func TestConnectionsThatTheNetworkForgotCostOneTimeoutAltogether(t *testing.T) {
	srv := remote.New(t, remote.Options{})
	srv.AddTable([]string{"shared"}, "orders")
	way := startForgetful(t, srv.Addr())
	b, err := Open(t.Context(), Config{URL: "http://" + way.Addr().String(), Request: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	load := func() error {
		_, err := b.LoadTable(t.Context(), &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"shared"}, Name: "orders"}})
		return err
	}
	// Several connections are made and kept, since as many calls are under way at
	// once.
	const many = 8
	srv.Tune(func(q *remote.Quirks) { q.Latency = 50 * time.Millisecond })
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if err := load(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if way.accepted.Load() < 2 {
		t.Fatalf("%d connections were kept: nothing to forget", way.accepted.Load())
	}
	way.forgotten.Store(way.accepted.Load())
	failed := 0
	for err := load(); err != nil; err = load() {
		if failed++; failed > many {
			t.Fatal(err)
		}
	}
	if failed > 1 {
		t.Errorf("%d calls waited in vain for connections that the network had forgotten", failed)
	}
}
