package faults

import (
	"context"
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

// reloaders is how many clients there are beside those that walk through listings, and how many tables each catalog has.
const reloaders = 50

// TestTheMountTableIsRewrittenUnderLoad has clients load, list and commit at a fixed rate while the mount table is
// rewritten again and again, each fourth time with a mistake in it.
func TestTheMountTableIsRewrittenUnderLoad(t *testing.T) {
	r := startReloading(t)
	before := r.settled(r.tableOf(0), nil)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	var took []time.Duration
	load.Go(func() {
		took = openLoop(ctx, perSec, reloaders, time.Hour, r.ask)
	})
	for _, mount := range []string{"steady", ""} {
		load.Go(func() { r.walk(ctx, mount) })
	}

	begin, refused, noticed := time.Now(), 0, 0
	for step := 1; step <= rewrites; step++ {
		next, effect, had := r.tableOf(step), "", 0.0
		if step%4 == 3 {
			next, effect, had = r.spoiled(step), r.effect(), r.server.metrics(t)[refusals]
			refused++
		} else {
			r.expects(next)
		}
		r.put(next)
		if step%10 == 9 {
			noticed++ // by itself
		} else {
			r.hangup()
		}
		if next.refused != "" {
			r.refuses(next, had, effect)
			continue
		}
		r.arrives(next)
		r.comes(next)
	}
	length := time.Since(begin)
	stop()
	load.Wait()
	took = slices.DeleteFunc(took, func(d time.Duration) bool { return d == 0 })
	t.Logf("%d tables in %v, %d of them refused, %d seen without a hangup; %d requests, %.0f a second, p50 %v, p99 %v", rewrites, length.Round(time.Millisecond),
		refused, noticed, len(took), float64(len(took))/length.Seconds(), quantile(took, 0.5), quantile(took, 0.99))
	t.Logf("answers: %v; walks: %v", &r.answers, &r.walks)
	if r.across.Load() == 0 {
		t.Error("no walk went on through a change of the mount table")
	}
	for _, login := range []string{"first", "second"} {
		if r.partners["guarded"].loginsOf("token-"+login) == 0 {
			t.Errorf("nobody logged in with the %s token", login)
		}
	}
	if said := strings.Count(r.server.Output(), "the configuration is refused"); said < refused {
		t.Errorf("the log tells of %d refused configurations of %d", said, refused)
	}
	r.kept()
	r.settled(r.tableOf(0), &before)
}

// reloading is a server whose mount table changes, and its clients.
type reloading struct {
	t        *testing.T
	server   watched
	partners map[string]*partner
	base     string
	path     string
	nobody   string // an address
	clients  []*wire.Catalog
	answers  tally
	walks    tally
	wrong    complaints
	across   atomic.Int64
	now      atomic.Int64 // the last step that was to be put into effect
	presence atomic.Int64 // of the mount "visiting", see expects

	done [reloaders]map[string]int // the last commit of each client, by mount
}

func startReloading(t *testing.T) *reloading {
	r := &reloading{t: t, partners: map[string]*partner{}, base: base(t), path: newPath(t), nobody: unheard(t), wrong: complaints{t: t}}
	for _, name := range []string{"steady", "books", "here", "there", "guarded", "visiting"} {
		r.partners[name] = startPartner(t, reloaders, 0)
	}
	address := launch.FreeAddress(t)
	r.put(r.tableOf(0))
	r.server = watched{url: "http://" + address, client: &http.Client{Timeout: 20 * time.Second}, Process: launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", r.path}, Ready: "http://" + address + "/ready",
		Env: []string{"RELOAD_LISTEN=" + address, "RELOAD_DATA=" + t.TempDir(), "RELOAD_STEADY=" + r.partners["steady"].URL,
			"RELOAD_BOOKS=" + r.partners["books"].URL, "RELOAD_FIRST=token-first", "RELOAD_SECOND=token-second"},
	})}
	native := wire.New(r.server.url, "")
	native.MustCreateNamespace(t, "shop")
	native.MustCreateNamespace(t, "local", "shop")
	for i := range reloaders {
		native.MustCreateTable(t, tableName(i), "shop")
		native.MustCreateTable(t, tableName(i), "local", "shop")
		r.clients, r.done[i] = append(r.clients, wire.New(r.server.url, "")), map[string]int{}
	}
	native.Close()
	r.presence.Store(gone)
	return r
}

