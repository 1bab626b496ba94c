package migrate

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/native/store"
)

func TestWhatCannotBeMovedIsRefusedWithNothingDone(t *testing.T) {
	one, other := uuid.UUID{1}, uuid.UUID{2}
	fence := func(role store.FenceRole, id uuid.UUID, peer string) *store.Fence {
		return &store.Fence{Role: role, Migration: id, Peer: peer, Since: moment}
	}
	for what, test := range map[string]struct {
		from, to *store.Fence
		filled   bool
		words    string
	}{
		"the destination holds something":       {nil, nil, true, "holds a registry already (2 namespaces, "},
		"and the source is closed":              {fence(store.FenceSource, one, names.To), nil, true, "holds a registry already"},
		"the source is a copy":                  {fence(store.FenceDestination, one, "store://x"), nil, false, "part of a copy of store://x"},
		"the source was moved elsewhere":        {fence(store.FenceMoved, one, "store://x"), nil, false, "was moved to store://x at 2026-03-04T05:06:07Z"},
		"the source is being moved elsewhere":   {fence(store.FenceSource, one, "store://x"), nil, false, "is being moved to store://x"},
		"the destination was moved":             {nil, fence(store.FenceMoved, one, "store://x"), false, "cannot be filled"},
		"the destination is being moved":        {nil, fence(store.FenceSource, one, "store://x"), false, "cannot be filled"},
		"the destination gets another":          {nil, fence(store.FenceDestination, one, "store://x"), false, "part of a copy of store://x"},
		"both are in different moves":           {fence(store.FenceSource, one, names.To), fence(store.FenceDestination, other, names.From), false, "different moves"},
		"it was moved and the copy is gone":     {fence(store.FenceMoved, one, names.To), nil, false, "is empty now"},
		"it was moved and the copy is filled n": {fence(store.FenceMoved, one, names.To), fence(store.FenceDestination, other, "store://x"), false, "different moves"},
	} {
		from, to := open(t), open(t)
		fill(t, from, 10)
		if test.filled {
			fill(t, to, 5)
		}
		if err := errors.Join(from.SetFence(t.Context(), nil, test.from), to.SetFence(t.Context(), nil, test.to)); err != nil {
			t.Fatal(err)
		}
		one, other := contents(t, from).total(), contents(t, to).total()
		_, err := Run(t.Context(), from, to, names)
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v", what, err)
		}
		for side, s := range map[*store.Fence]store.Portable{test.from: from, test.to: to} {
			if f, err := s.CurrentFence(t.Context()); err != nil || !f.Same(side) {
				t.Errorf("%s: a fence is %+v, was %+v (%v)", what, f, side, err)
			}
		}
		if contents(t, from).total() != one || contents(t, to).total() != other {
			t.Errorf("%s: something was changed", what)
		}
	}
}

func TestARegistryIsNotMovedIntoItself(t *testing.T) {
	s := open(t)
	same := names
	same.To = same.From
	for what, opt := range map[string]Options{"one name": same, "two names": names} {
		_, err := Run(t.Context(), s, s, opt)
		var refused *Refused
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), "same registry") {
			t.Errorf("under %s: %v", what, err)
		}
		if role := roleOf(t, s); role != 0 {
			t.Errorf("under %s: it has the fence %d now", what, role)
		}
	}
	if _, err := Run(t.Context(), s, open(t), Options{From: "x"}); err == nil {
		t.Error("a store without a name was accepted")
	}
}

// A server that writes into the destination until the last moment keeps what it
// wrote.
func TestADestinationThatIsUsedIsLeftAlone(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 10)
	written := false
	_, err := Run(t.Context(), from, &fault{to, func(call string, after bool) error {
		if call == "SetFence" && !after && !written {
			written = true
			return to.Update(t.Context(), func(tx store.Tx) error { return tx.CreateNamespace(store.Namespace{Path: mounts.Namespace{"mine"}}) })
		}
		return nil
	}}, names)
	var refused *Refused
	if !errors.As(err, &refused) || roleOf(t, from) != 0 || roleOf(t, to) != 0 || contents(t, to).counts.Namespaces != 1 {
		t.Errorf("%v; the fences are %d and %d, and there is %+v", err, roleOf(t, from), roleOf(t, to), contents(t, to).counts)
	}
}

