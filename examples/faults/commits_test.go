package faults

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/examples/internal/launch"
	"github.com/icefield/icefield/examples/internal/wire"
)

func TestMain(m *testing.M) { os.Exit(launch.Main(m)) }

// told is what a client was told of its commit.
type told int

const (
	done    told = iota // 200
	refused             // an error that says that nothing was changed
	unknown             // an error that says that nobody knows
	silence             // no answer, or one that is not the protocol
)

// TestNoCommitIsLostDoubledOrMisreported sends commits through a network and to a remote that fail at every stage of a
// call, and compares what each client was told with what the remote did. Half of the commits bear an Idempotency-Key that
// the remote knows nothing of.
func TestNoCommitIsLostDoubledOrMisreported(t *testing.T) {
	const clients = 32
	partner := startRemote(t)
	network := startNetwork(t, partner.URL)
	address := launch.FreeAddress(t)
	server := launch.Start(t, launch.Command{
		Name: "icefield", Path: launch.Binary(t), Args: []string{"serve", "--config", "faults.hcl"},
		Env:   []string{"FAULTS_LISTEN=" + address, "FAULTS_PARTNER=" + network.url()},
		Ready: "http://" + address + "/ready",
	})
	setup := wire.New("http://"+address, "partner")
	setup.MustCreateNamespace(t, "shop")
	for c := range clients {
		setup.MustCreateTable(t, fmt.Sprintf("orders-%d", c), "shop")
	}

	ctx, stop := context.WithCancel(context.Background())
	var storm sync.WaitGroup
	storm.Go(func() { network.storm(ctx, t) })
	answers := make([]told, commits)
	shown := make([]string, commits)
	begin := time.Now()
	workers(clients, commits, func(c, n int) {
		key := ""
		if n%2 == 0 {
			key = fmt.Sprintf("01976000-0000-7000-8000-%012d", n)
		}
		catalog := wire.New("http://"+address, "partner")
		answer, err := catalog.CallWithKey(key, "POST", catalog.Table(fmt.Sprintf("orders-%d", c), "shop"), commit(n))
		answers[n], shown[n] = outcome(answer, err), fmt.Sprint(answer, err)
	})
	took := time.Since(begin)
	stop()
	storm.Wait()

	compare(t, partner, answers, shown)
	t.Logf("%d commits in %v; %d requests broke off on their way; the network: %v", commits, took.Round(time.Second), partner.cut, network)

	// It recovers by itself.
	deadline := time.Now().Add(20 * time.Second)
	for n := commits; ; n++ {
		answer, err := setup.Call("POST", setup.Table("orders-0", "shop"), commit(n*40+20))
		if outcome(answer, err) == done {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no commit passes after the storm: %v %v\n%s", answer, err, server.Tail(2000))
		}
	}
}

// compare holds what clients were told against the remote's book.
func compare(t *testing.T, partner *remote, answers []told, shown []string) {
	partner.mu.Lock()
	defer partner.mu.Unlock()
	tally := map[string]int{}
	for n, answer := range answers {
		b := partner.booked[n]
		if b == nil {
			b = &booked{}
		}
		was := "never arrived"
		switch {
		case b.received > 1:
			t.Errorf("commit %d was sent %d times", n, b.received)
		case b.applied:
			was = "applied"
		case b.refused:
			was = "refused"
		}
		say := [...]string{"done", "refused", "unknown", "silence"}[answer]
		tally[was+", told "+say]++
		switch {
		case answer == silence:
			t.Errorf("commit %d got no answer of the protocol: %s", n, shown[n])
		case answer == done && !b.applied:
			t.Errorf("commit %d was %s and reported as done", n, was)
		case answer == refused && b.applied:
			t.Errorf("commit %d was applied and reported as failed: %s", n, shown[n])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%6d %s", tally[name], name)
	}
	for _, must := range []string{"applied, told done", "applied, told unknown", "refused, told refused", "never arrived, told refused", "never arrived, told unknown"} {
		if tally[must] == 0 {
			t.Errorf("no commit was %s: the faults are not what they are meant to be", must)
		}
	}
}

// commit sets the number. Each tenth is one that no catalog can apply.
func commit(n int) any {
	requirements := []any{}
	if n%10 == 9 {
		requirements = append(requirements, map[string]any{"type": "assert-table-uuid", "uuid": "00000000-0000-4000-8000-000000000000"})
	}
	return map[string]any{"requirements": requirements, "updates": []any{
		map[string]any{"action": "set-properties", "updates": map[string]string{"commit": fmt.Sprint(n)}},
	}}
}

func outcome(answer *wire.Answer, err error) told {
	switch {
	case err != nil:
		return silence
	case answer.Status == 200:
		return done
	case answer.Type == "CommitStateUnknownException":
		return unknown
	}
	return refused
}
