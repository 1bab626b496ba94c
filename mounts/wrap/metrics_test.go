package wrap

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/icefield/icefield/mounts"
)

// series returns name{labels} -> value; a histogram's value is its count.
func series(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		if f.GetHelp() == "" {
			t.Errorf("%s has no help text", f.GetName())
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			out[fmt.Sprintf("%s{%s}", f.GetName(), strings.Join(labels, ","))] = value(m)
		}
	}
	return out
}

func value(m *dto.Metric) float64 {
	switch {
	case m.GetHistogram() != nil:
		return float64(m.GetHistogram().GetSampleCount())
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	}
	return m.GetGauge().GetValue()
}

func TestMetricsTellWhatAMountDid(t *testing.T) {
	reg := prometheus.NewRegistry()
	metrics := NewMetrics(reg)
	s := answering()
	m := Stack(s, Options{Name: "prod", ReadOnly: true, Metrics: metrics, Breaker: BreakerOptions{Failures: 3, OpenFor: time.Hour}})
	tree, view := m.Mount().Tree, m.Mount().View
	_ = ask(view, load)
	_ = ask(tree, &mounts.LoadTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}})
	_ = ask(view, drop)
	s.fails(&mounts.Error{Kind: mounts.NoSuchTable})
	_ = ask(view, load)
	s.fails(down)
	_ = ask(view, load) // three attempts
	_ = ask(view, load) // refused
	got := series(t, reg)
	for name, want := range map[string]float64{
		"icefield_mount_request_duration_seconds{mount=prod,operation=loadTable,outcome=ok}":          2,
		"icefield_mount_request_duration_seconds{mount=prod,operation=loadTable,outcome=absent}":      1,
		"icefield_mount_request_duration_seconds{mount=prod,operation=loadTable,outcome=unreachable}": 2,
		"icefield_mount_request_duration_seconds{mount=prod,operation=dropTable,outcome=unsupported}": 1,
		"icefield_mount_retries_total{mount=prod}":                                                    2,
		"icefield_mount_refusals_total{mount=prod,reason=breaker}":                                    1,
		"icefield_mount_refusals_total{mount=prod,reason=read_only}":                                  1,
		"icefield_mount_breaker_state{mount=prod}":                                                    2,
		"icefield_mount_up{mount=prod}":                                                               0,
		"icefield_mount_in_flight{mount=prod}":                                                        0,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if _, shown := got["icefield_mount_breaker_state{mount=prod}"]; !shown {
		t.Error("the state of the breaker is not shown")
	}
	next := Stack(answering(), Options{Name: "prod", Metrics: metrics}) // as after a reload
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if got := series(t, reg); got["icefield_mount_up{mount=prod}"] != 1 {
		t.Error("the mount that replaced the closed one is not shown")
	}
	if got := series(t, reg); got["icefield_mount_refusals_total{mount=prod,reason=breaker}"] != 1 {
		t.Error("what was counted before the mount was replaced is lost")
	}
	next.Close()
	for name := range series(t, reg) {
		if strings.Contains(name, "mount=prod") {
			t.Errorf("%s of a closed mount is still shown", name)
		}
	}
}

// A reload that is refused closes what it had opened: the mount that serves on is
// shown as before, and what could not be opened leaves nothing behind.
func TestAMountThatDidNotReplaceAnotherLeavesItShown(t *testing.T) {
	reg := prometheus.NewRegistry()
	metrics := NewMetrics(reg)
	m := Stack(failing(&mounts.Error{Kind: mounts.Unavailable}), Options{Name: "prod", Metrics: metrics, Breaker: BreakerOptions{Failures: 1, OpenFor: time.Hour}})
	_ = ask(m.Mount().View, load)
	metrics.RemoteCall("prod", "loadTable", "catalog", 503, time.Millisecond)
	metrics.RemoteCall("other", "", "config", 0, time.Millisecond)
	other := Stack(answering(), Options{Name: "prod", Metrics: metrics})
	other.Close()
	metrics.Forget("prod")
	metrics.Forget("other")
	(*Metrics)(nil).Forget("prod")
	got := series(t, reg)
	if got["icefield_mount_breaker_state{mount=prod}"] != 2 || got["icefield_remote_calls_total{kind=catalog,mount=prod,operation=loadTable,status=5xx}"] != 1 {
		t.Errorf("the mount that serves is not shown: %v", got)
	}
	for name := range got {
		if strings.Contains(name, "mount=other") {
			t.Errorf("%s of a mount that was never there is shown", name)
		}
	}
	m.Close()
}

func TestRemoteCallsAreCountedUnderFixedLabels(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg)
	m.RemoteCall("partner", "loadTable", "catalog", 200, time.Millisecond)
	m.RemoteCall("partner", "loadTable", "catalog", 204, time.Millisecond)
	m.RemoteCall("partner", "unknown", "token", 401, time.Millisecond)
	m.RemoteCall("partner", "", "config", 0, time.Millisecond)
	m.RemoteCall("partner", "../etc/passwd", "x"+strings.Repeat("y", 100), 999, time.Millisecond)
	(*Metrics)(nil).RemoteCall("partner", "loadTable", "catalog", 200, 0)
	got := series(t, reg)
	for name, want := range map[string]float64{
		"icefield_remote_calls_total{kind=catalog,mount=partner,operation=loadTable,status=2xx}": 2,
		"icefield_remote_calls_total{kind=token,mount=partner,operation=none,status=4xx}":        1,
		"icefield_remote_calls_total{kind=config,mount=partner,operation=none,status=none}":      1,
		"icefield_remote_calls_total{kind=other,mount=partner,operation=other,status=other}":     1,
		"icefield_remote_call_duration_seconds{kind=catalog,mount=partner,operation=loadTable}":  2,
		"icefield_remote_call_duration_seconds{kind=other,mount=partner,operation=other}":        1,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}
