package wrap

import (
	"encoding/json"

	"github.com/icefield/icefield/mounts"
)

// reportType is the label of a metrics report: what engines send after a scan
// and after a commit (the REST spec's report types), and "other" for whatever
// else a client says.
func reportType(req *mounts.ReportMetricsRequest) string {
	var report struct {
		Type string `json:"report-type"`
	}
	_ = json.Unmarshal(req.Body, &report) // what cannot be read has no type
	switch report.Type {
	case "scan-report":
		return "scan"
	case "commit-report":
		return "commit"
	}
	return "other"
}

// report counts a metrics report that was accepted.
func (m *mountMetrics) report(req mounts.Request, o outcome) {
	if r, is := req.(*mounts.ReportMetricsRequest); is && o == ok {
		m.all.reports.WithLabelValues(m.name, reportType(r)).Inc()
	}
}
