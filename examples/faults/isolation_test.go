package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
)

// remoteDelay is what a remote that is well takes for an answer, as one does that is some way off.
const remoteDelay = 20 * time.Millisecond

// TestAHungAndAFailingMountCostTheOthersNothing measures a mount by turns while nobody uses the others and while hundreds
// of clients use them and one of them hangs and one fails half of its calls.
func TestAHungAndAFailingMountCostTheOthersNothing(t *testing.T) {
	s := startIsolation(t)
	before := s.server.metrics(t)
	s.connect()
	var watching sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	watching.Go(func() { s.watch(ctx) })

	alone, among := s.measure(ctx, quiet), span{}
	for range rounds {
		s.partners["hanging"].behave(hanging)
		s.partners["failing"].behave(broken)
		round, end := context.WithCancel(ctx)
		var suffering sync.WaitGroup
		suffering.Go(func() { s.suffer(round) })
		among.add(s.measure(ctx, trouble))
		s.noticed()
		end()
		suffering.Wait()
		s.partners["hanging"].behave(well)
		s.partners["failing"].behave(well)
		s.recovers()
		alone.add(s.measure(ctx, quiet))
	}
	stop()
	watching.Wait()

	t.Logf("alone:               %v", alone)
	t.Logf("beside broken ones:  %v", among)
	ratio, machine := among.through.ratio(alone.through), among.straight.ratio(alone.straight)
	t.Logf("p99 of the healthy mount: %.3f times what it is alone; of its remote, without the server: %.3f times", ratio, machine)
	if limit := 1.2 * max(1, machine); measured && ratio > limit {
		t.Errorf("p99 of the healthy mount is %.2f times what it is alone, of %.2f", ratio, limit)
	}
	t.Logf("answers: %v", &s.answers)
	for _, must := range []string{"healthy 200", "hanging 503", "hanging 504", "failing 200", "failing 502"} {
		if s.answers.of[must] == 0 {
			t.Errorf("nobody was answered %s: the faults are not what they are meant to be", must)
		}
	}
	s.bounded(before)
	s.settles(before)
}

// isolation is a server with three remotes, and its clients.
type isolation struct {
	t        *testing.T
	server   watched
	partners map[string]*partner
	clients  []*wire.Catalog
	answers  tally
	wrong    complaints
	peak     map[string]float64 // of the gauges that must stay bounded
}

var bound = []string{"go_goroutines", "process_resident_memory_bytes", "go_memstats_heap_inuse_bytes"}

func startIsolation(t *testing.T) *isolation {
	s := &isolation{t: t, partners: map[string]*partner{}, wrong: complaints{t: t}, peak: map[string]float64{}}
	address := launch.FreeAddress(t)
	env := []string{"ISOLATION_LISTEN=" + address}
	for _, name := range []string{"healthy", "hanging", "failing"} {
		s.partners[name] = startPartner(t, 100, remoteDelay)
		env = append(env, "ISOLATION_"+strings.ToUpper(name)+"="+s.partners[name].URL)
	}
	s.server = watched{url: "http://" + address, client: &http.Client{Timeout: 20 * time.Second}, Process: launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "isolation.hcl"}, Env: env, Ready: "http://" + address + "/ready",
	})}
	for range patients + sufferers {
		s.clients = append(s.clients, wire.New("http://"+address, ""))
	}
	return s
}

// connect has each client ask once, while all is well.
func (s *isolation) connect() {
	workers(32, len(s.clients), func(_, n int) { s.ask(s.clients[n], "healthy", n*5) })
}

// measure puts a fixed load on the healthy mount, and a smaller one straight on its remote, which tells what the machine
// and the clients themselves do to the times.
func (s *isolation) measure(ctx context.Context, length time.Duration) (m span) {
	straight := wire.New(s.partners["healthy"].URL, "")
	defer straight.Close()
	var all sync.WaitGroup
	all.Go(func() {
		m.straight = windows(openLoop(ctx, pulse, patients, length, func(_, n int) {
			if a, err := straight.Call("GET", straight.Table(tableName(n%100), "shop"), nil); err != nil || a.Status != 200 {
				s.wrong.add("the healthy remote itself: %v %v", a, err)
			}
		}), 200)
	})
	m.through = windows(openLoop(ctx, pulse, patients, length, func(c, n int) { s.ask(s.clients[c], "healthy", n) }), 200)
	all.Wait()
	return m
}

// suffer has clients use the broken mounts until ctx ends: each asks, and once it is answered, again two seconds later.
func (s *isolation) suffer(ctx context.Context) {
	var all sync.WaitGroup
	const every = 2 * time.Second
	for c := range sufferers {
		all.Go(func() {
			mount := [...]string{"hanging", "failing"}[c%2]
			for n, wait := c, every*time.Duration(c)/sufferers; pause(ctx, wait); n, wait = n+1, every {
				s.ask(s.clients[patients+c], mount, n)
			}
		})
	}
	all.Wait()
}

