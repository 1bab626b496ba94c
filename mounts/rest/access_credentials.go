package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// LoadCredentials implements mounts.Backend: at the remote's own route, or by a
// load of the table where it has none. To ask here is to ask for delegation.
func (b *Backend) LoadCredentials(ctx context.Context, req *mounts.LoadCredentialsRequest) (*mounts.Credentials, error) {
	c, err := b.begin(req)
	if err != nil {
		return nil, err
	}
	if req.Table.Namespace.IsRoot() || req.Table.Name == "" {
		return nil, &mounts.Error{Kind: mounts.NoSuchTable, Op: c.op, Ident: c.object}
	}
	plan := ""
	if req.PlanID != "" {
		var ok bool
		if plan, ok = b.unseal(sealedPlan, req.Table, req.PlanID); !ok {
			return nil, noSuchPlan(c)
		}
	}
	if c.url, err = c.at.object(req.Table, "tables", c); err != nil {
		return nil, err
	}
	c.delegation = vendedCredentials
	var query []string
	if !c.at.has.Has(capabilities.LoadCredentials) {
		query = append(query, "snapshots="+string(mounts.SnapshotsRefs)) // the smaller answer
	} else {
		c.url += "/credentials"
		if plan != "" {
			query = append(query, "planId="+escape(plan, unreserved))
		}
	}
	if chain := referencedBy(c.at, req.ReferencedBy); chain != "" {
		query = append(query, "referenced-by="+chain)
	}
	if len(query) > 0 {
		c.url += "?" + strings.Join(query, "&")
	}
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(c, a)
	}
	if !c.at.has.Has(capabilities.LoadCredentials) {
		t, err := b.readTable(c, a)
		if err != nil {
			return nil, err
		}
		return &mounts.Credentials{StorageCredentials: t.StorageCredentials}, nil
	}
	return b.readCredentialsAnswer(c, a)
}

func (b *Backend) readCredentialsAnswer(c call, a *answer) (*mounts.Credentials, error) {
	var value jsontext.Value
	err := members(a.body, func(name string, v jsontext.Value) error {
		if name == "storage-credentials" {
			value = v
		}
		return nil
	})
	if err == nil && len(value) == 0 && !c.quirks().MissingLists {
		err = errNoCredentials
	}
	var list []mounts.StorageCredential
	if err == nil {
		list, err = readCredentials(value)
	}
	if err == nil {
		list, err = usable(list)
	}
	if err != nil {
		return nil, broken(c, err)
	}
	if err := b.mayRelay(c, list); err != nil {
		return nil, err
	}
	if err := fresh(c, list); err != nil {
		return nil, err
	}
	return &mounts.Credentials{StorageCredentials: list}, nil
}
