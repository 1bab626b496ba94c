package mounttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/memory"
)

// replacing makes an interceptor that changes every replace of a view.
func replacing(change func(r *mounts.ReplaceViewRequest)) func(*memory.Backend) mounts.Interceptor {
	return on(func(ctx context.Context, req *mounts.ReplaceViewRequest, next mounts.Handler) (mounts.Response, error) {
		out := *req
		out.Updates = slices.Clone(req.Updates)
		change(&out)
		return next(ctx, &out)
	})
}

// with adds an update, unless the replace has none.
func with(update string) func(*memory.Backend) mounts.Interceptor {
	return replacing(func(r *mounts.ReplaceViewRequest) {
		if len(r.Updates) > 0 {
			r.Updates = append(r.Updates, raw(update))
		}
	})
}

// edited replaces text in every document that a view is written with.
func edited(old, fresh string) func(*memory.Backend) mounts.Interceptor {
	return func(*memory.Backend) mounts.Interceptor {
		edit := func(doc json.RawMessage) json.RawMessage { return raw(strings.ReplaceAll(string(doc), old, fresh)) }
		return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
			switch r := req.(type) {
			case *mounts.CreateViewRequest:
				out := *r
				out.ViewVersion = edit(r.ViewVersion)
				req = &out
			case *mounts.ReplaceViewRequest:
				out := *r
				out.Updates = make([]json.RawMessage, len(r.Updates))
				for i, update := range r.Updates {
					out.Updates[i] = edit(update)
				}
				req = &out
			}
			return next(ctx, req)
		}
	}
}

