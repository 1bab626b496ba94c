package policy

import (
	"context"
	"errors"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
)

// turning has other policies whenever it is asked what they are: they permit one
// action each, and to see everything.
type turning struct {
	denyAll
	turn    *int
	actions []Action
}

func (a turning) Now() Authorizer {
	one := a.actions[*a.turn%len(a.actions)]
	*a.turn++
	return permits(func(q Question) bool { return q.Action == one || q.Action == Exists(q.Resource.Kind) })
}

// Two sets of policies of which each permits one half of a rename permit none,
// whenever the one takes the other's place.
func TestACallIsDecidedByThePoliciesOfOneMoment(t *testing.T) {
	from, to := mounts.Identifier{Namespace: ns("prod", "a"), Name: "t"}, mounts.Identifier{Namespace: ns("prod", "a"), Name: "u"}
	turn := 0
	rules := turning{turn: &turn, actions: []Action{ActionOf(capabilities.RenameTable), ActionOf(capabilities.CreateTable)}}
	b := memory.New(memory.Options{Before: func(_ context.Context, req mounts.Request) error {
		t.Errorf("%s was let through", req.Op())
		return errors.New("no")
	}})
	g := single(t, b, rules)
	for i := range 4 {
		_, err := mounts.Invoke(as(t, alice()), g, &mounts.RenameTableRequest{Source: from, Destination: to})
		if mounts.AsError(err).Kind != mounts.Forbidden {
			t.Errorf("%d: %v", i, err)
		}
	}
	if turn != 4 {
		t.Errorf("four calls asked %d times what the policies are", turn)
	}
}
