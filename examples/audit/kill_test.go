package audit

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/examples/internal/wire"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/store/bolt"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/audit/audittest"
)

const (
	kills   = 10
	clients = 8
)

// client changes one thing after the other, each under a request id of its own, and remembers what was acknowledged.
type client struct {
	lake         *lake
	name         string
	next         int
	acknowledged []string // request ids
}

// change makes one change and reports whether the server is still there.
func (c *client) change(t *testing.T) bool {
	c.next++
	id := fmt.Sprintf("%s-%d", c.name, c.next)
	set := func(table string) map[string]any {
		return map[string]any{"identifier": map[string]any{"namespace": []string{"shop"}, "name": table}, "requirements": []any{},
			"updates": []any{map[string]any{"action": "set-properties", "updates": map[string]string{c.name: strconv.Itoa(c.next)}}}}
	}
	method, path, body := "POST", "", any(nil)
	made := fmt.Sprintf("%s-%d", c.name, c.next/6)
	switch c.next % 6 {
	case 0:
		path, body = "/namespaces/shop/tables", map[string]any{"name": made, "schema": wire.Schema()}
	case 1:
		path, body = "/tables/rename", map[string]any{
			"source":      map[string]any{"namespace": []string{"shop"}, "name": made},
			"destination": map[string]any{"namespace": []string{"shop"}, "name": made + "-renamed"}}
	case 2:
		method, path = "DELETE", "/namespaces/shop/tables/"+made+"-renamed"
	case 3:
		path, body = "/transactions/commit", map[string]any{"table-changes": []any{set("one"), set("two")}}
	case 4:
		path, body = "/namespaces/shop/tables/one", set("one")
	default:
		path, body = "/namespaces/shop/tables/two", set("two")
	}
	answer, err := c.lake.ask(id, method, path, body)
	switch {
	case err != nil:
		return false
	case answer.Status == 200 || answer.Status == 204:
		c.acknowledged = append(c.acknowledged, id)
	case answer.Status == 409 || answer.Status == 404: // others were faster; what a kill took with it is not there
	default:
		t.Errorf("%s %s: %v", method, path, answer)
		return false
	}
	return true
}

func TestEveryCommitOfAKilledServerIsInTheTrail(t *testing.T) {
	// The trail is rotated all the time.
	l := start(t, "audit.hcl", nil, "AUDIT_MAX_SIZE=1MiB")
	l.must(t, "shop", "POST", "/namespaces", map[string]any{"namespace": []string{"shop"}})
	l.must(t, "table-one", "POST", "/namespaces/shop/tables", map[string]any{"name": "one", "schema": wire.Schema()})
	l.must(t, "table-two", "POST", "/namespaces/shop/tables", map[string]any{"name": "two", "schema": wire.Schema()})
	var all []*client
	for i := range clients {
		all = append(all, &client{lake: l, name: fmt.Sprintf("client%d", i)})
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		// It dies while changes are under way, at a moment of any change.
		var answered atomic.Int64
		enough := 150 + random.Int64N(150)
		kill := make(chan struct{})
		var running sync.WaitGroup
		for _, c := range all {
			running.Go(func() {
				for c.change(t) {
					if answered.Add(1) == enough {
						close(kill)
					}
				}
			})
		}
		select {
		case <-kill:
		case <-time.After(time.Minute):
			t.Error("the server does not answer")
		}
		l.Kill()
		running.Wait()
		l.Restart(t)
	}
	l.Kill()

	lines, torn, err := audittest.Read(l.trail)
	require.NoError(t, err)
	assert.LessOrEqual(t, torn, kills+1, "more lines are torn than the server was killed")
	permitted, outcomes := audittest.Permitted(lines)["lake"], outcomesOf(lines)
	rows := commitLog(t, filepath.Join(l.data, "lake.db"))
	for _, row := range rows {
		assert.True(t, permitted[row.RequestID], "generation %d of %s was committed by the request %s, which is not in the trail", row.Generation, row.Object, row.RequestID)
		assert.Equal(t, "key/admin", row.Principal)
	}
	committed := 0
	for _, c := range all {
		committed += len(c.acknowledged)
		for _, id := range c.acknowledged {
			assert.True(t, permitted[id], "%s was acknowledged and is not in the trail", id)
		}
		// Also of what the kills cut short it is on record first that it was permitted.
		for i := 1; i < c.next; i++ {
			got := outcomes[fmt.Sprintf("%s-%d", c.name, i)]
			if len(got) == 0 {
				continue // a kill came before it did
			}
			assert.Equal(t, policy.Permitted, got[0])
			for _, outcome := range got[1:] {
				assert.Contains(t, []string{policy.Done, policy.Failed}, outcome)
			}
		}
	}
	rotated, err := filepath.Glob(l.trail + ".*")
	require.NoError(t, err)
	assert.NotEmpty(t, rotated, "the trail was never rotated: the test proves less than it should")
	require.Greater(t, len(rows), kills*clients, "only so many rows were committed: the test proves little")
	t.Logf("%d kills, %d acknowledged changes, %d rows of the commit log, %d lines in %d files, %d of them torn", kills, committed, len(rows), len(lines), len(rotated)+1, torn)
}

// commitLog reads every row that a registry holds, those of tables that are gone included.
func commitLog(t *testing.T, path string) (rows []store.Commit) {
	t.Helper()
	registry, err := bolt.Open(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, registry.Close()) }()
	for after := []byte(nil); ; {
		entries, next, err := registry.Export(t.Context(), after, 1000)
		require.NoError(t, err)
		for _, e := range entries {
			if e.Commit != nil {
				rows = append(rows, *e.Commit)
			}
		}
		if next == nil {
			return rows
		}
		after = next
	}
}
