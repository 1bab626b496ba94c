package commit

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxRepresentations bounds what one version of a view may hold.
const maxRepresentations = 1000

var errNotView = errors.New("is missing: not the metadata of a view")

// version is a view version that a client sent, checked.
type version struct {
	object     *object
	id, schema int64
	at         int64
	dialects   []string
}

// versionFields is what the engine reads of a version.
type versionFields struct {
	ID              *int64           `json:"version-id"`
	Schema          *int64           `json:"schema-id"`
	Timestamp       *int64           `json:"timestamp-ms"`
	Summary         *texts           `json:"summary"`
	Catalog         *string          `json:"default-catalog"`
	Namespace       *names           `json:"default-namespace"`
	Representations []jsontext.Value `json:"representations"`
}

// representation is one way to read a view.
type representation struct {
	Type    *string `json:"type"`
	SQL     *string `json:"sql"`
	Dialect *string `json:"dialect"`
}

// parseVersion checks the shape of a version: Java cannot read a view with less.
func parseVersion(what string, raw jsontext.Value) (*version, error) {
	f, err := readVersion(what, raw)
	if err != nil {
		return nil, err
	}
	v := &version{id: *f.ID, schema: *f.Schema, at: *f.Timestamp}
	if len(f.Representations) == 0 {
		return nil, invalidArgument("Invalid view version: it has no representations, so nothing can read the view")
	}
	for i, raw := range f.Representations {
		where := what + ": representations[" + strconv.Itoa(i) + "]"
		r, err := readRepresentation(where, raw)
		switch {
		case err != nil:
			return nil, err
		case *r.Type != "sql":
			return nil, badRequest("%s: the type is %q; only sql is defined", where, clip(*r.Type))
		case strings.TrimSpace(*r.SQL) == "" || strings.TrimSpace(*r.Dialect) == "":
			return nil, badRequest("%s: \"sql\" or \"dialect\" is empty", where)
		}
		dialect := plainDialect(*r.Dialect)
		if slices.Contains(v.dialects, dialect) {
			// The wording is one that the compatibility kit compares.
			return nil, invalidArgument("Invalid view version: Cannot add multiple queries for dialect %s", clip(dialect))
		}
		v.dialects = append(v.dialects, dialect)
	}
	if v.object, err = parseObject(raw); err != nil {
		return nil, notJSON(what, err)
	}
	return v, nil
}

// readVersion decodes a version and checks that nothing required is missing.
func readVersion(what string, raw []byte) (*versionFields, error) {
	f := new(versionFields)
	if err := decode(raw, f, what); err != nil {
		return nil, err
	}
	if f.ID == nil || f.Schema == nil || f.Timestamp == nil || f.Summary == nil || f.Namespace == nil || f.Representations == nil {
		return nil, badRequest("%s needs \"version-id\", \"schema-id\", \"timestamp-ms\", \"summary\", \"default-namespace\" and \"representations\"", what)
	}
	for name, n := range map[string]int64{"version-id": *f.ID, "schema-id": *f.Schema} {
		if n < math.MinInt32 || n > math.MaxInt32 {
			return nil, badRequest("%s: %q is not an id", what, name)
		}
	}
	if *f.Timestamp < 0 {
		return nil, badRequest("%s: \"timestamp-ms\" is negative", what)
	}
	if len(f.Representations) > maxRepresentations {
		return nil, badRequest("%s has more than %d representations", what, maxRepresentations)
	}
	return f, nil
}

func readRepresentation(where string, raw jsontext.Value) (*representation, error) {
	r := new(representation)
	if raw.Kind() != '{' {
		return nil, badRequest("%s is not an object", where)
	}
	if err := decode(raw, r, where); err != nil {
		return nil, err
	}
	if r.Type == nil || *r.Type == "sql" && (r.SQL == nil || r.Dialect == nil) {
		return nil, badRequest("%s needs \"type\", \"sql\" and \"dialect\"", where)
	}
	return r, nil
}

// plainDialect is the form in which dialects are compared.
func plainDialect(dialect string) string { return strings.ToLower(strings.TrimSpace(dialect)) }

// dialectsOf reads the dialects of a stored version; never nil. A representation
// that is not known here has none.
func dialectsOf(raw []byte) ([]string, error) {
	list, err := memberOf(raw, "representations")
	if err != nil {
		return nil, broken(versions.name, err)
	}
	all, err := elements(list)
	if err != nil {
		return nil, broken(versions.name, err)
	}
	dialects := []string{}
	for _, raw := range all {
		r, err := parseObject(raw)
		if err != nil {
			return nil, broken(versions.name, err)
		}
		if kind, _ := unquote(r.get("type")); kind != "sql" {
			continue
		}
		if dialect, err := unquote(r.get("dialect")); err == nil {
			dialects = append(dialects, plainDialect(dialect))
		}
	}
	return dialects, nil
}

