package commit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/icefield/icefield/mounts"
)

// viewFormatVersion is the only one that there is (view spec).
const viewFormatVersion = 1

// maxHistory is how many versions of a view are kept if it does not say.
const maxHistory = 10

// Properties of a view that say what a commit may do.
const (
	historySize         = "version.history.num-entries"
	dropDialectAllowed  = "replace.drop-dialect.allowed"
	addDialectsOfBefore = "replace.append-dialect.allowed"
)

// viewState is a view's document while a commit works on it.
type viewState struct {
	*state
	before []string       // dialects of the version that was current
	added  map[int64]bool // versions, by this commit
	logged *logEntry
}

// View is Table for a view: it checks every requirement (assert-view-uuid is the
// only one) against base and applies the updates in order. Version ids are
// given here: a proposed one stands only above all others, and a version that
// says the same as an older one, but for id and time, is that one. The -1 in
// set-current-view-version and in a version's schema-id is what this commit
// added last, or found. A new current version has every dialect of the one
// before unless the property replace.drop-dialect.allowed is true. Versions
// beyond version.history.num-entries (10) go, but never the current one or one
// that this commit added.
//
// Errors are *mounts.Error about req.View, as in Table: BadRequest,
// InvalidArgument (a dialect or view that Java refuses as an
// IllegalArgumentException), ValidationFailed, NoSuchView (no base),
// CommitConflict, Internal.
func View(base *Base, req *mounts.ReplaceViewRequest, opt Options) (*Result, error) {
	res, err := commitView(base, req, opt.withDefaults())
	if err != nil {
		return nil, about(err, req.View)
	}
	return res, nil
}

func commitView(base *Base, req *mounts.ReplaceViewRequest, opt Options) (*Result, error) {
	if len(req.Requirements) > maxRequirements || len(req.Updates) > maxUpdates {
		return nil, tooMany(len(req.Requirements), len(req.Updates))
	}
	uuids := make([]string, len(req.Requirements))
	updates := make([]*viewUpdate, len(req.Updates))
	for i, raw := range req.Requirements {
		var err error
		if uuids[i], err = parseViewRequirement(i, raw); err != nil {
			return nil, err
		}
	}
	for i, raw := range req.Updates {
		value, err := compact(raw)
		if err != nil {
			return nil, notJSON("updates", err)
		}
		if updates[i], err = parseViewUpdate(i, value); err != nil {
			return nil, err
		}
	}
	if base == nil {
		return nil, &mounts.Error{Kind: mounts.NoSuchView}
	}
	v, err := loadView(base.Metadata, opt)
	if err != nil {
		return nil, err
	}
	is, err := v.text("view-uuid")
	if err != nil {
		return nil, err
	}
	for _, want := range uuids {
		if !strings.EqualFold(is, want) {
			return nil, conflict("Requirement failed: view UUID does not match: expected %s != %s", is, clip(want))
		}
	}
	for _, u := range updates {
		if err := u.apply(v); err != nil {
			return nil, err
		}
	}
	if !v.changed {
		location, err := v.text("location")
		return &Result{Metadata: base.Metadata, TableLocation: trimSlash(location)}, err
	}
	return v.finish()
}

// CreateView builds the first metadata document of a createView request at a
// location that the caller chose: version 1 with schema 0, whatever ids the
// request has. Field ids stay as they are. What is not known of the schema and
// the version is kept. Errors are as in View, about the view.
func CreateView(req *mounts.CreateViewRequest, location string, opt Options) (json.RawMessage, error) {
	doc, err := createView(req, location, opt.withDefaults())
	if err != nil {
		return nil, about(err, mounts.Identifier{Namespace: req.Namespace, Name: req.Name})
	}
	return doc, nil
}

