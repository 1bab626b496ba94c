package router

import (
	"bytes"
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// passOn answers with a document as it is. It may hold credentials, so that it
// is not to be stored unless whoever made it says how.
func (x *exchange) passOn(d *mounts.Document) error {
	return x.document(reply{secret: true, cacheControl: d.CacheControl}, d.Body, func(b []byte) ([]byte, int) { return b, 0 })
}

// planned answers with a scan plan, its credentials put back as its last member.
func (x *exchange) planned(id mounts.Identifier, d *mounts.Document) error {
	open, ok := bytes.CutSuffix(bytes.TrimRight(d.Body, " \t\r\n"), []byte("}"))
	if len(d.StorageCredentials) == 0 || !ok {
		return x.passOn(d)
	}
	list := d.StorageCredentials
	if d.Refresh {
		list = x.refreshed(id, d.PlanID, list)
	}
	return x.document(reply{secret: true, cacheControl: d.CacheControl}, open, func(b []byte) ([]byte, int) {
		if len(bytes.TrimSpace(open)) > 1 {
			b = append(b, ',')
		}
		return append(appendCredentials(append(b, `"storage-credentials":`...), list), '}'), 0
	})
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
	return x.planned(id, plan)
}

// plan is the id in the path, which is opaque.
func (x *exchange) plan() (mounts.Identifier, string, error) {
	id, err := x.table()
	if err != nil {
		return id, "", err
	}
	plan, err := x.segment("plan")
	if err != nil {
		return id, "", badField("the plan id in the path", "is not percent-encoded as it should be")
	}
	if plan == "" || len(plan) > pagination.MaxToken || strings.ContainsFunc(plan, unicode.IsControl) || !utf8.ValidString(plan) {
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
	return x.planned(id, state)
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
	plan := x.values().Get("planId")
	c, err := ask[*mounts.Credentials](ctx, x, &mounts.LoadCredentialsRequest{
		Table: id, PlanID: plan, Delegation: x.delegation(),
		ReferencedBy: readReferencedBy(x.r.URL.RawQuery),
	})
	if err != nil {
		return err
	}
	list := x.refreshed(id, plan, c.StorageCredentials)
	x.answer(reply{secret: true}, func(b []byte) []byte {
		return append(appendCredentials(append(b, `{"storage-credentials":`...), list), '}')
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
	signed, err := ask[*mounts.Document](ctx, x, &mounts.SignStorageRequest{Table: id, Body: toSign, State: x.values().Get("state")})
	if err != nil {
		return err
	}
	return x.passOn(signed)
}
