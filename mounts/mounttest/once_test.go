package mounttest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
)

// keeper honours Idempotency-Keys in front of a backend, in memory: right, but
// for the flaw that a test gives it.
type keeper struct {
	mounts.Backend
	flaw string
	mu   sync.Mutex
	kept map[string]kept
}

type kept struct {
	fingerprint [32]byte
	resp        mounts.Response
	err         error
}

func newKeeper(flaw string) *keeper {
	k := &keeper{flaw: flaw, kept: map[string]kept{}}
	k.Backend = mounts.Around(memory.New(memory.Options{}), k.once)
	return k
}

func (k *keeper) KeyLifetime() time.Duration { return time.Hour }

func (k *keeper) once(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
	caller := mounts.CallerFrom(ctx)
	covered := capabilities.Changes().Has(req.Op()) || k.flaw == "answers reads from memory" && req.Op() == capabilities.LoadTable
	if caller.Once == nil || !covered || k.flaw == "keeps nothing" {
		return next(ctx, req)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	name := caller.Principal + caller.Once.Key
	if k.flaw == "mixes up principals" {
		name = caller.Once.Key
	}
	if was, ok := k.kept[name]; ok {
		if was.fingerprint != caller.Once.Fingerprint && k.flaw != "takes any request for the first" {
			return nil, &mounts.Error{Kind: mounts.Unprocessable, Op: req.Op(), Ident: req.Object()}
		}
		if create, ok := req.(*mounts.CreateTableRequest); ok && create.StageCreate && k.flaw == "stages anew" {
			return next(ctx, req)
		}
		if was.err != nil && k.flaw == "rewords refusals" {
			return nil, &mounts.Error{Kind: mounts.AsError(was.err).Kind, Op: req.Op(), Ident: req.Object(), Msg: "as before"}
		}
		return was.resp, was.err
	}
	resp, err := next(ctx, req)
	if err == nil || k.flaw != "forgets refusals" {
		k.kept[name] = kept{caller.Once.Fingerprint, resp, err}
	}
	return resp, err
}

func TestSuiteCatchesBackendsThatHonourKeysWrongly(t *testing.T) {
	var all []string
	for _, c := range onceChecks() {
		if c.keys == keysHonoured && c.needs.Without(memory.New(memory.Options{}).Capabilities()) == 0 {
			all = append(all, c.name)
		}
	}
	for flaw, caught := range map[string][]string{
		"": nil, // none: every subtest passes
		"keeps nothing": {"once/namespaces", "once/creation", "once/staged creation", "once/commit", "once/commit of nothing", "once/transaction", "once/drop",
			"once/rename", "once/views", "once/at once", "once/refusals", "once/conflict of a commit", "once/another request", "once/two principals"},
		"mixes up principals":             {"once/two principals"},
		"takes any request for the first": {"once/another request"},
		"stages anew":                     {"once/staged creation"},
		"rewords refusals":                {"once/refusals", "once/conflict of a commit"},
		"forgets refusals":                {"once/refusals", "once/conflict of a commit"},
		"answers reads from memory":       {"once/reads and reports"},
	} {
		t.Run(flaw, func(t *testing.T) {
			if flaw == "" {
				for _, subtest := range all {
					if found := problems(t, subtest, newKeeper("")); len(found) > 0 {
						t.Errorf("%q fails without a defect: %q", subtest, found)
					}
				}
			}
			for _, subtest := range caught {
				if found := problems(t, subtest, newKeeper(flaw)); len(found) == 0 {
					t.Errorf("a backend that %s passes %q", flaw, subtest)
				}
			}
		})
	}
	if found := problems(t, "once/not honoured", newKeeper("")); len(found) == 0 {
		t.Error("a backend that honours keys and does not say so passes")
	}
}
