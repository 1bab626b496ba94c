package federate

import (
	"context"
	"errors"
	"fmt"

	"github.com/icefield/icefield/mounts"
)

// CheckShadows refuses a mount table in which a mount would hide a namespace
// that the catalog underneath already holds. Every such mount is in the error.
// A catalog underneath that is not required and cannot be asked is not waited
// for: its namespaces of such names stay hidden (see New's listing).
func CheckShadows(ctx context.Context, table *mounts.Map) error {
	under := table.Under()
	if under == nil {
		return nil
	}
	var problems []error
	for _, m := range table.Named() {
		_, err := under.Tree.LoadNamespace(ctx, &mounts.LoadNamespaceRequest{Namespace: mounts.Namespace{m.Name}})
		switch {
		case err == nil:
			problems = append(problems, fmt.Errorf("mount %q would hide the namespace %q that %s already holds: "+
				"rename the mount, or drop that namespace first", m.Name, m.Name, describe(under)))
		case errors.Is(err, mounts.NoSuchNamespace):
		case under.Required:
			return errors.Join(append(problems, fmt.Errorf("%s cannot be asked for the namespace %q: %w",
				describe(under), m.Name, err))...)
		}
	}
	return errors.Join(problems...)
}

// Underneath puts the rule of CheckShadows around the catalog underneath where
// it is served as a catalog of its own: creating a namespace there that a mount
// of the tree would hide is refused like a name that is taken.
func Underneath(view mounts.Backend, table *mounts.Map) mounts.Backend {
	return mounts.Around(view, func(ctx context.Context, req mounts.Request, next mounts.Handler) (mounts.Response, error) {
		if create, ok := req.(*mounts.CreateNamespaceRequest); ok && len(create.Namespace) == 1 && table.Mounted(create.Namespace[0]) != nil {
			return nil, failure(req, mounts.AlreadyExists,
				"Namespace already exists: {object} (it is a mount, which would hide a namespace of that name)")
		}
		return next(ctx, req)
	})
}
