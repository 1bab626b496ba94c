package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// Scans are planned by the remote, where it does that: its answers pass as they
// are, but for the plan's id and tasks, which are sealed, the storage
// credentials, which go the way of all others, and the words of a failure.

// PlanScan implements mounts.Backend.
func (b *Backend) PlanScan(ctx context.Context, req *mounts.PlanScanRequest) (*mounts.Document, error) {
	c, err := b.beginScan(req, req.Table, "plan")
	if err != nil {
		return nil, err
	}
	c.method, c.body, c.delegation = http.MethodPost, req.Body, b.delegation(req.Delegation)
	return b.fetchPlan(ctx, c, "")
}

// FetchPlan implements mounts.Backend.
func (b *Backend) FetchPlan(ctx context.Context, req *mounts.FetchPlanRequest) (*mounts.Document, error) {
	c, err := b.beginPlan(req, req.Table, req.PlanID)
	if err != nil {
		return nil, err
	}
	c.delegation = b.delegation(req.Delegation)
	return b.fetchPlan(ctx, c, req.PlanID)
}

// CancelPlan implements mounts.Backend.
func (b *Backend) CancelPlan(ctx context.Context, req *mounts.CancelPlanRequest) error {
	c, err := b.beginPlan(req, req.Table, req.PlanID)
	if err != nil {
		return err
	}
	c.method = http.MethodDelete
	a, err := b.do(ctx, c)
	if err != nil {
		return err
	}
	if a.status != http.StatusNoContent && a.status != http.StatusOK {
		return refusal(c, a)
	}
	return nil
}

// FetchScanTasks implements mounts.Backend.
func (b *Backend) FetchScanTasks(ctx context.Context, req *mounts.FetchScanTasksRequest) (*mounts.Document, error) {
	c, err := b.beginScan(req, req.Table, "tasks")
	if err != nil {
		return nil, err
	}
	c.method = http.MethodPost
	if c.body, err = b.openTask(c, req); err != nil {
		return nil, err
	}
	return b.fetchPlan(ctx, c, "")
}

func (b *Backend) beginScan(req mounts.Request, table mounts.Identifier, word string) (call, error) {
	c, err := b.begin(req)
	if err != nil {
		return c, err
	}
	if table.Namespace.IsRoot() || table.Name == "" {
		return c, &mounts.Error{Kind: mounts.NoSuchTable, Op: c.op, Ident: c.object}
	}
	if c.url, err = c.at.object(table, "tables", c); err != nil {
		return c, err
	}
	c.url += "/" + word
	return c, nil
}

// beginPlan is the call about a plan that this mount handed out.
func (b *Backend) beginPlan(req mounts.Request, table mounts.Identifier, plan string) (call, error) {
	c, err := b.beginScan(req, table, "plan/")
	if err != nil {
		return c, err
	}
	id, ok := b.unseal(sealedPlan, table, plan)
	if !ok || id == "" {
		return c, noSuchPlan(c)
	}
	c.url += segment(id)
	return c, nil
}

func noSuchPlan(c call) error {
	return &mounts.Error{Kind: mounts.NoSuchPlan, Op: c.op, Ident: c.object, Msg: "there is no such plan for {object}"}
}

// openTask is the body of a request for tasks with the remote's own plan task in
// it.
func (b *Backend) openTask(c call, req *mounts.FetchScanTasksRequest) ([]byte, error) {
	found := false
	body, err := rewritten(req.Body, func(name string, value jsontext.Value) (jsontext.Value, error) {
		if name != "plan-task" {
			return value, nil
		}
		sealed, ok := stringValue(value)
		if !ok {
			return nil, errWrongType
		}
		found = true
		task, ok := b.unseal(sealedTask, req.Table, sealed)
		if !ok {
			return nil, &mounts.Error{Kind: mounts.NoSuchPlanTask, Op: c.op, Ident: c.object, Msg: "there is no such plan task for {object}"}
		}
		return jsontext.AppendQuote(nil, task)
	})
	var e *mounts.Error
	switch {
	case errors.As(err, &e):
		return nil, e
	case err != nil || !found:
		return nil, &mounts.Error{Kind: mounts.BadRequest, Op: c.op, Ident: c.object, Msg: "plan-task is missing or no string"}
	}
	return body, nil
}

