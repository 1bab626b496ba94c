package commit

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// Base is the state that a commit builds on.
type Base struct {
	// Metadata is the current metadata document. It is never changed.
	Metadata json.RawMessage
	// Location is where the file that holds it lies; it goes into the new
	// document's metadata-log.
	Location string
}

var errTooDeep = errors.New("nested too deeply")

// Options are the engine's sources of time and chance. Zero values: the clock
// and random UUIDs.
type Options struct {
	Now     time.Time
	NewUUID func() uuid.UUID
}

// Result is what a commit leads to.
type Result struct {
	// Metadata is the new document; the base's own bytes if nothing changed.
	Metadata json.RawMessage
	// Changed is false for a commit that changes nothing: then nothing needs to
	// be written and the pointer stays.
	Changed bool
	// TableLocation is the new document's location, without a trailing slash.
	TableLocation string
}

// Bounds of one request.
const (
	maxRequirements = 10_000
	maxUpdates      = 10_000
	// maxSent is how many updates may be sent, before removals that follow each
	// other are joined to one: see merge.
	maxSent  = 50_000
	maxDepth = 500 // of JSON; a schema with types in 100 levels has about 300
)

// Table checks every requirement against base and applies the updates in order.
// A nil base is a table that does not exist; only assert-create, and nothing
// beside it, can commit to that.
//
// Errors are *mounts.Error about req.Table. BadRequest: a request that is not
// shaped as the specification says, or with an update or requirement that is
// not known here; nothing was looked at. ValidationFailed: an update that the
// table does not allow. NoSuchTable: no base. AlreadyExists: assert-create, and
// the table exists. CommitConflict: a requirement does not hold, or a snapshot
// was built on older metadata; the client may rebuild and try again. Internal:
// the base cannot be read. It is a pure function of its arguments and safe for
// concurrent use.
func Table(base *Base, req *mounts.CommitTableRequest, opt Options) (*Result, error) {
	res, err := commitTable(base, req, opt.withDefaults())
	if err != nil {
		return nil, about(err, req.Table)
	}
	return res, nil
}

func commitTable(base *Base, req *mounts.CommitTableRequest, opt Options) (*Result, error) {
	requirements, updates, err := parseRequest(req)
	if err != nil {
		return nil, err
	}
	create := slices.ContainsFunc(requirements, func(r *requirement) bool { return r.Type == assertCreate })
	switch {
	case create && slices.ContainsFunc(requirements, func(r *requirement) bool { return r.Type != assertCreate }):
		return nil, badRequest("assert-create says that the table does not exist, so no other requirement can stand beside it")
	case create && base != nil:
		return nil, alreadyExists()
	case create:
		return createByCommit(updates, opt)
	case base == nil:
		return nil, &mounts.Error{Kind: mounts.NoSuchTable}
	}
	s, err := load(base.Metadata, opt)
	if err != nil {
		return nil, err
	}
	for _, r := range requirements {
		if err := r.check(s); err != nil {
			return nil, err
		}
	}
	if err := s.applyAll(updates); err != nil {
		return nil, err
	}
	if !s.changed {
		location, err := s.text("location")
		return &Result{Metadata: base.Metadata, TableLocation: trimSlash(location)}, err
	}
	return s.finish(base.Location)
}

// parseRequest reads the whole request before anything else is done with it.
func parseRequest(req *mounts.CommitTableRequest) ([]*requirement, []*update, error) {
	if len(req.Requirements) > maxRequirements || len(req.Updates) > maxSent {
		return nil, nil, tooMany(len(req.Requirements), len(req.Updates))
	}
	requirements := make([]*requirement, len(req.Requirements))
	updates := make([]*update, len(req.Updates))
	for i, raw := range req.Requirements {
		value, err := compact(raw)
		if err != nil {
			return nil, nil, notJSON("requirements", err)
		}
		if requirements[i], err = parseRequirement(i, value); err != nil {
			return nil, nil, err
		}
	}
	for i, raw := range req.Updates {
		value, err := compact(raw)
		if err != nil {
			return nil, nil, notJSON("updates", err)
		}
		if updates[i], err = parseUpdate(i, value); err != nil {
			return nil, nil, err
		}
	}
	if updates = merge(updates); len(updates) > maxUpdates {
		return nil, nil, tooMany(len(requirements), len(updates))
	}
	return requirements, updates, nil
}

