package audit

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/policy/audit"
	"github.com/icefield/icefield/policy/audit/audittest"
)

// trouble is something that befalls a trail, and its end.
type trouble struct {
	*lake
	begin, end func(t *testing.T)
	// reasons are what operators read of it, whichever comes first.
	reasons []string
	// read returns the trail once the server has ended.
	read func(t *testing.T) []audittest.Line
}

// nothingIsDone has a trail with fail_closed in trouble: changes are refused and not made, reads go on, and everything is as
// before when the trouble is over.
func nothingIsDone(t *testing.T, s *trouble) {
	s.must(t, "shop", "POST", "/namespaces", map[string]any{"namespace": []string{"shop"}})
	s.must(t, "table", "POST", "/namespaces/shop/tables", map[string]any{"name": "orders", "schema": wire.Schema()})
	before := s.must(t, "before", "GET", "/namespaces/shop/tables/orders", nil)
	state, _ := s.health(t)
	require.Equal(t, audit.OK, state)
	// Two lines of each change and one of the load: what came of a change is written a moment after its answer.
	require.Eventually(t, func() bool { return s.counted(t, "written") >= 5 }, 20*time.Second, 10*time.Millisecond)

	s.begin(t)
	refused := map[string]bool{}
	change := map[string]any{"requirements": []any{}, "updates": []any{map[string]any{"action": "set-properties", "updates": map[string]string{"a": "b"}}}}
	for i := range 5 {
		for name, c := range map[string]struct {
			method, path string
			body         any
		}{
			"namespace": {"POST", "/namespaces", map[string]any{"namespace": []string{"lost"}}},
			"create":    {"POST", "/namespaces/shop/tables", map[string]any{"name": "lost", "schema": wire.Schema()}},
			"commit":    {"POST", "/namespaces/shop/tables/orders", change},
			"drop":      {"DELETE", "/namespaces/shop/tables/orders?purgeRequested=true", nil},
		} {
			id := name + strconv.Itoa(i)
			answer, err := s.ask(id, c.method, c.path, c.body)
			require.NoError(t, err)
			require.Equal(t, 503, answer.Status, "%s: %v", id, answer)
			assert.Equal(t, "ServiceUnavailableException", answer.Type)
			assert.Contains(t, answer.Message, "audit trail")
			wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			assert.NoError(t, err, "Retry-After of %s", id)
			assert.Greater(t, wait, 0)
			refused[id] = true
		}
		during := s.must(t, "during"+strconv.Itoa(i), "GET", "/namespaces/shop/tables/orders", nil)
		assert.Equal(t, string(before.Body), string(during.Body), "a change that was refused was made")
		assert.NotContains(t, string(s.must(t, "tables"+strconv.Itoa(i), "GET", "/namespaces/shop/tables", nil).Body), "lost")
		assert.NotContains(t, string(s.must(t, "list"+strconv.Itoa(i), "GET", "/namespaces", nil).Body), "lost")
	}
	state, reason := s.health(t)
	assert.Equal(t, audit.Failing, state)
	assert.Contains(t, s.reasons, reason)
	assert.Contains(t, s.look(t, "/admin/v1/audit"), `"state":"failing"`)
	assert.Contains(t, s.look(t, "/metrics"), "icefield_audit_healthy 0")

	s.end(t)
	s.await(t, audit.OK)
	s.must(t, "after", "POST", "/namespaces/shop/tables/orders", change)
	assert.Equal(t, len(refused), s.counted(t, "refused"))
	s.stop(t)

	lines := s.read(t)
	outcomes := outcomesOf(lines)
	assert.Equal(t, ofChange, outcomes["table"])
	assert.Equal(t, ofChange, outcomes["after"])
	_, toldRefused := told(lines)
	assert.Equal(t, len(refused), toldRefused, "the trail itself says how many were refused")
	for _, row := range commitLog(t, s.data+"/lake.db") {
		assert.False(t, refused[row.RequestID], "%s was refused, and committed", row.RequestID)
		assert.Contains(t, outcomes[row.RequestID], "permitted")
	}
}

// everythingGoesOn has a trail without fail_closed in trouble: nobody notices, and what is lost is counted.
func everythingGoesOn(t *testing.T, s *trouble) {
	want := map[string][]string{}
	number := 0
	work := func(rounds int) {
		for range rounds {
			number++
			name := fmt.Sprintf("n%d", number)
			s.must(t, "make-"+name, "POST", "/namespaces", map[string]any{"namespace": []string{name}})
			s.must(t, "load-"+name, "GET", "/namespaces/"+name, nil)
			s.must(t, "list-"+name, "GET", "/namespaces", nil)
			absent, err := s.ask("miss-"+name, "GET", "/namespaces/absent", nil)
			require.NoError(t, err)
			require.Equal(t, 404, absent.Status)
			want["make-"+name], want["load-"+name], want["list-"+name], want["miss-"+name] = ofChange, ofRead, ofRead, []string{"failed"}
		}
	}
	work(5)
	s.begin(t)
	work(40)
	s.await(t, audit.Failing)
	_, reason := s.health(t)
	assert.Contains(t, s.reasons, reason)
	work(5)
	s.end(t)
	s.await(t, audit.OK)
	work(5)
	lost, refused := s.counted(t, "lost"), s.counted(t, "refused")
	assert.Zero(t, refused)
	s.stop(t)

	lines := s.read(t)
	outcomes := outcomesOf(lines)
	missing, expected := 0, 0
	for id, events := range want {
		expected += len(events)
		missing += len(events) - len(outcomes[id])
		assert.Subset(t, events, outcomes[id], id)
	}
	assert.Equal(t, missing, lost, "the metric counts other events than those that are missing")
	toldLost, _ := told(lines)
	assert.Equal(t, missing, toldLost, "the trail itself says how many are missing")
	assert.Greater(t, missing, 100, "the trouble hit so few events that it proves little")
	assert.Less(t, missing, expected)
	t.Logf("%d events, %d of them lost and counted", expected, missing)
}
