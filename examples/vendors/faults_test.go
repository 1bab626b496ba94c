package vendors

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/faults"
	"github.com/icefield/icefield/examples/internal/wire"
)

// testFaults breaks the partner in each way while everything else must go on as before. The partner must hold the
// namespace "shared" with the table "customers", prod and sister a table "orders" in "sales".
func testFaults(t *testing.T, s *scenario) {
	usual := latencies(t, s)
	root := rootNames(t, s)
	for _, mode := range faults.Broken() {
		t.Run(string(mode), func(t *testing.T) {
			s.breakPartner(t, mode)
			partnerIsBroken(t, s, mode)
			if got := rootNames(t, s); !slices.Equal(got, root) {
				t.Errorf("the root lists %q, before it was %q", got, root)
			}
			othersAreAsFast(t, s, usual)
			readyNamesPartner(t, s)
			if mode == faults.Status401 {
				isAskedEachTime(t, s)
			} else {
				failsAtOnce(t, s)
			}
			s.partner.Set(t, faults.Pass)
			recovers(t, s)
		})
	}
}

// partnerCalls are reads of what lies under the partner, in the tree and in its own view.
func partnerCalls(s *scenario) map[string]func() (*wire.Answer, error) {
	view := s.view("partner")
	call := func(catalog *wire.Catalog, method, path string) func() (*wire.Answer, error) {
		return func() (*wire.Answer, error) { return catalog.Call(method, path, nil) }
	}
	calls := map[string]func() (*wire.Answer, error){
		"load table":           call(s.tree, http.MethodGet, s.tree.Table("customers", "partner", "shared")),
		"table exists":         call(s.tree, http.MethodHead, s.tree.Table("customers", "partner", "shared")),
		"load missing table":   call(s.tree, http.MethodGet, s.tree.Table("missing", "partner", "shared")),
		"list tables":          call(s.tree, http.MethodGet, s.tree.Namespace("partner", "shared")+"/tables"),
		"list tables, paged":   call(s.tree, http.MethodGet, s.tree.Namespace("partner", "shared")+"/tables?pageToken=&pageSize=2"),
		"load namespace":       call(s.tree, http.MethodGet, s.tree.Namespace("partner", "shared")),
		"namespace exists":     call(s.tree, http.MethodHead, s.tree.Namespace("partner", "shared")),
		"list namespaces":      call(s.tree, http.MethodGet, "/namespaces?parent=partner"),
		"list deeper":          call(s.tree, http.MethodGet, "/namespaces?parent=partner%1Fshared"),
		"view: list":           call(view, http.MethodGet, "/namespaces"),
		"view: load table":     call(view, http.MethodGet, view.Table("customers", "shared")),
		"view: list tables":    call(view, http.MethodGet, view.Namespace("shared")+"/tables"),
		"view: load namespace": call(view, http.MethodGet, view.Namespace("shared")),
	}
	if s.partnerHasViews {
		calls["list views"] = call(s.tree, http.MethodGet, s.tree.Namespace("partner", "shared")+"/views")
	}
	return calls
}

// testEveryReadFails breaks the partner in each way, before an Icefield whose breaker stays closed, so that each kind of read
// meets each failure.
func testEveryReadFails(t *testing.T, s *scenario) {
	for _, mode := range faults.Broken() {
		t.Run(string(mode), func(t *testing.T) {
			s.breakPartner(t, mode)
			var running sync.WaitGroup
			for name, call := range readsThatFail(s, mode) {
				running.Go(func() { mustFail(t, name, call) })
			}
			running.Wait()
		})
	}
	s.partner.Set(t, faults.Pass)
	eventually(t, 2*probeInterval, func() error { return everyReadWorks(s) })
}

// testPartnerThatComesLater starts an Icefield while the partner is not there, which is not required: what lies under it is
// unavailable, everything else is served, and once it is there it is mounted without a restart.
func testPartnerThatComesLater(t *testing.T, s *scenario) {
	late := *s
	late.partner = faults.New(t, s.partnerURL)
	late.partner.Set(t, faults.Stop)
	late.serve(t, "lake.hcl")
	partnerIsBroken(t, &late, faults.Stop)
	readyNamesPartner(t, &late)
	if root := rootNames(t, &late); !slices.Contains(root, "partner") || !slices.Contains(root, "sister") {
		t.Errorf("the root lists %q", root)
	}
	if _, err := late.tree.LoadTable("orders", "sister", "sales"); err != nil {
		t.Error(err)
	}
	if _, err := late.tree.Config(""); err != nil {
		t.Error(err)
	}
	late.partner.Set(t, faults.Pass)
	eventually(t, 40*time.Second, func() error { return everyReadWorks(&late) })
}

