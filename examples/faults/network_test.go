package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// network is the way to a server: a proxy that can be told what to do to what passes.
type network struct {
	proxy *toxiproxy.Proxy
	count map[string]int // how often each fault was there
}

func startNetwork(t *testing.T, upstream string) *network {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "partner", "127.0.0.1:0", strings.TrimPrefix(upstream, "http://"))
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return &network{proxy: proxy, count: map[string]int{}}
}

func (n *network) url() string { return "http://" + n.proxy.Listen }

// toxic is a fault as the proxy knows it. Upstream is what the remote is sent, downstream what it answers.
type toxic struct {
	kind, stream string
	attributes   map[string]int
}

// weather returns what may be wrong at a time: at every stage of a call, from the connection to the end of the answer.
func weather(r *rand.Rand) toxic {
	stream := "upstream"
	if r.IntN(2) == 0 {
		stream = "downstream"
	}
	switch r.IntN(8) {
	case 0:
		return toxic{"latency", stream, map[string]int{"latency": 20 + r.IntN(100), "jitter": 20}}
	case 1: // nothing passes, then the connection is closed
		return toxic{"timeout", stream, map[string]int{"timeout": 1 + r.IntN(1500)}}
	case 2:
		return toxic{"reset_peer", stream, map[string]int{"timeout": r.IntN(50)}}
	case 3, 4: // closed in the middle of a request or of an answer
		return toxic{"limit_data", stream, map[string]int{"bytes": r.IntN(3000)}}
	case 5:
		return toxic{"slow_close", stream, map[string]int{"delay": 50 + r.IntN(500)}}
	case 6:
		return toxic{"slicer", stream, map[string]int{"average_size": 64, "size_variation": 32, "delay": 500}}
	}
	return toxic{kind: "down"} // no connection at all
}

// storm changes the weather until ctx ends, and clears it.
func (n *network) storm(ctx context.Context, t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	pause := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		}
	}
	for pause(time.Duration(20+r.IntN(80)) * time.Millisecond) {
		now := weather(r)
		n.count[strings.TrimSpace(now.kind+" "+now.stream)]++
		if now.kind == "down" {
			n.proxy.Stop()
			pause(time.Duration(r.IntN(60)) * time.Millisecond)
			if err := n.proxy.Start(); err != nil {
				t.Errorf("the proxy does not come back: %v", err)
				return
			}
			continue
		}
		description, _ := json.Marshal(map[string]any{"name": "now", "type": now.kind, "stream": now.stream,
			"toxicity": 0.2 + 0.8*r.Float64(), "attributes": now.attributes})
		if _, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(string(description))); err != nil {
			t.Errorf("%s: %v", description, err)
			return
		}
		pause(time.Duration(20+r.IntN(150)) * time.Millisecond)
		n.proxy.Toxics.ResetToxics(context.Background())
	}
}

// workers runs work for each number below count, on so many goroutines.
func workers(goroutines, count int, work func(worker, n int)) {
	var all sync.WaitGroup
	for w := range goroutines {
		all.Go(func() {
			for n := w; n < count; n += goroutines {
				work(w, n)
			}
		})
	}
	all.Wait()
}

func (n *network) String() string { return fmt.Sprint(n.count) }
