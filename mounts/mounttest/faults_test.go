package mounttest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/mounttest"
)

func TestFaultsHappenWhereTheySay(t *testing.T) {
	for _, tt := range []struct {
		fault   mounttest.Fault
		kind    mounts.Kind
		applied int
		unknown bool
	}{
		{mounttest.Before, mounts.Unavailable, 0, false},
		{mounttest.After, mounts.Timeout, 1, true},
		{mounttest.MidAnswer, mounts.BadGateway, 1, true},
	} {
		for _, req := range mounttest.Requests() {
			op := req.Op()
			b := mounttest.Faults(mounttest.Ledger())
			b.Fail(op, tt.fault, 1)
			_, err := mounts.Invoke(context.Background(), b, req)
			if !errors.Is(err, tt.kind) || !errors.Is(err, mounttest.ErrInjected) {
				t.Errorf("%s %s: %v", op, tt.fault, err)
			}
			unknown := tt.unknown && op.Row().Class != capabilities.Read
			if errors.Is(err, mounts.ErrOutcomeUnknown) != unknown {
				t.Errorf("%s %s: outcome unknown must be %v: %v", op, tt.fault, unknown, err)
			}
			if b.Calls(op) != 1 || b.Applied(op) != tt.applied {
				t.Errorf("%s %s: %d calls, %d applied", op, tt.fault, b.Calls(op), b.Applied(op))
			}
			if _, err := mounts.Invoke(context.Background(), b, req); err != nil {
				t.Errorf("%s: the second call fails too: %v", op, err)
			}
		}
	}
}

func TestFaultsForEverEndWithClear(t *testing.T) {
	b := mounttest.Faults(mounttest.Ledger())
	b.Fail(capabilities.DropTable, mounttest.Before, 0)
	req := &mounts.DropTableRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"fixture"}, Name: "orders"}}
	for range 3 {
		if err := b.DropTable(context.Background(), req); !errors.Is(err, mounts.Unavailable) {
			t.Fatal(err)
		}
	}
	b.Clear()
	if err := b.DropTable(context.Background(), req); err != nil || b.Calls(capabilities.DropTable) != 4 {
		t.Errorf("%v after %d calls", err, b.Calls(capabilities.DropTable))
	}
}
