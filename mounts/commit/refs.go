package commit

import (
	"encoding/json"
	"math"

	"github.com/apache/iceberg-go/table"
)

// mainBranch is the ref whose head is the table's current snapshot.
const mainBranch = "main"

// refs decodes the refs once. A document from before refs existed has its
// current snapshot as main.
func (s *state) refs() (*object, error) {
	if s.branches != nil {
		return s.branches, nil
	}
	o := newObject()
	if raw := s.doc.get("refs"); !isNull(raw) {
		var err error
		if o, err = parseObject(raw); err != nil {
			return nil, broken("refs", err)
		}
	}
	current, err := s.currentSnapshot()
	if err != nil {
		return nil, err
	}
	if current != nil && !o.has(mainBranch) {
		main := newObject()
		main.setInt("snapshot-id", *current)
		main.set("type", []byte(`"branch"`))
		o.set(mainBranch, main.encode())
		s.moved = true
	}
	s.branches = o
	return o, nil
}

// refFields are the members of a ref that the engine knows. A ref that is set
// again loses those that the update does not name, and keeps all others.
var refFields = []string{"snapshot-id", "type", "max-ref-age-ms", "max-snapshot-age-ms", "min-snapshots-to-keep"}

// setRef points a ref at a snapshot. ref holds the update's members except its
// action and name.
func (s *state) setRef(name string, ref *object) error {
	if name == "" || len(name) > maxName {
		return badRequest("set-snapshot-ref: \"ref-name\" is empty or over %d bytes", maxName)
	}
	kind, _ := unquote(ref.get("type"))
	id, err := parseInt(ref.get("snapshot-id"))
	if err != nil {
		return badRequest("set-snapshot-ref: \"snapshot-id\" of %q is missing or not a whole number", clip(name))
	}
	if err := json.Unmarshal(ref.encode(), new(table.SnapshotRef)); err != nil {
		return invalid("the ref %q is not valid: %s", clip(name), library(err))
	}
	// A document with a wider number is one that Java cannot read.
	if keep := ref.get("min-snapshots-to-keep"); keep != nil {
		if n, err := parseInt(keep); err != nil || n > math.MaxInt32 {
			return invalid("the ref %q is not valid: \"min-snapshots-to-keep\" is at most %d", clip(name), math.MaxInt32)
		}
	}
	if name == mainBranch && kind != "branch" {
		return invalid("main is a branch and cannot become a %s", kind)
	}
	there, err := s.exists(id)
	if err != nil {
		return err
	}
	if !there {
		return invalid("the ref %q cannot point to the snapshot %d, which {object} does not have", clip(name), id)
	}
	refs, err := s.refs()
	if err != nil {
		return err
	}
	before := refs.get(name)
	if before != nil {
		if err := keepUnknown(ref, before); err != nil {
			return err
		}
		if same(before, ref.encode()) {
			return nil
		}
	}
	refs.set(name, ref.encode())
	s.changed, s.moved = true, true
	if name != mainBranch {
		return nil
	}
	return s.moveMain(id)
}

// keepUnknown copies the members of the old ref that nobody here knows.
func keepUnknown(ref *object, before []byte) error {
	old, err := parseObject(before)
	if err != nil {
		return broken("refs", err)
	}
	for _, key := range refFields {
		old.remove(key)
	}
	for _, key := range old.keys() {
		if ref.get(key) == nil {
			ref.set(key, old.get(key))
		}
	}
	return nil
}

func same(a, b []byte) bool {
	x, errA := canonical(nil, a)
	y, errB := canonical(nil, b)
	return errA == nil && errB == nil && string(x) == string(y)
}

// moveMain makes a snapshot the current one. The log gets an entry only if that
// is a change: setting main's retention anew is none.
func (s *state) moveMain(id int64) error {
	before, err := s.currentSnapshot()
	if err != nil {
		return err
	}
	if before != nil && *before == id {
		return nil
	}
	at, added := s.history.added[id]
	if !added {
		if at, err = s.clock(); err != nil {
			return err
		}
		s.touch(at)
	}
	if n := len(s.logged); n > 0 {
		at = max(at, s.logged[n-1].at) // the log never runs backwards within one commit
	}
	s.setCurrentSnapshot(&id)
	s.logged = append(s.logged, logEntry{id: id, at: at, added: added})
	return nil
}

// removeRef removes a ref; a missing one is no error. Without main the table
// has no current snapshot.
func (s *state) removeRef(name string) error {
	refs, err := s.refs()
	if err != nil {
		return err
	}
	if !refs.remove(name) {
		return nil
	}
	s.changed, s.moved = true, true
	if name == mainBranch {
		s.setCurrentSnapshot(nil)
	}
	return nil
}