func TestAbort(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 20)
	var refused *Refused
	if _, err := Abort(t.Context(), from, names.From, AbortOptions{}); !errors.As(err, &refused) || !strings.Contains(err.Error(), "not being moved") {
		t.Errorf("an open registry: %v", err)
	}
	// Interrupted in its middle.
	stopped := errors.New("stopped")
	_, err := Run(t.Context(), from, &fault{to, func(call string, after bool) error {
		if call == "Import" && after {
			return stopped
		}
		return nil
	}}, names)
	if !errors.Is(err, stopped) || contents(t, to).counts.Total() == 0 {
		t.Fatal(err)
	}
	done, err := Abort(t.Context(), to, names.To, AbortOptions{})
	if err != nil || !done.Cleared || done.Fence.Peer != names.From || roleOf(t, to) != 0 || contents(t, to).counts.Total() != 0 {
		t.Errorf("at the copy: %+v (%v), and it holds %+v", done, err, contents(t, to).counts)
	}
	before := contents(t, from).total()
	done, err = Abort(t.Context(), from, names.From, AbortOptions{})
	if err != nil || done.Cleared || done.Fence.Role != store.FenceSource || roleOf(t, from) != 0 || contents(t, from).total() != before {
		t.Errorf("at the source: %+v (%v)", done, err)
	}
	// And the move can be made after all.
	result, err := Run(t.Context(), from, to, names)
	if err != nil {
		t.Fatal(err)
	}
	complete(t, from, to, result)
	if _, err := Abort(t.Context(), from, names.From, AbortOptions{}); !errors.As(err, &refused) || roleOf(t, from) != store.FenceMoved {
		t.Errorf("a moved registry was reopened without a word: %v", err)
	}
	done, err = Abort(t.Context(), from, names.From, AbortOptions{EvenIfMoved: true})
	if err != nil || done.Fence.Role != store.FenceMoved || roleOf(t, from) != 0 {
		t.Errorf("a moved registry: %+v (%v)", done, err)
	}
}

// A run whose source was reopened under it must not open the copy.
func TestARunThatWasAbortedOpensNothing(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 20)
	aborted := false
	opt := names
	opt.Progress = func(p Progress) {
		if p.Stage == Verifying && p.Done == p.Total && !aborted {
			aborted = true
			if _, err := Abort(t.Context(), from, names.From, AbortOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
	_, err := Run(t.Context(), from, to, opt)
	if err == nil || !strings.Contains(err.Error(), "aborted at store://from") || roleOf(t, from) != 0 || roleOf(t, to) != store.FenceDestination {
		t.Errorf("%v; the fences are %d and %d", err, roleOf(t, from), roleOf(t, to))
	}
	// Aborted at the copy, at the last moment: what is told is not success.
	aborted = false
	opt.Progress = nil
	_, err = Run(t.Context(), &fault{from, func(call string, after bool) error {
		if f, _ := from.CurrentFence(t.Context()); call == "SetFence" && after && f != nil && f.Role == store.FenceMoved && !aborted {
			aborted = true
			_, err := Abort(t.Context(), to, names.To, AbortOptions{})
			return err
		}
		return nil
	}}, to, opt)
	if !aborted || err == nil || !strings.Contains(err.Error(), "is empty now") {
		t.Errorf("aborted: %v, %v", aborted, err)
	}
}

// A run that finds the destination begun and the source open may meet the run that
// began it, just before that one closes the source. It loses, and leaves both
// fences to the winner, so that the move can go on.
func TestARunThatComesBetweenTheTwoFencesOfAnotherGivesTheDestinationBack(t *testing.T) {
	from, to := open(t), open(t)
	fill(t, from, 10)
	winner := uuid.UUID{1}
	begun := &store.Fence{Role: store.FenceDestination, Migration: winner, Peer: names.From, Since: moment}
	if err := to.SetFence(t.Context(), nil, begun); err != nil {
		t.Fatal(err)
	}
	met := false
	_, err := Run(t.Context(), from, &fault{to, func(call string, after bool) error {
		if call != "Clear" || !after || met {
			return nil
		}
		met = true
		return from.SetFence(t.Context(), nil, &store.Fence{Role: store.FenceSource, Migration: winner, Peer: names.To, Since: moment})
	}}, names)
	if !met || err == nil {
		t.Fatalf("met the other run: %v, %v", met, err)
	}
	result, err := Run(t.Context(), from, to, names)
	if err != nil || result.Migration != winner || !result.Resumed {
		t.Fatalf("%+v, %v", result, err)
	}
	complete(t, from, to, result)
}

// Two runs at once, as of two operators: both may succeed, and the copy is whole.
func TestTwoRunsAtOnceMakeOneMove(t *testing.T) {
	for range 5 {
		from, to := open(t), open(t)
		fill(t, from, 50)
		results := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := Run(t.Context(), from, to, names)
				results <- err
			}()
		}
		one, other := <-results, <-results
		if one != nil && other != nil {
			t.Logf("both failed: %v; %v", one, other)
		}
		result, err := Run(t.Context(), from, to, names)
		if err != nil {
			t.Fatal(err)
		}
		complete(t, from, to, result)
	}
}