func (s *scenario) breakPartner(t *testing.T, mode faults.Mode) {
	t.Helper()
	if mode == faults.Slow {
		s.partner.SetSlow(t, partnerTimeout+partnerTimeout/2)
		return
	}
	s.partner.Set(t, mode)
}

// readsThatFail are the reads under the partner that cannot succeed in a mode: all, but for those that ask with HEAD while
// bodies are truncated, since such an answer has none.
func readsThatFail(s *scenario, mode faults.Mode) map[string]func() (*wire.Answer, error) {
	calls := partnerCalls(s)
	if mode == faults.Truncated {
		maps.DeleteFunc(calls, func(name string, _ func() (*wire.Answer, error)) bool { return strings.HasSuffix(name, "exists") })
	}
	return calls
}

// partnerIsBroken asserts that every read under the partner fails, whether its breaker is open yet or not.
func partnerIsBroken(t *testing.T, s *scenario, mode faults.Mode) {
	t.Helper()
	calls := readsThatFail(s, mode)
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		mustFail(t, name, calls[name])
	}
}

// mustFail asserts that a read under the partner is answered by a failure that names it, and neither by an absence nor by an
// empty list.
func mustFail(t *testing.T, name string, call func() (*wire.Answer, error)) {
	t.Helper()
	answer, err := call()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if answer.Status != http.StatusBadGateway && answer.Status != http.StatusServiceUnavailable && answer.Status != http.StatusGatewayTimeout {
		t.Errorf("%s: %v, want 502, 503 or 504", name, answer)
		return
	}
	if answer.Took > 15*time.Second {
		t.Errorf("%s took %v, though each attempt has %v", name, answer.Took, partnerTimeout)
	}
	if strings.HasSuffix(name, "exists") { // HEAD: no body
		return
	}
	if !strings.Contains(answer.Message, "partner") {
		t.Errorf("%s: the message does not name partner: %q", name, answer.Message)
	}
	if strings.Contains(string(answer.Body), "secret-internal-detail") {
		t.Errorf("%s: the answer repeats what the remote said: %s", name, answer.Body)
	}
}

func rootNames(t *testing.T, s *scenario) []string {
	t.Helper()
	names, err := s.tree.Namespaces().All()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// latencies are the median times of a load from prod, from sister and of the root listing; each must succeed every time.
func latencies(t *testing.T, s *scenario) map[string]time.Duration {
	t.Helper()
	calls := map[string]string{
		"prod":   s.tree.Table("orders", "prod", "sales"),
		"sister": s.tree.Table("orders", "sister", "sales"),
		"root":   "/namespaces",
	}
	medians := map[string]time.Duration{}
	for name, path := range calls {
		var times []time.Duration
		for range 21 {
			answer, err := s.tree.Call(http.MethodGet, path, nil)
			if err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%s: %v, %v", name, answer, err)
			}
			times = append(times, answer.Took)
		}
		slices.Sort(times)
		medians[name] = times[len(times)/2]
	}
	return medians
}

// othersAreAsFast asserts that nobody else waits for the partner. The bound is loose: it is far below any timeout, and
// far above what a busy machine does to a median.
func othersAreAsFast(t *testing.T, s *scenario, usual map[string]time.Duration) {
	t.Helper()
	for name, median := range latencies(t, s) {
		if limit := 10*usual[name] + 50*time.Millisecond; median > limit {
			t.Errorf("%s: the median is %v while the partner is broken, %v before", name, median, usual[name])
		}
	}
}

// ready asks /ready, which must answer 200 within a second, and returns its body.
func ready(t *testing.T, s *scenario) string {
	t.Helper()
	client := http.Client{Timeout: 10 * time.Second}
	start := time.Now()
	response, err := client.Get(s.url + "/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var body json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		t.Fatalf("/ready: %v", err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("/ready took %v", took)
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("/ready: %d %s", response.StatusCode, body)
	}
	return string(body)
}