// sameVersion is the form of a version without its id and time.
func sameVersion(raw []byte) (string, error) {
	form, err := canonical(nil, raw, "version-id", "timestamp-ms")
	return string(form), err
}

// addVersion adds a version or finds the one that says the same.
func (v *viewState) addVersion(add *version) error {
	if add.schema == -1 {
		last := v.lastAdded[schemas]
		if last == nil {
			return invalid("the schema-id -1 stands for the last schema added by this commit, but none was added")
		}
		add.schema = *last
	}
	if l, err := v.list(schemas); err != nil {
		return err
	} else if l.find(add.schema) == nil {
		return invalid("the view version names the schema %d, which {object} does not have", add.schema)
	}
	l, err := v.list(versions)
	if err != nil {
		return err
	}
	add.object.setInt(schemas.id, add.schema)
	id, found, err := l.repeated(add.object.encode())
	if err != nil {
		return badRequest("add-view-version: the version is not an object")
	}
	if found {
		v.lastAdded[versions] = &id
		return nil
	}
	id = max(add.id, versions.first)
	for _, e := range l.entries {
		if e.id >= id {
			id = e.id + 1
		}
	}
	if id > math.MaxInt32 {
		return invalid("{object} has no version ids left")
	}
	add.object.setInt(versions.id, id)
	l.add(entry{id, add.object.encode()})
	v.lastAdded[versions], v.added[id], v.changed = &id, true, true
	return nil
}

// setCurrentVersion makes a version the current one; -1 is the last added one.
// The log entry of a new version has that version's time.
func (v *viewState) setCurrentVersion(id int64) error {
	changed, err := v.choose(versions, "current-version-id", id)
	if err != nil || !changed {
		return err
	}
	if id, err = v.int("current-version-id", -1); err != nil {
		return err
	}
	at := v.opt.Now.UnixMilli()
	if v.added[id] {
		l, err := v.list(versions)
		if err != nil {
			return err
		}
		if at, err = idOf(l.find(id).raw, "timestamp-ms"); err != nil {
			return broken(versions.name, err)
		}
	}
	v.logged = &logEntry{id: id, at: at}
	return nil
}

// finishVersionLog returns the log with what this commit made current in the
// end. It never runs backwards: some readers refuse that.
func (v *viewState) finishVersionLog() ([][]byte, error) {
	log, err := elements(v.doc.get("version-log"))
	if err != nil {
		return nil, broken("version-log", err)
	}
	if v.logged == nil {
		return log, nil
	}
	at := v.logged.at
	if n := len(log); n > 0 {
		last, err := idOf(log[n-1], "timestamp-ms")
		if err != nil {
			return nil, broken("version-log", err)
		}
		at = max(at, last)
	}
	entry := newObject()
	entry.setInt("timestamp-ms", at)
	entry.setInt(versions.id, v.logged.id)
	return append(log, entry.encode()), nil
}

// trim forgets old versions: it keeps the current one and, of the others, those
// with the highest ids. The log begins after the last entry that names a
// forgotten one.
func (v *viewState) trim(log [][]byte) ([][]byte, error) {
	l, err := v.list(versions)
	if err != nil {
		return nil, err
	}
	current, err := v.int("current-version-id", -1)
	if err != nil {
		return nil, err
	}
	keep, err := v.history()
	if err != nil {
		return nil, err
	}
	here := len(v.added)
	if !v.added[current] {
		here++
	}
	if keep = max(keep, here); len(l.entries) <= keep {
		return log, nil
	}
	ids := make([]int64, 0, len(l.entries))
	for _, e := range l.entries {
		if e.id != current {
			ids = append(ids, e.id)
		}
	}
	slices.Sort(ids)
	kept := map[int64]bool{current: true}
	for _, id := range ids[len(ids)-(keep-1):] {
		kept[id] = true
	}
	l.entries = slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return !kept[e.id] })
	l.changed = true
	first := 0
	for i, raw := range log {
		id, err := idOf(raw, versions.id)
		if err != nil {
			return nil, broken("version-log", err)
		}
		if !kept[id] {
			first = i + 1
		}
	}
	return log[first:], nil
}
