package native

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// How a lost swap is tried again, and how long a swap may take after the client
// left.
const (
	maxTries    = 12
	firstPause  = 2 * time.Millisecond
	longPause   = 250 * time.Millisecond
	swapTimeout = 30 * time.Second
	// maxWriters is how many files of one transaction are written at once.
	maxWriters = 8
	// maxChanges bounds the tables of one transaction.
	maxChanges = 1000
)

// CommitTable implements mounts.Backend.
func (b *Backend) CommitTable(ctx context.Context, req *mounts.CommitTableRequest) (*mounts.Table, error) {
	done, err := b.commit(ctx, []change{tableChange(req)}, theOne)
	if err != nil {
		return nil, fail(req, err)
	}
	return b.present(done[0].object, done[0].metadata, mounts.SnapshotsAll), nil
}

// CommitTransaction implements mounts.Backend. A transaction without changes
// does nothing.
func (b *Backend) CommitTransaction(ctx context.Context, req *mounts.CommitTransactionRequest) error {
	if len(req.Changes) > maxChanges {
		return fail(req, refuse(mounts.BadRequest, mounts.Identifier{}, "a transaction may change 1000 tables; split this one"))
	}
	changes := make([]change, len(req.Changes))
	seen := map[string]bool{}
	for i := range req.Changes {
		changes[i] = tableChange(&req.Changes[i])
		id := changes[i].id
		if id.Namespace.IsRoot() || id.Name == "" {
			return fail(req, refuse(mounts.BadRequest, id, "each change of a transaction needs an identifier with a namespace and a name"))
		}
		if key := laneKey(id); seen[key] {
			return fail(req, refuse(mounts.BadRequest, id, "the transaction changes {object} twice; put its updates into one change"))
		} else {
			seen[key] = true
		}
	}
	if len(changes) == 0 {
		return nil
	}
	if _, err := b.commit(ctx, changes, theWhole); err != nil {
		return fail(req, err)
	}
	return nil
}

// change is what a commit does to one table or view.
type change struct {
	id   mounts.Identifier
	kind store.Kind
	// creates says that a requirement is that it does not exist.
	creates bool
	// updates is what it carries, for the locations in it.
	updates []json.RawMessage
	// apply is the commit engine's part.
	apply func(base *commit.Base) (*commit.Result, error)
}

func tableChange(req *mounts.CommitTableRequest) change {
	return change{id: req.Table, kind: store.Table, creates: req.Creates(), updates: req.Updates, apply: func(base *commit.Base) (*commit.Result, error) {
		return commit.Table(base, req, commit.Options{})
	}}
}

// attempt is one round of a change: what was read, and what it shall become.
type attempt struct {
	change
	// base is nil for a table that does not exist yet.
	base *commit.Base
	// object is the pointer's record: what was read, then what was written.
	object store.Object
	// metadata and location are the base's own for a change of nothing.
	metadata []byte
	location string
	place    warehouse.Location
	changed  bool
	// ground is nil if all that it names lies where the object does.
	ground *ground
	// summary is what the written document says; set with its location.
	summary *commit.Summary
}

// theOne is the outcome of a commit that answers its one object, theWhole that
// of a transaction, which answers nothing.
func theOne(done []*attempt) outcome { return pointsTo(done[0].object) }
func theWhole([]*attempt) outcome    { return nothing() }

// commit runs the protocol: all of the changes or none.
func (b *Backend) commit(ctx context.Context, changes []change, answer func([]*attempt) outcome) ([]*attempt, error) {
	names := make([]mounts.Identifier, len(changes))
	for i, change := range changes {
		names[i] = change.id
	}
	leave, err := b.gate.enter(ctx, names)
	if err != nil {
		return nil, err
	}
	defer leave()
	for try := range maxTries {
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		done, err := b.try(ctx, changes, answer)
		if !errors.Is(err, store.ErrMoved) {
			return done, err
		}
	}
	return nil, refuse(mounts.CommitConflict, names[0],
		"{object} is being changed by too many writers at once; nothing was committed, try again")
}

// pause waits before a further try, for a random time that grows.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	most := min(firstPause<<try, longPause)
	timer := time.NewTimer(time.Duration(rand.Int64N(int64(most))) + time.Millisecond) // #nosec G404 -- spreads retries over time; nothing depends on its being unguessable
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// try is one round; store.ErrMoved if another writer was faster, and then
// nothing is left of it.
func (b *Backend) try(ctx context.Context, changes []change, answer func([]*attempt) outcome) ([]*attempt, error) {
	attempts, err := b.readAll(ctx, changes)
	if err != nil {
		return nil, err
	}
	anything := false
	for _, a := range attempts {
		if err := b.work(ctx, a); err != nil {
			return nil, err
		}
		anything = anything || a.changed
	}
	if !anything {
		return attempts, b.keep(ctx, answer(attempts))
	}
	written, err := b.writeAll(ctx, attempts)
	if err != nil {
		b.remove(ctx, written...)
		return nil, err
	}
	for _, a := range attempts {
		switch {
		case a.base == nil:
			a.object = newObject(a.id, a.kind, a.location)
		case a.changed:
			a.object.Location = a.location
		}
	}
	err = b.swap(ctx, written, func(tx store.Tx, who store.By) (outcome, error) {
		if err := b.swapAll(tx, attempts, who); err != nil {
			return outcome{}, err
		}
		return answer(attempts), nil
	})
	if err != nil {
		return nil, err
	}
	for _, a := range attempts {
		if a.changed {
			b.cache.put(keyOf(a.object), a.metadata)
			b.removeOld(ctx, a)
		}
	}
	return attempts, nil
}

