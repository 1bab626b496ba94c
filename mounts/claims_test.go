package mounts_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/icefield/icefield/mounts"
)

func TestABudgetMakesWhoHoldsNothingWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mounts.NewMemory(100)
		first, second := m.Claim(), m.Claim()
		if err := first.Grow(t.Context(), 80); err != nil {
			t.Fatal(err)
		}
		entered := make(chan error)
		go func() { entered <- second.Grow(t.Context(), 30) }()
		synctest.Wait()
		select {
		case err := <-entered:
			t.Fatalf("30 bytes found room beside 80 of 100: %v", err)
		default:
		}
		first.Release()
		first.Release()
		if err := <-entered; err != nil || m.Held() != 30 {
			t.Errorf("%v, %d bytes held", err, m.Held())
		}
		second.Release()
		if m.Held() != 0 {
			t.Errorf("%d bytes held at last", m.Held())
		}
	})
}

func TestWhoFindsNoRoomInTimeIsToldToTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mounts.NewMemory(100)
		first := m.Claim()
		_ = first.Grow(t.Context(), 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := m.Claim().Grow(ctx, 1)
		if e := mounts.AsError(err); !errors.Is(err, mounts.Unavailable) || e.RetryAfter <= 0 || e.OutcomeUnknown {
			t.Errorf("%+v", e)
		}
		if m.Held() != 100 {
			t.Errorf("%d bytes held", m.Held())
		}
	})
}

// Each holds a third and wants another third: without one that may go over the
// budget they would wait for each other for ever.
func TestHalfReadAnswersNeverWaitForEachOtherForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mounts.NewMemory(90)
		var all sync.WaitGroup
		held := make(chan struct{}, 3)
		for range 3 {
			all.Go(func() {
				c := m.Claim()
				defer c.Release()
				if err := c.Grow(t.Context(), 30); err != nil {
					t.Error(err)
				}
				held <- struct{}{}
				for len(held) < 3 {
					time.Sleep(time.Millisecond)
				}
				if err := c.Grow(t.Context(), 30); err != nil {
					t.Error(err)
				}
				if most := m.Held(); most > 120 {
					t.Errorf("%d bytes held", most)
				}
				time.Sleep(time.Second)
			})
		}
		all.Wait()
		if m.Held() != 0 {
			t.Errorf("%d bytes held at last", m.Held())
		}
		c := m.Claim()
		if err := c.Grow(t.Context(), 90); err != nil {
			t.Error("the budget is not whole again:", err)
		}
	})
}

func TestAnAnswerLargerThanTheBudgetGetsAllOfIt(t *testing.T) {
	m := mounts.NewMemory(100)
	c := m.Claim()
	for range 5 {
		if err := c.Grow(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
	}
	if m.Held() != 300 {
		t.Errorf("%d bytes held", m.Held())
	}
	c.Release()
	next := m.Claim()
	next.Take(40)
	next.Take(100)
	if m.Held() != 140 {
		t.Errorf("%d bytes held", m.Held())
	}
	next.Release()
	if err := m.Claim().Grow(t.Context(), 100); err != nil || m.Held() != 100 {
		t.Errorf("%v, %d bytes held", err, m.Held())
	}
}

func TestWithoutABudgetNothingIsCounted(t *testing.T) {
	m := mounts.NewMemory(0)
	c := m.Claim()
	c.Take(1 << 40)
	if err := c.Grow(t.Context(), 1<<40); err != nil || m.Held() != 0 || m.Max() != 0 {
		t.Errorf("%v, %d of %d held", err, m.Held(), m.Max())
	}
	c.Release()
}
