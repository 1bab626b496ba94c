package faults

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
)

// openLoop has work done at a fixed rate, by so many clients in turn, for some time or until ctx ends, and returns how long
// each took from the moment at which it was due: a client that is late because its last answer was late counts that too.
func openLoop(ctx context.Context, perSecond, clients int, length time.Duration, work func(client, n int)) []time.Duration {
	total := int(length.Seconds() * float64(perSecond))
	took := make([]time.Duration, total)
	begin := time.Now()
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for n := c; n < total; n += clients {
				due := begin.Add(time.Duration(n) * time.Second / time.Duration(perSecond))
				if !pause(ctx, time.Until(due)) {
					return
				}
				work(c, n)
				took[n] = time.Since(due)
			}
		})
	}
	all.Wait()
	return took
}

// pause waits; false if ctx ended before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// quantile of durations.
func quantile(all []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// watched is a server under test as its operator sees it.
type watched struct {
	*launch.Process
	url    string
	client *http.Client
}

// metrics are the series of /metrics.
func (w watched) metrics(t testing.TB) map[string]float64 {
	t.Helper()
	response, err := w.client.Get(w.url + "/metrics")
	if err != nil {
		t.Errorf("metrics: %v", err)
		return nil
	}
	defer response.Body.Close()
	series := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if name, value, ok := cutLast(lines.Text()); ok && !strings.HasPrefix(name, "#") {
			if number, err := strconv.ParseFloat(value, 64); err == nil {
				series[name] = number
			}
		}
	}
	if lines.Err() != nil || len(series) == 0 {
		t.Errorf("metrics: %d series, %v", len(series), lines.Err())
	}
	return series
}

func cutLast(line string) (name, value string, ok bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return "", "", false
	}
	return line[:i], line[i+1:], true
}

// standing is what /ready and /admin/v1/mounts say.
type standing struct {
	Status     string   `json:"status"`
	Down       []string `json:"down"`
	Components []struct {
		Name, State, Reason string
	} `json:"components"`
	Mounts []struct {
		Name, Owner, State, Breaker string
	} `json:"mounts"`
}

func (w watched) standing(t testing.TB, path string) (s standing) {
	t.Helper()
	response, err := w.client.Get(w.url + path)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return s
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(body, &s)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s %v", path, response.StatusCode, body, err)
	}
	return s
}

// files is how many files and connections the process has open.
func (w watched) files(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", w.PID()))
	if err != nil {
		t.Errorf("open files: %v", err)
	}
	return len(entries)
}

// await asks again and again until it is so, or fails the test.
func await(t testing.TB, limit time.Duration, what string, so func() bool) {
	t.Helper()
	begin := time.Now()
	for !so() {
		if time.Since(begin) > limit {
			t.Fatalf("not after %v: %s", limit, what)
		}
		pause(context.Background(), 20*time.Millisecond)
	}
}

// detecting tells whether the server under test was built with the race detector, which takes a multiple of everything.
func detecting(t testing.TB) bool {
	info, err := buildinfo.ReadFile(launch.Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range info.Settings {
		if setting.Key == "-race" && setting.Value == "true" {
			return true
		}
	}
	return false
}

// complaints collects what must not happen, of which the first few are enough.
type complaints struct {
	t  testing.TB
	mu sync.Mutex
	n  int
}

func (c *complaints) add(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n <= 20 {
		c.t.Errorf(format, args...)
	}
}

// tally counts things by their names.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name]++
}

func (c *tally) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprint(c.of)
}