// fetchPlan makes the call and reads its answer. plan is the sealed id of the
// plan, if it is known already.
func (b *Backend) fetchPlan(ctx context.Context, c call, plan string) (*mounts.Document, error) {
	a, err := b.do(ctx, c)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, refusal(c, a)
	}
	d := &mounts.Document{PlanID: plan}
	var credentials jsontext.Value
	d.Body, err = rewritten(a.body, func(name string, value jsontext.Value) (jsontext.Value, error) {
		switch name {
		case "plan-id":
			id, ok := stringValue(value)
			if !ok || id == "" {
				return value, nil // null, or not an id that anybody could use
			}
			if d.PlanID, err = b.seal(sealedPlan, c.object, id); err != nil {
				return nil, err
			}
			return jsontext.AppendQuote(nil, d.PlanID)
		case "plan-tasks":
			return b.sealTasks(c, value)
		case "storage-credentials":
			credentials = value
			return nil, nil
		case "config", "remote-signing-config":
			return nil, nil // in no plan that the spec has, and no place for access
		case "error":
			return failureOf(c, a, value)
		}
		return value, nil
	})
	if err != nil {
		return nil, broken(c, err)
	}
	if !readWish(c.delegation).credentials {
		return d, nil
	}
	list, err := readCredentials(credentials)
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
	d.StorageCredentials, d.Refresh = list, len(list) > 0
	return d, nil
}

func (b *Backend) sealTasks(c call, value jsontext.Value) (jsontext.Value, error) {
	if value.Kind() == 'n' {
		return value, nil
	}
	out, first := append(make([]byte, 0, 2*len(value)), '['), true
	err := elements(value, func(element jsontext.Value) error {
		task, ok := stringValue(element)
		if !ok {
			return fmt.Errorf("plan-tasks: %w", errWrongType)
		}
		sealed, err := b.seal(sealedTask, c.object, task)
		if err != nil {
			return err
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out, err = jsontext.AppendQuote(out, sealed)
		return err
	})
	return append(out, ']'), err
}

// failureOf is the error of a plan that failed, in our names and without the
// remote's addresses and stack.
func failureOf(c call, a *answer, value jsontext.Value) (jsontext.Value, error) {
	if value.Kind() != '{' {
		return value, nil
	}
	var e struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    int    `json:"code"`
	}
	e.Type, e.Code = "InternalServerError", http.StatusInternalServerError
	err := members(value, func(name string, value jsontext.Value) error {
		switch name {
		case "message":
			e.Message, _ = stringValue(value)
		case "type":
			if text, ok := stringValue(value); ok {
				e.Type = plain(text, a.hide)
			}
		case "code":
			var n int
			if json.Unmarshal(value, &n) == nil && n >= 400 && n < 600 {
				e.Code = n
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	e.Message = planFailed(c, plain(e.Message, a.hide))
	return json.Marshal(e)
}

// planFailed is the remote's message without its own name for the table.
func planFailed(c call, text string) string {
	const failed = "the remote catalog could not plan the scan"
	if text = (said{message: text}).named(c); text == "" {
		return failed
	}
	return failed + ": " + text
}

// named is the message with the object called what it is rather than by the
// remote's name, for texts whose placeholders nobody fills in.
func (s said) named(c call) string {
	text := s.ours(c)
	text = string(bytes.ReplaceAll([]byte(text), []byte("the namespace of {object}"), []byte("its namespace")))
	return string(bytes.ReplaceAll([]byte(text), []byte("{object}"), []byte("the table")))
}

// rewritten is an object with some members replaced: each is visited, and what
// comes back stands in its place, in the bytes that it is; nil leaves the member
// out. An object with nothing replaced stays as it is.
func rewritten(object []byte, visit func(name string, value jsontext.Value) (jsontext.Value, error)) ([]byte, error) {
	out, changed, first := append(make([]byte, 0, len(object)+512), '{'), false, true
	err := members(object, func(name string, value jsontext.Value) error {
		replaced, err := visit(name, value)
		if err != nil {
			return err
		}
		changed = changed || replaced == nil || &replaced[0] != &value[0]
		if replaced == nil {
			return nil
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return err
		}
		out = append(append(out, ':'), replaced...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !changed {
		return object, nil
	}
	return append(out, '}'), nil
}