func tooMany(requirements, updates int) error {
	return badRequest("a commit has at most %d requirements and %d updates; this one has %d and %d", maxRequirements, maxUpdates, requirements, updates)
}

// merge joins removals of the same kind that follow each other. Older clients
// send one update for each snapshot of a long history.
func merge(updates []*update) []*update {
	merged := updates[:0]
	for _, u := range updates {
		if n := len(merged); n > 0 && u.removes != nil && merged[n-1].action == u.action {
			merged[n-1].removes = append(merged[n-1].removes, u.removes...)
			continue
		}
		merged = append(merged, u)
	}
	return merged
}

// compact copies a value without its blanks, and proves that it is JSON of
// bounded depth with no name twice in one object. Numbers and strings keep their
// spelling.
func compact(raw json.RawMessage) (jsontext.Value, error) {
	if jsonDepth(raw) > maxDepth {
		return nil, errTooDeep
	}
	return jsontext.AppendFormat(nil, raw, jsontext.PreserveRawStrings(true))
}

func (s *state) applyAll(updates []*update) error {
	for _, u := range updates {
		if err := u.apply(s); err != nil {
			return err
		}
	}
	return nil
}

// createByCommit makes a table of a commit with assert-create, as staged
// creates end. Clients may leave out what has a default: the choice of the only
// schema, an unpartitioned spec, no sort order.
func createByCommit(updates []*update, opt Options) (*Result, error) {
	version := int64(defaultFormatVersion)
	for _, u := range updates {
		if u.action == "upgrade-format-version" {
			version = u.version
			break
		}
	}
	if version < 1 || version > maxFormatVersion {
		return nil, invalid("format version %d is not supported; the versions are 1 to %d", version, maxFormatVersion)
	}
	s := empty(int(version), opt)
	if err := s.applyAll(updates); err != nil {
		return nil, err
	}
	if err := s.complete(); err != nil {
		return nil, err
	}
	return s.finish("")
}

// complete fills in what a table that is being created still lacks.
func (s *state) complete() error {
	list, err := s.list(schemas)
	if err != nil {
		return err
	}
	if len(list.entries) == 0 {
		return invalid("a commit that creates a table needs add-schema")
	}
	if location, err := s.text("location"); err != nil {
		return err
	} else if location == "" {
		return invalid("a commit that creates a table needs set-location")
	}
	if id, err := s.text("table-uuid"); err != nil {
		return err
	} else if id == uuid.Nil.String() {
		s.doc.set("table-uuid", quote(s.opt.NewUUID().String()))
	}
	for _, d := range []struct {
		of       section
		key, raw string
		add      func([]byte) error
		choose   func(int64) error
	}{
		{schemas, "current-schema-id", "", nil, s.setCurrentSchema},
		{specs, "default-spec-id", `{"spec-id":0,"fields":[]}`, s.addSpec, s.setDefaultSpec},
		{sortOrders, "default-sort-order-id", `{"order-id":0,"fields":[]}`, s.addSortOrder, s.setDefaultSortOrder},
	} {
		if id, err := s.int(d.key, -1); err != nil {
			return err
		} else if id >= 0 {
			continue
		}
		if s.lastAdded[d.of] == nil && d.add != nil {
			if err := d.add([]byte(d.raw)); err != nil {
				return err
			}
		}
		if err := d.choose(-1); err != nil {
			return err
		}
	}
	return nil
}

func (opt Options) withDefaults() Options {
	if opt.Now.IsZero() {
		opt.Now = time.Now()
	}
	if opt.NewUUID == nil {
		opt.NewUUID = uuid.New
	}
	return opt
}