// down returns the mounts that /ready says are not up.
func down(t *testing.T, s *scenario) ([]string, string) {
	t.Helper()
	text := ready(t, s)
	var body struct {
		Mounts []struct {
			Name  string `json:"name"`
			State string `json:"state"`
		} `json:"mounts"`
	}
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatalf("/ready: %v: %s", err, text)
	}
	if len(body.Mounts) != 4 {
		t.Fatalf("/ready tells of %d mounts, there are 4: %s", len(body.Mounts), text)
	}
	var names []string
	for _, mount := range body.Mounts {
		if mount.State != "up" {
			names = append(names, mount.Name)
		}
	}
	return names, text
}

// readyNamesPartner asserts that /ready tells, once the background prober has looked, that partner and only partner is down.
func readyNamesPartner(t *testing.T, s *scenario) {
	t.Helper()
	eventually(t, 2*probeInterval+5*time.Second, func() error {
		names, text := down(t, s)
		if !slices.Equal(names, []string{"partner"}) {
			return fmt.Errorf("/ready has %q down: %s", names, text)
		}
		if strings.Contains(text, "secret-internal-detail") {
			return fmt.Errorf("/ready repeats what the remote said: %s", text)
		}
		return nil
	})
}

// failsAtOnce asserts that after the configured number of failures calls are refused without anything being sent: far
// faster than the timeout, and the proxy's counter stands still. The breaker may let one call through to try, so what is
// asserted is that it sends none within one period between two such tries.
func failsAtOnce(t *testing.T, s *scenario) {
	t.Helper()
	load := s.tree.Table("customers", "partner", "shared")
	refusedInARow := 0
	for attempt := 0; refusedInARow < 10; attempt++ {
		if attempt > 60 {
			t.Fatalf("after %d failures calls are still sent, the breaker should be open after %d", attempt, partnerFailures)
		}
		before := s.partner.Count()
		answer, err := s.tree.Call(http.MethodGet, load, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != http.StatusServiceUnavailable || answer.Took > partnerTimeout/4 || s.partner.Count() != before {
			refusedInARow = 0
			continue
		}
		refusedInARow++
		if answer.Header.Get("Retry-After") == "" {
			t.Errorf("a call that the breaker refused has no Retry-After: %v", answer)
		}
		if !strings.Contains(answer.Message, "partner") {
			t.Errorf("a call that the breaker refused does not name partner: %q", answer.Message)
		}
	}
}

// isAskedEachTime asserts that the breaker stays closed: the partner is there and answers, and what it says is no.
func isAskedEachTime(t *testing.T, s *scenario) {
	t.Helper()
	for attempt := range 3 * partnerFailures {
		before := s.partner.Count()
		answer, err := s.tree.Call(http.MethodGet, s.tree.Table("customers", "partner", "shared"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Status != http.StatusBadGateway || s.partner.Count() == before {
			t.Fatalf("call %d was answered %v, and the partner saw %d more", attempt, answer, s.partner.Count()-before)
		}
	}
}

// recovers asserts that calls work again within the time that the breaker stays open and one look in the background, and
// that /ready says so, without a restart.
func recovers(t *testing.T, s *scenario) {
	t.Helper()
	eventually(t, partnerOpenFor+probeInterval+2*time.Second, func() error {
		answer, err := s.tree.Call(http.MethodGet, s.tree.Table("customers", "partner", "shared"), nil)
		if err != nil {
			return err
		}
		if answer.Status != http.StatusOK {
			return fmt.Errorf("%d %s", answer.Status, answer.Message)
		}
		return nil
	})
	eventually(t, 2*probeInterval, func() error {
		if names, text := down(t, s); len(names) > 0 {
			return fmt.Errorf("/ready still has %q down: %s", names, text)
		}
		return nil
	})
	if err := everyReadWorks(s); err != nil {
		t.Errorf("after the recovery: %v", err)
	}
}

// everyReadWorks reports the first read under the partner that does not work.
func everyReadWorks(s *scenario) error {
	for name, call := range partnerCalls(s) {
		answer, err := call()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		works := answer.Status == http.StatusOK || answer.Status == http.StatusNoContent
		if name == "load missing table" {
			works = answer.Status == http.StatusNotFound && answer.Type == "NoSuchTableException"
		}
		if !works {
			return fmt.Errorf("%s: %v", name, answer)
		}
	}
	return nil
}

// eventually polls until check is content; its last complaint fails the test.
func eventually(t *testing.T, limit time.Duration, check func() error) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline.C:
			t.Errorf("after %v: %v", limit, err)
			return
		case <-tick.C:
		}
	}
}
