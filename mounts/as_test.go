package mounts

import (
	"context"
	"testing"
)

type owner struct{ Unsupported }

func (owner) Owners(context.Context, []string) (map[string]string, error) { return nil, nil }

type around struct{ Backend }

func (a around) Unwrap() Backend { return a.Backend }

type opaque struct{ Backend }

func TestABackendIsFoundThroughWhatStandsAroundIt(t *testing.T) {
	for name, b := range map[string]Backend{"itself": owner{}, "one": around{owner{}}, "two": around{around{owner{}}}} {
		if _, ok := As[Owning](b); !ok {
			t.Errorf("%s: not found", name)
		}
	}
	for name, b := range map[string]Backend{"none": nil, "nothing there": around{Unsupported{}}, "one that hides it": around{opaque{owner{}}}} {
		if _, ok := As[Owning](b); ok {
			t.Errorf("%s: found", name)
		}
	}
}