const (
	there    = 0 // the rest of presence by 3
	gone     = 1
	changing = 2
)

// expects notes that a table is about to be put into effect. From then on nobody knows whether a mount is there that comes
// or goes with it.
func (r *reloading) expects(t table) {
	r.now.Store(int64(t.step))
	if was := r.presence.Load() % 3; t.visiting != (was == there) {
		r.presence.Store(int64(3*t.step + changing))
	}
}

// comes notes that the table is in effect.
func (r *reloading) comes(t table) {
	switch {
	case r.presence.Load()%3 != changing:
	case t.visiting:
		r.presence.Store(int64(3*t.step + there))
	default:
		r.presence.Store(int64(3*t.step + gone))
	}
}

// ask asks one of the mounts for something. Only the mount that comes and goes may answer anything but success.
func (r *reloading) ask(c, n int) {
	client, own := r.clients[c], tableName(c)
	view := func(name string) string { return "/" + name + "/namespaces/shop/tables/" + own }
	method, path, body := "GET", "", any(nil)
	before := r.presence.Load()
	what := (n/reloaders + c) % len(asked)
	switch what {
	case 0:
		path = client.Table(own, "steady", "shop")
	case 1:
		path = client.Namespace("steady", "shop") + "/tables"
	case 2:
		path = client.Table(own, "shifting", "shop")
	case 3:
		path = view("shifting")
	case 4:
		path = client.Table(own, "guarded", "shop")
	case 5:
		method, path = "HEAD", client.Table(own, "guarded", "shop")
	case 6:
		method, path, body = "POST", client.Table(own, "books", "shop"), commit(n*10)
	case 7:
		method, path, body = "POST", client.Table(own, "shop"), commit(n*10)
	case 8:
		method, path, body = "POST", client.Table(own, "local", "shop"), commit(n*10)
	case 9:
		path = client.Table(own, "visiting", "shop")
	case 10:
		path = view("visiting")
	}
	a, err := client.Call(method, path, body)
	if err != nil {
		r.wrong.add("%s %s: %v", method, path, err)
		return
	}
	r.answers.add(strings.TrimSpace(fmt.Sprintf("%s %d %s", asked[what], a.Status, a.Type)))
	visiting := int64(there)
	if after := r.presence.Load(); asked[what] == "visiting" {
		if visiting = after % 3; before != after {
			visiting = changing
		}
	}
	switch {
	case visiting != gone && (a.Status == 200 || a.Status == 204 && method == "HEAD"):
		if method == "POST" {
			r.done[c][asked[what]] = n * 10
		}
	case visiting != there && (what == 9 && absent(a) || what == 10 && absentView(a)):
	default:
		r.wrong.add("%s %s: %v", method, path, a)
	}
}

// asked are the mounts that are asked in turn.
var asked = []string{"steady", "steady", "shifting", "shifting", "guarded", "guarded", "books", "under", "local", "visiting", "visiting"}

// absent is what a tree says of a table whose mount is not there; absentView what is said of a catalog that is not.
func absent(a *wire.Answer) bool { return a.Status == 404 && a.Type == "NoSuchTableException" }

func absentView(a *wire.Answer) bool { return a.Status == 404 && a.Type == "NoSuchWarehouseException" }

// walk goes through a listing of a mount that stays, slowly, again and again.
func (r *reloading) walk(ctx context.Context, mount string) {
	var want []string
	levels := []string{"shop"}
	if mount != "" {
		levels = []string{mount, "shop"}
	}
	for i := range reloaders {
		want = append(want, strings.Join(append(slices.Clone(levels), tableName(i)), "\x1f"))
	}
	client := wire.New(r.server.url, "")
	defer client.Close()
	for ctx.Err() == nil {
		var names []string
		first := r.now.Load()
		for token := ""; ; {
			page, err := client.Tables(levels...).Page(3, token)
			if err != nil {
				r.wrong.add("a walk through %q: %v", levels, err)
				return
			}
			names = append(names, page.Names...)
			if token = page.Next; token == "" || len(names) > 2*reloaders {
				break
			}
			pause(ctx, 150*time.Millisecond)
		}
		if !slices.Equal(names, want) {
			r.wrong.add("a walk through %q found %q", levels, names)
			return
		}
		last := r.now.Load()
		r.walks.add(fmt.Sprintf("%q", levels))
		if last > first {
			r.across.Add(1)
		}
	}
}