func createView(req *mounts.CreateViewRequest, location string, opt Options) (json.RawMessage, error) {
	if isNull(req.Schema) || isNull(req.ViewVersion) {
		return nil, badRequest("a view needs a \"schema\" and a \"view-version\"")
	}
	schema, err := compact(req.Schema)
	if err != nil || schema.Kind() != '{' {
		return nil, notJSON("\"schema\"", err)
	}
	raw, err := compact(req.ViewVersion)
	if err != nil || raw.Kind() != '{' {
		return nil, notJSON("\"view-version\"", err)
	}
	first, err := parseVersion("view-version", raw)
	if err != nil {
		return nil, err
	}
	first.id, first.schema = versions.first, -1
	v := emptyView(opt)
	for _, step := range []func() error{
		func() error { return v.addSchema(schema) },
		func() error { return v.addVersion(first) },
		func() error { return v.setCurrentVersion(-1) },
		func() error { return v.setLocation(location) },
		func() error { return v.setProperties(req.Properties, storeAll) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	res, err := v.finish()
	if err != nil {
		return nil, err
	}
	return res.Metadata, nil
}

// storeAll: a view has no reserved properties.
func storeAll(string) bool { return false }

// emptyView is the document of a view that is being created.
func emptyView(opt Options) *viewState {
	doc := newObject()
	doc.set("view-uuid", quote(opt.NewUUID().String()))
	doc.setInt("format-version", viewFormatVersion)
	doc.set("location", []byte(`""`))
	doc.set("properties", []byte("{}"))
	doc.set("schemas", []byte("[]"))
	doc.setInt("current-version-id", -1)
	doc.set("versions", []byte("[]"))
	doc.set("version-log", []byte("[]"))
	return newViewState(doc, opt)
}

func newViewState(doc *object, opt Options) *viewState {
	return &viewState{added: map[int64]bool{}, state: &state{doc: doc, opt: opt, version: viewFormatVersion,
		lists: map[section]*list{}, lastAdded: map[section]*int64{}}}
}

// loadView takes a view's document apart.
func loadView(raw json.RawMessage, opt Options) (*viewState, error) {
	doc, err := parseObject(bytes.TrimSpace(raw))
	if err != nil {
		return nil, broken("", err)
	}
	v := newViewState(doc, opt)
	if doc.has("table-uuid") || !doc.has("view-uuid") {
		return nil, broken("view-uuid", errNotView)
	}
	version, err := v.int("format-version", 0)
	if err != nil {
		return nil, err
	}
	if version != viewFormatVersion {
		return nil, invalid("{object} has view format version %d; this server changes views of version %d", version, viewFormatVersion)
	}
	current, err := v.entryOf(versions, "current-version-id")
	if err != nil {
		return nil, err
	}
	v.before, err = dialectsOf(current)
	return v, err
}

// finish writes the document of a commit that changed something.
func (v *viewState) finish() (*Result, error) {
	if err := v.keepsDialects(); err != nil {
		return nil, err
	}
	log, err := v.finishVersionLog()
	if err != nil {
		return nil, err
	}
	if log, err = v.trim(log); err != nil {
		return nil, err
	}
	v.doc.set("version-log", encodeArray(log))
	v.finishLists()
	location, err := v.text("location")
	if err != nil {
		return nil, err
	}
	return &Result{Metadata: v.doc.encode(), Changed: true, TableLocation: trimSlash(location)}, nil
}

// keepsDialects refuses a current version that engines which read the one
// before cannot read.
func (v *viewState) keepsDialects() error {
	drop, err := v.allows(dropDialectAllowed)
	if err != nil {
		return err
	}
	extend, err := v.allows(addDialectsOfBefore)
	if err != nil {
		return err
	}
	if drop && extend {
		return invalidArgument("Cannot set both %s and %s to true", dropDialectAllowed, addDialectsOfBefore)
	}
	if drop {
		return nil
	}
	current, err := v.entryOf(versions, "current-version-id")
	if err != nil {
		return err
	}
	now, err := dialectsOf(current)
	if err != nil {
		return err
	}
	for _, dialect := range v.before {
		if !slices.Contains(now, dialect) {
			return invalidArgument("Cannot replace view due to loss of view dialects (%s=false): %s is missing, and engines that read it would lose the view; add it or set the property",
				dropDialectAllowed, clip(dialect))
		}
	}
	return nil
}

// allows reads a property that is on or off.
func (v *viewState) allows(key string) (bool, error) {
	value, err := v.property(key)
	return strings.EqualFold(value, "true"), err
}

// history is how many versions the view keeps.
func (v *viewState) history() (int, error) {
	value, err := v.property(historySize)
	if err != nil || value == "" {
		return maxHistory, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, invalidArgument("%s must be positive but was %s", historySize, clip(value))
	}
	return n, nil
}

// assign gives the view its identity, which never changes.
func (v *viewState) assign(text string) error { return v.assignUUID("view-uuid", text) }

// upgrade accepts the only version.
func (v *viewState) upgrade(to int64) error {
	if to != viewFormatVersion {
		return invalid("view format version %d is not supported; the version is %d", to, viewFormatVersion)
	}
	return nil
}

// addSchema adds a schema, with types of every table format version, or finds the
// one that says the same.
func (v *viewState) addSchema(raw []byte) error {
	_, err := v.keepSchema(raw, maxFormatVersion, leastInView)
	return err
}

// parseViewRequirement reads a requirement: the UUID that the view has to have.
func parseViewRequirement(i int, raw json.RawMessage) (string, error) {
	what := "requirements[" + strconv.Itoa(i) + "]"
	value, err := compact(raw)
	if err != nil {
		return "", notJSON(what, err)
	}
	var r struct {
		Type *string `json:"type"`
		UUID *string `json:"uuid"`
	}
	if err := decode(value, &r, what); err != nil {
		return "", err
	}
	switch {
	case r.Type == nil || *r.Type == "":
		return "", badRequest("%s: \"type\" is missing", what)
	case *r.Type != "assert-view-uuid":
		return "", badRequest("%s: unknown requirement %q of a view; nothing was changed", what, clip(*r.Type))
	case r.UUID == nil:
		return "", badRequest("%s: \"uuid\" is missing", what)
	}
	if _, err := uuid.Parse(*r.UUID); err != nil {
		return "", badRequest("%s: %q is not a UUID", what, clip(*r.UUID))
	}
	return *r.UUID, nil
}
