package wrap

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/icefield/icefield/mounts"
)

func TestAcceptedMetricsReportsAreCountedByMountAndType(t *testing.T) {
	reg := prometheus.NewRegistry()
	s := answering()
	m := Stack(s, Options{Name: "prod", Metrics: NewMetrics(reg)})
	inTree := mounts.Identifier{Namespace: mounts.Namespace{"prod", "a"}, Name: "t"}
	report := func(b mounts.Backend, table mounts.Identifier, body string) {
		_ = ask(b, &mounts.ReportMetricsRequest{Table: table, Body: json.RawMessage(body)})
	}
	report(m.Mount().View, aTable, `{"table-name":"t","report-type":"scan-report","metrics":{}}`)
	report(m.Mount().Tree, inTree, `{"report-type":"scan-report"}`)
	report(m.Mount().Tree, inTree, `{"report-type":"commit-report"}`)
	for _, odd := range []string{`{"report-type":"made-up-by-a-client"}`, `{"report-type":7}`, `{}`, ``} {
		report(m.Mount().View, aTable, odd)
	}
	_ = ask(m.Mount().View, load)
	s.fails(&mounts.Error{Kind: mounts.NoSuchTable})
	report(m.Mount().View, aTable, `{"report-type":"scan-report"}`)

	got := map[string]float64{}
	for name, n := range series(t, reg) {
		if strings.HasPrefix(name, "icefield_mount_metrics_reports_total") {
			got[name] = n
		}
	}
	want := map[string]float64{"scan": 2, "commit": 1, "other": 4}
	for kind, n := range want {
		if name := "icefield_mount_metrics_reports_total{mount=prod,type=" + kind + "}"; got[name] != n {
			t.Errorf("%s is %v, want %v", name, got[name], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("a client made a series: %v", got)
	}
}