func viewMutants() []mutant {
	return []mutant{
		{"does not check the requirements of a view", replacing(func(r *mounts.ReplaceViewRequest) { r.Requirements = nil }),
			[]string{"views/replace requirements", "views/replace a dropped one"}},
		{"forgets the versions before", with(`{"action":"set-properties","updates":{"version.history.num-entries":"1"}}`),
			[]string{"views/replace", "concurrent/view replaces"}},
		{"keeps every version", with(`{"action":"set-properties","updates":{"version.history.num-entries":"100"}}`),
			[]string{"views/replace keeps its history short"}},
		{"moves a view when it is replaced", with(`{"action":"set-location","location":"memory://warehouse/moved"}`), []string{"views/replace"}},
		{"lets a replace take a dialect away", with(`{"action":"set-properties","updates":{"replace.drop-dialect.allowed":"true"}}`),
			[]string{"views/replace dialects"}},
		{"lets a replace move a view anywhere", on(func(ctx context.Context, req *mounts.ReplaceViewRequest, next mounts.Handler) (mounts.Response, error) {
			resp, err := next(ctx, req)
			if errors.Is(err, mounts.BadRequest) && strings.Contains(string(req.Updates[len(req.Updates)-1]), "set-location") {
				return next(ctx, &mounts.ReplaceViewRequest{View: req.View, Updates: req.Updates[:len(req.Updates)-1]})
			}
			return resp, err
		}), []string{"views/replace location"}},
		{"skips updates of views that it does not know", replacing(func(r *mounts.ReplaceViewRequest) {
			r.Updates = slices.DeleteFunc(r.Updates, func(u json.RawMessage) bool { return strings.Contains(string(u), "no-such") })
		}), []string{"views/replace invalid"}},
		{"answers a replace from before it", on(func(ctx context.Context, req *mounts.ReplaceViewRequest, next mounts.Handler) (mounts.Response, error) {
			before, loadErr := next(ctx, &mounts.LoadViewRequest{View: req.View})
			resp, err := next(ctx, req)
			if err == nil && loadErr == nil {
				return before, nil
			}
			return resp, err
		}), []string{"views/replace", "views/replace location"}},
		{"creates a view that a replace does not find", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if r, ok := req.(*mounts.ReplaceViewRequest); ok && errors.Is(err, mounts.NoSuchView) {
					inner.PutView(r.View, ViewMetadata())
					return next(ctx, &mounts.LoadViewRequest{View: r.View})
				}
				return resp, err
			}
		}, []string{"views/replace missing", "views/replace a dropped one", "views/replace after a rename"}},
		{"makes a new version of what is the same", func(*memory.Backend) mounts.Interceptor {
			n := 0
			return replacing(func(r *mounts.ReplaceViewRequest) {
				n++
				for i, update := range r.Updates {
					r.Updates[i] = raw(strings.ReplaceAll(string(update), `"engine-name":"suite"`, fmt.Sprintf(`"engine-name":"suite %d"`, n)))
				}
			})(nil)
		}, []string{"views/replace by the same", "views/replace and back"}},
		{"reads numbers of a view as floats", edited("9007199254740993", "9007199254740992"),
			[]string{"views/create keeps unknown fields", "views/replace keeps unknown fields"}},
		{"drops fields that it does not know", edited(`"later":[1,{"x":null}],`, ``), []string{"views/replace keeps unknown fields"}},
		{"writes another default namespace", edited(`"default-namespace":["`, `"default-namespace":["prod","`),
			[]string{"views/default namespace", "views/replace the default namespace"}},
		{"mixes up the dialects", edited(`"trino"`, `"spark2"`), []string{"views/create several dialects"}},
		{"puts views of one name in one place", on(func(ctx context.Context, req *mounts.CreateViewRequest, next mounts.Handler) (mounts.Response, error) {
			out := *req
			if out.Location == "" {
				out.Location = "memory://warehouse/" + req.Name
			}
			return next(ctx, &out)
		}), []string{"views/drop then create again", "views/rename then the old name again"}},
		{"lets a view have the name of a table", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if r, ok := req.(*mounts.CreateViewRequest); ok && errors.Is(err, mounts.AlreadyExists) {
					inner.PutView(r.Object(), ViewMetadata())
					return next(ctx, &mounts.LoadViewRequest{View: r.Object()})
				}
				return resp, err
			}
		}, []string{"views/create taken", "concurrent/one name for a table and a view"}},
		{"overwrites the destination of a view's rename", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				if r, ok := req.(*mounts.RenameViewRequest); ok && !r.Source.Equal(r.Destination) {
					_ = inner.DropView(ctx, &mounts.DropViewRequest{View: r.Destination})
				}
				return next(ctx, req)
			}
		}, []string{"views/rename refused"}},
		{"keeps the old name of a renamed view", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if r, ok := req.(*mounts.RenameViewRequest); ok && err == nil {
					moved, _ := inner.LoadView(ctx, &mounts.LoadViewRequest{View: r.Destination})
					inner.PutView(r.Source, moved.Metadata)
				}
				return resp, err
			}
		}, []string{"views/rename", "views/replace after a rename"}},
		{"registers a view over another", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				if r, ok := req.(*mounts.RegisterViewRequest); ok {
					_ = inner.DropView(ctx, &mounts.DropViewRequest{View: r.Object()})
				}
				return next(ctx, req)
			}
		}, []string{"views/register taken"}},
		{"registers anything as a view", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if r, ok := req.(*mounts.RegisterViewRequest); ok && err != nil {
					inner.PutView(r.Object(), ViewMetadata())
					return next(ctx, &mounts.LoadViewRequest{View: r.Object()})
				}
				return resp, err
			}
		}, []string{"views/register a table's metadata", "views/register missing metadata"}},
		{"drops a table that is asked for as a view", func(inner *memory.Backend) mounts.Interceptor {
			return func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
				resp, err := next(ctx, req)
				if r, ok := req.(*mounts.DropViewRequest); ok && errors.Is(err, mounts.NoSuchView) {
					return nil, inner.DropTable(ctx, &mounts.DropTableRequest{Table: r.View})
				}
				return resp, err
			}
		}, []string{"views/drop"}},
	}
}