// ask asks a mount for one thing, and complains if the answer is not the truth or an error that names the mount.
func (s *isolation) ask(client *wire.Catalog, mount string, n int) {
	table := tableName(n % 100)
	method, path := "GET", client.Table(table, mount, "shop")
	switch n % 5 {
	case 1:
		path = "/namespaces?parent=" + mount
	case 2:
		path = client.Namespace(mount, "shop") + "/tables"
	case 3:
		method = "HEAD"
	}
	a, err := client.Call(method, path, nil)
	if err != nil {
		s.wrong.add("%s: %v", mount, err)
		return
	}
	s.answers.add(fmt.Sprintf("%s %d", mount, a.Status))
	suffers := manner(s.partners[mount].manner.Load())
	switch {
	case a.Status == 204 && n%5 == 3, a.Status == 200:
		if suffers == hanging || !s.true(mount, table, n%5, a.Body) {
			s.wrong.add("%s, which %s: %s %s: %v", mount, []string{"is well", "hangs", "fails"}[suffers], method, path, a)
		}
	case suffers == well, a.Status < 502, suffers == hanging && a.Status == 502, method != "HEAD" && !strings.Contains(a.Message, mount):
		s.wrong.add("%s: %s %s: %v", mount, method, path, a)
	}
}

// true tells whether a body holds all that there is.
func (s *isolation) true(mount, table string, what int, body []byte) bool {
	var said struct {
		Metadata struct {
			UUID string `json:"table-uuid"`
		} `json:"metadata"`
		Namespaces  [][]string `json:"namespaces"`
		Identifiers []struct {
			Namespace []string `json:"namespace"`
		} `json:"identifiers"`
	}
	if what == 3 {
		return len(body) == 0
	}
	if json.Unmarshal(body, &said) != nil {
		return false
	}
	switch what {
	case 1:
		return len(said.Namespaces) == 1 && slices.Equal(said.Namespaces[0], []string{mount, "shop"})
	case 2:
		return len(said.Identifiers) == 100 && slices.Equal(said.Identifiers[99].Namespace, []string{mount, "shop"})
	}
	return said.Metadata.UUID == s.partners[mount].uuids[table]
}

// watch looks at the server until ctx ends: what it holds, and that it answers for itself at once.
func (s *isolation) watch(ctx context.Context) {
	root := wire.New(s.server.url, "")
	defer root.Close()
	for pause(ctx, 250*time.Millisecond) {
		now := s.server.metrics(s.t)
		for _, name := range bound {
			s.peak[name] = max(s.peak[name], now[name])
		}
		s.server.standing(s.t, "/ready") // which stays 200
		if names, err := root.Namespaces().All(); err != nil || strings.Join(names, " ") != "failing hanging healthy" {
			s.wrong.add("the tree's root has %q, %v", names, err)
		}
	}
}

// noticed demands that the operator is told of the mount that hangs.
func (s *isolation) noticed() {
	await(s.t, 10*time.Second, "/ready names the mount that hangs", func() bool {
		return slices.Contains(s.server.standing(s.t, "/ready").Down, "hanging")
	})
	if down := s.server.standing(s.t, "/ready").Down; slices.Contains(down, "healthy") {
		s.t.Errorf("the healthy mount is said to be down: %v", down)
	}
}

// recovers demands that both mounts answer again, by themselves.
func (s *isolation) recovers() {
	begin := time.Now()
	client := wire.New(s.server.url, "")
	defer client.Close()
	for _, mount := range []string{"hanging", "failing"} {
		await(s.t, 10*time.Second, mount+" answers again", func() bool {
			_, err := client.LoadTable(tableName(0), mount, "shop")
			return err == nil
		})
	}
	s.t.Logf("both answer again after %v", time.Since(begin).Round(time.Millisecond))
	await(s.t, 40*time.Second, "/ready says that all is well", func() bool { return len(s.server.standing(s.t, "/ready").Down) == 0 })
}

// bounded holds what the server used at its worst against what it may. A client costs its connection's goroutine and,
// while it waits, one that notices that it leaves; a call costs itself and its connection's two.
func (s *isolation) bounded(before map[string]float64) {
	limits := map[string]float64{
		"go_goroutines":                 before["go_goroutines"] + 2*float64(len(s.clients)) + 3*(2*64+patients) + 100,
		"process_resident_memory_bytes": 384 << 20,
		"go_memstats_heap_inuse_bytes":  192 << 20,
	}
	if detecting(s.t) {
		limits["process_resident_memory_bytes"] *= 8
		limits["go_memstats_heap_inuse_bytes"] *= 4
	}
	for _, name := range bound {
		s.t.Logf("%s: %.0f before, %.0f at most, of %.0f", name, before[name], s.peak[name], limits[name])
		if s.peak[name] > limits[name] || s.peak[name] == 0 {
			s.t.Errorf("%s went to %.0f", name, s.peak[name])
		}
	}
}

// settles demands that nothing is left of the trouble once its clients are gone, but for idle connections.
func (s *isolation) settles(before map[string]float64) {
	for _, client := range s.clients {
		client.Close()
	}
	var now atomic.Int64
	defer func() { s.t.Logf("goroutines: %.0f before, %d in the end", before["go_goroutines"], now.Load()) }()
	await(s.t, 40*time.Second, "the goroutines are as many as before", func() bool {
		idle := 0
		for _, p := range s.partners {
			idle += p.open()
		}
		now.Store(int64(s.server.metrics(s.t)["go_goroutines"]))
		return now.Load() <= int64(before["go_goroutines"])+2*int64(idle)+10
	})
}
