package router

import (
	"context"

	"github.com/icefield/icefield/mounts"
)

// passOn answers with a document as it is. It may hold credentials, so that it
// is not to be stored unless whoever made it says how.
func (x *exchange) passOn(d *mounts.Document) error {
	return x.document(reply{secret: true, cacheControl: d.CacheControl}, d.Body, func(b []byte) ([]byte, int) { return b, 0 })
}

func planScan(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	scan, err := x.raw(ctx)
	if err != nil {
		return err
	}
	plan, err := ask[*mounts.Document](ctx, x, &mounts.PlanScanRequest{Table: id, Delegation: x.delegation(), Body: scan})
	if err != nil {
		return err
	}
	return x.passOn(plan)
}

// plan is the id in the path: opaque, but no other than a name may look.
func (x *exchange) plan() (mounts.Identifier, string, error) {
	id, err := x.table()
	if err != nil {
		return id, "", err
	}
	plan, err := x.segment("plan")
	if err != nil {
		return id, "", badField("the plan id in the path", "is not percent-encoded as it should be")
	}
	if flaw := nameFlaw(plan); flaw != "" {
		return id, "", &mounts.Error{Kind: mounts.NoSuchPlan, Ident: id, Msg: "there is no such plan for {object}"}
	}
	return id, plan, nil
}

func fetchPlan(ctx context.Context, x *exchange) error {
	id, plan, err := x.plan()
	if err != nil {
		return err
	}
	state, err := ask[*mounts.Document](ctx, x, &mounts.FetchPlanRequest{Table: id, Delegation: x.delegation(), PlanID: plan})
	if err != nil {
		return err
	}
	return x.passOn(state)
}

func cancelPlan(ctx context.Context, x *exchange) error {
	id, plan, err := x.plan()
	if err != nil {
		return err
	}
	return do(ctx, x, &mounts.CancelPlanRequest{Table: id, PlanID: plan})
}

func fetchScanTasks(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	task, err := x.raw(ctx)
	if err != nil {
		return err
	}
	tasks, err := ask[*mounts.Document](ctx, x, &mounts.FetchScanTasksRequest{Table: id, Body: task})
	if err != nil {
		return err
	}
	return x.passOn(tasks)
}

func loadCredentials(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	c, err := ask[*mounts.Credentials](ctx, x, &mounts.LoadCredentialsRequest{
		Table: id, PlanID: x.values().Get("planId"), Delegation: x.delegation(),
		ReferencedBy: readReferencedBy(x.r.URL.RawQuery),
	})
	if err != nil {
		return err
	}
	x.answer(reply{secret: true}, func(b []byte) []byte {
		return append(appendCredentials(append(b, `{"storage-credentials":`...), c.StorageCredentials), '}')
	})
	return nil
}

func signRequest(ctx context.Context, x *exchange) error {
	id, err := x.table()
	if err != nil {
		return err
	}
	toSign, err := x.raw(ctx)
	if err != nil {
		return err
	}
	signed, err := ask[*mounts.Document](ctx, x, &mounts.SignStorageRequest{Table: id, Body: toSign})
	if err != nil {
		return err
	}
	return x.passOn(signed)
}
