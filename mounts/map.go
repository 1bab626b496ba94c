package mounts

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// UnderName is the name, in the mount table, of the catalog underneath: the one
// that holds every top-level namespace that no other mount claims.
const UnderName = "/"

// Mount is one row of the mount table.
type Mount struct {
	// Name is the top-level namespace it claims, or UnderName.
	Name string
	// ViewName is what the mount is called as a catalog of its own: its warehouse
	// and path prefix. Equal to Name, but for the catalog underneath.
	ViewName string
	// Driver is the kind of backend, as "native".
	Driver string
	// Owner is the tenant that owns everything under the mount. Only the catalog
	// underneath may have none: then Owners says whom its top-level namespaces
	// belong to.
	Owner string
	// Owners tells the tenants of top-level namespaces, as Owning does. It is set
	// where Owner is empty and the backend keeps them.
	Owners func(ctx context.Context, levels []string) (map[string]string, error)
	// Relays is how wide the storage credentials are that come from the catalog
	// behind the mount, whoever asks; NoStorage for a mount that makes its own, as
	// wide as asked. A caller who may have less gets none of them.
	Relays StorageAccess
	// FoldsCase tells that the catalog behind it takes names that differ in case
	// only for the same.
	FoldsCase bool
	// Required mounts were opened before the server started.
	Required bool
	// ReadOnly mounts refuse what changes the catalog.
	ReadOnly bool
	// Profile names the vendor whose habits are known of the catalog behind it,
	// Credentials says what becomes of that catalog's storage credentials
	// ("forward", "withhold"), or what a registry of our own does for clients
	// without any ("vend", "sign", "vend, sign"). Both are empty for none.
	Profile, Credentials string
	// Tree answers with names that begin with the mount's name (with unchanged
	// names for the catalog underneath); View with names relative to the mount.
	// Both lead to the same backend.
	Tree, View Backend
	// Status tells how the mount is doing. It does no I/O.
	Status func() Status
	// Jobs lists its background work, as Working does; nil if it has none.
	Jobs func(ctx context.Context, before string, limit int) ([]Job, error)
	// Log reads the log of its commits, as Logging does; nil if it keeps none.
	Log func(ctx context.Context, q LogQuery) (*Log, error)
	// TableAt finds a table by where it lies, as Locating does, and names it
	// relative to the mount; nil if the backend cannot.
	TableAt func(ctx context.Context, location string) (Identifier, error)
}

// Owning is a backend that keeps the tenant of each of its top-level namespaces.
type Owning interface {
	// Owners returns the tenant of each of the given top-level namespaces that
	// exists; one that nobody is known to own is there with an empty tenant.
	Owners(ctx context.Context, levels []string) (map[string]string, error)
}

// Map is the mount table: which mount answers for which top-level namespace. It
// is immutable and safe for concurrent use.
type Map struct {
	named  []*Mount // sorted by name, without the catalog underneath
	byName map[string]*Mount
	byView map[string]*Mount
	under  *Mount
}

var mountName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]*$`)

// pathWords are the words that stand where a mount's name stands in a URL.
var pathWords = []string{"namespaces", "tables", "views", "transactions", "config", "oauth"}

// CheckName says why a name cannot be a mount's, or nil. The catalog
// underneath's "/" is not a name in this sense.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a mount needs a name")
	case len(name) > 128:
		return fmt.Errorf("the mount name %.20q… is longer than 128 characters", name)
	case !mountName.MatchString(name):
		return fmt.Errorf("%q cannot name a mount: use letters, digits, _ and -, and begin with none of the dashes", name)
	case slices.Contains(pathWords, name):
		return fmt.Errorf("%q cannot name a mount: it is a word of the catalog's own paths (%s)", name, strings.Join(pathWords, ", "))
	}
	return nil
}

// NewMap builds a mount table. It refuses invalid and duplicate names, counting
// view names.
func NewMap(table ...Mount) (*Map, error) {
	m := &Map{byName: map[string]*Mount{}, byView: map[string]*Mount{}}
	for _, mount := range table {
		if mount.ViewName == "" {
			mount.ViewName = mount.Name
		}
		if err := CheckName(mount.ViewName); err != nil {
			return nil, err
		}
		if mount.Name != UnderName && mount.Name != mount.ViewName {
			return nil, fmt.Errorf("mount %q cannot have the view name %q", mount.Name, mount.ViewName)
		}
		if m.byName[mount.Name] != nil || m.byView[mount.ViewName] != nil {
			return nil, fmt.Errorf("the mount %q stands twice in the mount table", mount.ViewName)
		}
		m.byName[mount.Name], m.byView[mount.ViewName] = &mount, &mount
		if mount.Name == UnderName {
			m.under = &mount
		} else {
			m.named = append(m.named, &mount)
		}
	}
	slices.SortFunc(m.named, func(a, b *Mount) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

// Named returns the mounts that claim a top-level namespace, sorted by name.
func (m *Map) Named() []*Mount { return slices.Clone(m.named) }

// Under returns the catalog underneath, or nil.
func (m *Map) Under() *Mount { return m.under }

// All returns every mount: the named ones, then the catalog underneath.
func (m *Map) All() []*Mount {
	all := m.Named()
	if m.under != nil {
		all = append(all, m.under)
	}
	return all
}

// Mounted returns the mount that claims a top-level namespace, or nil.
func (m *Map) Mounted(level string) *Mount {
	if level == UnderName {
		return nil
	}
	return m.byName[level]
}

// Resolve returns the mount that answers for a namespace below the root: the
// one that claims its first level, else the catalog underneath, else nil.
func (m *Map) Resolve(n Namespace) *Mount {
	if len(n) > 0 {
		if mount := m.Mounted(n[0]); mount != nil {
			return mount
		}
	}
	return m.under
}

// ByView returns the mount that is called name as a catalog of its own, or nil.
func (m *Map) ByView(name string) *Mount { return m.byView[name] }