// readAll reads every pointer in one view, and then the documents.
func (b *Backend) readAll(ctx context.Context, changes []change) ([]*attempt, error) {
	attempts := make([]*attempt, len(changes))
	// taken says why a table that does not exist cannot be created either.
	taken := make([]error, len(changes))
	err := b.store.View(ctx, func(tx store.Tx) error {
		for i, change := range changes {
			attempts[i], taken[i] = &attempt{change: change}, nil
			o, err := objectIn(tx, change.id, change.kind)
			switch {
			case err == nil:
				attempts[i].base, attempts[i].object = &commit.Base{Location: o.Location}, o
			case errors.Is(err, absence(change.kind)):
				taken[i] = free(tx, change.id, change.kind)
			default:
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, a := range attempts {
		if a.base == nil {
			if err := startCreate(a.change, taken[i]); err != nil {
				return nil, err
			}
			continue
		}
		a.base.Metadata, err = b.document(ctx, a.object, mounts.SnapshotsAll)
		if errors.Is(err, mounts.MetadataMissing) {
			// Another replica's commits may have removed it as an old file.
			if now, lookup := b.object(ctx, a.id, a.kind); lookup == nil && now.Location != a.base.Location {
				return nil, store.ErrMoved
			}
		}
		if err != nil {
			return nil, about(a.id, err)
		}
	}
	return attempts, nil
}

// startCreate checks a change of what does not exist: unless it says that it
// creates it, that is the answer, whatever else may be wrong.
func startCreate(c change, taken error) error {
	if taken == nil {
		taken = checkObject(c.id, c.kind)
	}
	if taken == nil || !c.creates {
		return nil // the engine says what is wrong, if anything
	}
	return taken
}

// work finds out what a change leads to and confines where it leads.
func (b *Backend) work(ctx context.Context, a *attempt) error {
	result, err := a.apply(a.base)
	if err != nil {
		return about(a.id, err)
	}
	if a.base != nil && !result.Changed {
		a.metadata, a.location = a.base.Metadata, a.base.Location
		return nil
	}
	a.metadata, a.changed = result.Metadata, true
	named, err := b.confineUpdates(a.updates)
	if err != nil {
		return about(a.id, err)
	}
	if a.place, err = b.warehouse.Confine(result.TableLocation); err != nil {
		return about(a.id, err)
	}
	if a.ground, err = b.wants(a, named); err == nil && a.ground != nil {
		err = b.survey(ctx, a.ground)
	}
	if err != nil {
		return about(a.id, err)
	}
	return nil
}

// wants is the ground that a change needs beside what the object has: nil for
// most, which name what lies in its location.
func (b *Backend) wants(a *attempt, named []commit.Named) (*ground, error) {
	own := &a.place
	if a.base == nil {
		own = nil
	} else if slices.ContainsFunc(named, func(n commit.Named) bool { return strings.HasPrefix(n.Where, "set-location") }) {
		before, err := inspect(a.kind, a.base.Metadata)
		if err != nil {
			return nil, err
		}
		own = nil
		if l, err := warehouse.Parse(before.Location); err == nil && vouched(a.base.Location, l) {
			own = &l
		}
	} else if !vouched(a.base.Location, a.place) {
		own, named = nil, append(named[:len(named):len(named)], commit.Named{Where: "location", Location: a.place.String()})
	}
	g := &ground{id: a.id, self: a.object.ID, own: own}
	if own == nil || !own.Within(a.place) || !a.place.Within(*own) {
		g.place = &a.place
	}
	for _, n := range named {
		l, err := b.lies(n)
		if err != nil {
			return nil, err
		}
		if own == nil || !l.Within(*own) {
			g.named = append(g.named, n)
		}
	}
	if g.place == nil && len(g.named) == 0 {
		return nil, nil
	}
	return g, g.addFolders(g.named)
}

// about names the object that an error of one change is about.
func about(id mounts.Identifier, err error) error {
	e := *fault(err)
	if e.Ident.IsZero() {
		e.Ident = id
	}
	return &e
}

// writeAll writes the new files, several at once, and returns those that are
// there, also after an error.
func (b *Backend) writeAll(ctx context.Context, attempts []*attempt) ([]string, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxWriters)
	for _, a := range attempts {
		if !a.changed {
			continue
		}
		previous := ""
		if a.base != nil {
			previous = a.base.Location
		}
		group.Go(func() error {
			var err error
			if a.location, a.summary, err = b.write(ctx, a.kind, a.place, previous, a.metadata); err != nil {
				return about(a.id, err)
			}
			return nil
		})
	}
	err := group.Wait()
	var written []string
	for _, a := range attempts {
		if a.changed && a.location != "" {
			written = append(written, a.location)
		}
	}
	return written, err
}

// swapAll moves all pointers, or fails before it moved any. One that does not
// change must not have moved either: its requirements were part of it.
func (b *Backend) swapAll(tx store.Tx, attempts []*attempt, who store.By) error {
	for _, a := range attempts {
		o, err := objectIn(tx, a.id, a.kind)
		switch {
		case a.base == nil && errors.Is(err, absence(a.kind)):
			if err := free(tx, a.id, a.kind); err != nil {
				return moved(err)
			}
		case a.base == nil || errors.Is(err, absence(a.kind)):
			return store.ErrMoved
		case err != nil:
			return err
		case o.Location != a.base.Location:
			return store.ErrMoved
		}
	}
	for _, a := range attempts {
		if a.ground != nil {
			if err := b.claim(tx, a.ground); err != nil {
				return err
			}
		}
		var err error
		switch {
		case !a.changed:
		case a.base == nil:
			a.object, err = tx.Create(a.object, who)
		default:
			a.object, err = tx.Swap(a.id, a.base.Location, a.location, who)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moved turns a refusal into a lost swap: the next round finds it again and says
// it with all requirements in view.
func moved(err error) error {
	if refusal := (*mounts.Error)(nil); errors.As(err, &refusal) {
		return store.ErrMoved
	}
	return err
}

// swap runs the store transaction that makes written files current. The client
// may leave meanwhile. If it certainly failed the files are removed; if nobody
// knows, they stay, since a pointer may hold them.
func (b *Backend) swap(ctx context.Context, written []string, f func(store.Tx, store.By) (outcome, error)) error {
	if err := ctx.Err(); err != nil {
		b.remove(ctx, written...)
		return err
	}
	who := by(ctx)
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), swapTimeout)
	defer cancel()
	err := b.update(lasting, func(tx store.Tx) (outcome, error) { return f(tx, who) })
	if err != nil && !errors.Is(err, store.ErrOutcomeUnknown) {
		b.remove(ctx, written...)
	}
	return err
}

// removeOld removes the metadata files that a commit cut off the end of the
// log, for a table that asks for it. Only files in the table's metadata folders
// are, and only where those lie in its own location: the log is what clients and
// registered documents say.
func (b *Backend) removeOld(ctx context.Context, a *attempt) {
	if a.base == nil || a.kind != store.Table || !strings.EqualFold(a.summary.Properties[propertyDeleteOld], "true") {
		return
	}
	before, err := commit.Inspect(a.base.Metadata)
	if err != nil {
		return
	}
	keep := map[string]bool{a.location: true, a.base.Location: true}
	for _, file := range a.summary.PreviousFiles {
		keep[file] = true
	}
	folders := []warehouse.Location{a.place.Join(metadataFolder)}
	if chosen, err := warehouse.Parse(a.summary.Properties[propertyMetadataPath]); err == nil && chosen.Within(a.place) {
		folders = append(folders, chosen)
	}
	var old []string
	for _, file := range before.PreviousFiles {
		l, err := warehouse.Parse(file)
		own := err == nil && slices.ContainsFunc(folders, l.Parent().Within)
		if own && !keep[file] && strings.HasSuffix(l.Base(), metadataSuffix) {
			old = append(old, file)
		}
	}
	b.remove(ctx, b.unheld(ctx, old)...)
}

// unheld returns those of the files that no pointer leads to, however it spells
// them: a table's old file may have been registered under another name.
func (b *Backend) unheld(ctx context.Context, files []string) (free []string) {
	if len(files) == 0 {
		return nil
	}
	err := b.store.View(context.WithoutCancel(ctx), func(tx store.Tx) error {
		free = nil
		for _, file := range files {
			held, err := holdsFile(tx, file)
			if err != nil {
				return err
			}
			if !held {
				free = append(free, file)
			}
		}
		return nil
	})
	if err != nil {
		b.log.WarnContext(ctx, "old metadata files stay in the warehouse, since it is not known whether a table needs them", "files", len(files), "error", err)
		return nil
	}
	return free
}

// holdsFile reports whether a pointer leads to the file.
func holdsFile(tx store.Tx, file string) (bool, error) {
	l, err := warehouse.Parse(file)
	if err != nil {
		return false, err
	}
	for _, text := range l.Spellings() {
		// The shortest text that begins with it comes first.
		holders, err := tx.Holders(text, 1)
		if err != nil || len(holders) == 1 && holders[0].Location == text {
			return true, err
		}
	}
	return false, nil
}
