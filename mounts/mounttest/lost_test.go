package mounttest

import (
	"context"
	"strings"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
)

func catalog(testing.TB) mounts.Backend { return memory.New(memory.Options{}) }

func TestNoCommitIsLostOrDoubledByARetryOfReads(t *testing.T) {
	LostCommits(t, catalog, Matrix{Build: func(_ testing.TB, inner mounts.Backend) mounts.Backend {
		return mounts.Around(inner, again(reads))
	}})
}

func TestLostCommitsCatchesStacksThatAreWrong(t *testing.T) {
	type stack func(inner mounts.Backend) mounts.Backend
	for name, tt := range map[string]struct {
		build stack
		fault Fault
	}{
		"reads from before a commit": {func(inner mounts.Backend) mounts.Backend {
			held := map[string]mounts.Response{}
			return mounts.Around(inner, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				load, ok := req.(*mounts.LoadTableRequest)
				if !ok {
					resp, err := next(ctx, req)
					if err == nil {
						clear(held)
					}
					return resp, err
				}
				if resp := held[load.Table.String()]; resp != nil {
					return resp, nil
				}
				resp, err := next(ctx, req)
				if err == nil {
					held[load.Table.String()] = resp
				}
				return resp, err
			})
		}, After},
		"forgets that nobody knows": {around(func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil {
				e := *mounts.AsError(err)
				e.OutcomeUnknown = false
				return nil, &e
			}
			return resp, nil
		}), MidAnswer},
		"reports a refused commit as done": {around(func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil && req.Op() == capabilities.CommitTable {
				return canned(req), nil
			}
			return resp, err
		}), Before},
		"reports a refused replace of a view as done": {around(func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if err != nil && req.Op() == capabilities.ReplaceView {
				return canned(req), nil
			}
			return resp, err
		}), Before},
	} {
		m := Matrix{Build: func(_ testing.TB, inner mounts.Backend) mounts.Backend { return tt.build(inner) }}
		op := capabilities.CommitTable
		if strings.Contains(name, "view") {
			op = capabilities.ReplaceView
		}
		if wrong := m.lose(t, catalog(t), op, tt.fault); len(wrong) == 0 {
			t.Errorf("a stack that %s passes", name)
		}
	}
}
