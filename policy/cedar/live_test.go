package cedar

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/icefield/icefield/policy"
)

const (
	onlyRead = `@id("read") permit (principal, action == Icefield::Action::"loadTable", resource);`
	onlyDrop = `@id("drop") permit (principal, action == Icefield::Action::"dropTable", resource);`
	broken   = `permit (principal, action, resource`
)

// watched is a Live whose changes can be waited for.
type watched struct {
	*Live
	path    string
	changes chan error
	metrics *prometheus.Registry
	log     *bytes.Buffer
}

func watching(t *testing.T, text string) watched {
	t.Helper()
	w := watched{path: filepath.Join(t.TempDir(), "p.cedar"), changes: make(chan error, 100), metrics: prometheus.NewRegistry(), log: &bytes.Buffer{}}
	write(t, w.path, text)
	var err error
	w.Live, err = Watch(Source{Files: []string{w.path}}, WatchOptions{
		Every: time.Millisecond, OnChange: func(err error) { w.changes <- err }, Metrics: w.metrics,
		Logger: slog.New(slog.NewTextHandler(w.log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil { // again, for some
			t.Error(err)
		}
	})
	return w
}

// change puts another text into the file's place, whole, and waits until that was
// seen.
func (w watched) change(t *testing.T, text string) error {
	t.Helper()
	put(t, w.path, text)
	select {
	case err := <-w.changes:
		return err
	case <-time.After(time.Minute):
		t.Fatal("the change is not seen")
		return nil
	}
}

func put(t testing.TB, path, text string) {
	t.Helper()
	write(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (w watched) allows(t *testing.T) string {
	t.Helper()
	return w.allowsIn(t, "acme")
}

func (w watched) allowsIn(t *testing.T, tenant string) string {
	t.Helper()
	var all []string
	for _, a := range []policy.Action{"loadTable", "dropTable"} {
		if decide(t, w, user(tenant, "a"), a, table(tenant, "prod", "a", "t")).Allowed {
			all = append(all, string(a))
		}
	}
	return strings.Join(all, " ")
}

func (w watched) gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := w.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("no %s", name)
	return 0
}

func TestChangedFilesAreInEffectAndBrokenOnesChangeNothing(t *testing.T) {
	w := watching(t, onlyRead)
	check := func(allows, state string, good, policies float64) {
		t.Helper()
		if got := w.allows(t); got != allows {
			t.Errorf("allowed: %s", got)
		}
		s, since, reason := w.Status()
		if s != state || since.IsZero() || (reason == "") != (state == StateOK) {
			t.Errorf("%s since %v: %s", s, since, reason)
		}
		if strings.Contains(reason, w.path) {
			t.Errorf("the reason is for everybody: %s", reason)
		}
		if g := w.gauge(t, "icefield_policy_last_reload_successful"); g != good {
			t.Errorf("successful: %v", g)
		}
		if g := w.gauge(t, "icefield_policies"); g != policies {
			t.Errorf("policies: %v", g)
		}
	}
	check("loadTable", StateOK, 1, 1)
	if err := w.change(t, onlyDrop+onlyRead); err != nil {
		t.Error(err)
	}
	check("loadTable dropTable", StateOK, 1, 2)
	var p *Problems
	if err := w.change(t, broken); !errors.As(err, &p) || p.Findings[0].File != w.path {
		t.Errorf("%v", err)
	}
	check("loadTable dropTable", StateRefused, 0, 2)
	_, since, _ := w.Status()
	if err := w.change(t, broken+"//"); err == nil {
		t.Error("it is not refused")
	}
	if _, again, _ := w.Status(); again != since {
		t.Error("it has been refused since the first time")
	}
	if err := w.change(t, onlyDrop); err != nil {
		t.Error(err)
	}
	check("dropTable", StateOK, 1, 1)
	if n := testutil.CollectAndCount(w.meters.reloads); n != 2 {
		t.Errorf("%d outcomes", n)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if log := w.log.String(); !strings.Contains(log, "policy: cannot be read as Cedar") || strings.Count(log, "are in effect") != 2 {
		t.Errorf("the log: %s", log)
	}
}

func TestABrokenFileIsReportedOnceAndGoingBackToTheOldIsFine(t *testing.T) {
	w := watching(t, onlyRead)
	if err := w.change(t, broken); err == nil {
		t.Error("it is not refused")
	}
	if err := w.change(t, onlyRead); err != nil {
		t.Error(err)
	}
	if err := w.change(t, onlyDrop); err != nil || w.allows(t) != "dropTable" {
		t.Error(err)
	}
	select {
	case err := <-w.changes:
		t.Errorf("more is reported than happened: %v", err)
	default:
	}
}

func TestAnotherSourceIsWatchedAfterReplaceAndARefusedOneIsNot(t *testing.T) {
	w := watching(t, onlyRead)
	other := w
	other.path = filepath.Join(t.TempDir(), "other.cedar")
	if err := w.Replace(Source{Files: []string{other.path}}); err == nil || w.allows(t) != "loadTable" {
		t.Errorf("a source that is not there: %v", err)
	}
	if err := w.change(t, onlyDrop); err != nil || w.allows(t) != "dropTable" {
		t.Error("the old source is no longer watched")
	}
	write(t, other.path, onlyRead)
	if err := w.Replace(Source{Files: []string{other.path}}); err != nil || w.allows(t) != "loadTable" {
		t.Error(err)
	}
	put(t, w.path, broken) // nobody looks there any more
	if err := other.change(t, onlyDrop); err != nil || w.allows(t) != "dropTable" {
		t.Error(err)
	}
}

func TestPoliciesThatCannotBeLoadedAreNotWatched(t *testing.T) {
	reg := prometheus.NewRegistry()
	if l, err := Watch(Source{Files: []string{"/nowhere"}}, WatchOptions{Metrics: reg}); err == nil || l != nil {
		t.Error("it is watched")
	}
	l, err := Watch(Source{Builtin: true}, WatchOptions{Metrics: reg})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Watch(Source{Builtin: true}, WatchOptions{Metrics: reg}); err == nil {
		t.Error("two of them count in one place")
	}
}

func TestHalfWrittenFilesAreWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.cedar")
	write(t, path, onlyRead)
	synctest.Test(t, func(t *testing.T) {
		var changes []error
		l, err := Watch(Source{Files: []string{path}}, WatchOptions{OnChange: func(err error) { changes = append(changes, err) }})
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(onlyDrop) { // an editor writes ever more of it
			write(t, path, onlyDrop[:i+1])
			pause(t.Context(), settleEvery/10)
		}
		pause(t.Context(), 2*watchEvery)
		synctest.Wait()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(changes, []error{nil}) {
			t.Errorf("changes: %v", changes)
		}
	})
}

// TestEveryDecisionIsByOneSet decides under load while sets are swapped: every
// decision is that of the one set or of the other, never a mixture.
func TestEveryDecisionIsByOneSet(t *testing.T) {
	// In each set the two permits are either both there or both not.
	sets := []string{
		`@id("a1") permit (principal, action, resource in Icefield::Namespace::"prod/a"); @id("a2") permit (principal in Icefield::Tenant::"acme", action, resource) when { resource.name like "t*" };`,
		`@id("b1") permit (principal, action, resource in Icefield::Namespace::"prod/a"); @id("b2") permit (principal in Icefield::Tenant::"acme", action, resource) when { resource.name like "t*" };`,
	}
	w := watching(t, sets[0])
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var deciding sync.WaitGroup
	var seen [2]atomic.Int64
	rows := []policy.Resource{table("acme", "prod", "a", "t1"), table("acme", "prod", "a", "u"), table("acme", "prod", "a", "t2")}
	for range 4 {
		deciding.Go(func() {
			for ctx.Err() == nil {
				d := decide(t, w, user("acme", "a"), "loadTable", rows[0])
				switch strings.Join(d.Policies, " ") {
				case "a1 a2":
					seen[0].Add(1)
				case "b1 b2":
					seen[1].Add(1)
				default:
					t.Errorf("decided by %v", d.Policies)
					return
				}
				if got, err := w.Filter(t.Context(), policy.Question{Principal: user("acme", "a"), Action: "tableExists"}, rows); err != nil || !slices.Equal(got, []bool{true, true, true}) {
					t.Errorf("%v %v", got, err)
					return
				}
			}
		})
	}
	for i := range 20 {
		next := sets[(i+1)%2]
		if i%5 == 4 {
			if err := w.change(t, broken+strings.Repeat(" ", i)); err == nil {
				t.Error("a broken set is accepted")
			}
		}
		before := seen[(i+1)%2].Load()
		if err := w.change(t, next); err != nil {
			t.Error(err)
		}
		for deadline := time.Now().Add(time.Minute); seen[(i+1)%2].Load() == before; {
			if time.Now().After(deadline) || t.Failed() {
				t.Fatal("the new set never decides")
			}
			runtime.Gosched()
		}
	}
	cancel()
	deciding.Wait()
}

func TestAReloadThatANewSourceOvertookChangesNothing(t *testing.T) {
	w := watching(t, onlyRead)
	before := w.Set()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	other := load(t, map[string]string{"": onlyDrop})
	w.Put(other)
	for _, text := range []string{onlyRead, broken} {
		files := []file{{path: w.path, text: []byte(text + " ")}}
		if !w.reload(before, files, fingerprintOf(files)) || w.Set() != other {
			t.Error("an older source is back")
		}
		if state, _, _ := w.Status(); state != StateOK {
			t.Error("what nobody asks for any more is reported")
		}
	}
}
