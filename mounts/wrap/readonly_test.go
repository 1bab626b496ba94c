package wrap

import (
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

func TestAReadOnlyMountRefusesEveryChangeAndNothingElse(t *testing.T) {
	for _, req := range everyRequest(mounts.Namespace{"a"}) {
		s := answering()
		b := ReadOnly(s)
		err := ask(b, req)
		passes := !changes(req) || req.Op() == capabilities.CancelPlan || req.Op() == capabilities.ReportMetrics
		if passes && (err != nil || s.calls.Load() != 1) {
			t.Errorf("%s: %v after %d calls", req.Op(), err, s.calls.Load())
		}
		if !passes {
			e := is(t, err, mounts.UnsupportedOperation)
			if s.calls.Load() != 0 || e.OutcomeUnknown || !strings.Contains(e.Message(), "read-only") || !strings.Contains(e.Message(), e.Ident.String()) {
				t.Errorf("%s: %s", req.Op(), e.Message())
			}
		}
		if b.Capabilities().Has(req.Op()) != passes {
			t.Errorf("%s is advertised: %v", req.Op(), !passes)
		}
		if b.KeyLifetime() != 0 || s.KeyLifetime() == 0 {
			t.Error("it honours the keys of changes that it refuses")
		}
	}
}
