package commit

// finish writes the document of a commit that changed something. previous is
// the location of the base's file; empty if there is none.
func (s *state) finish(previous string) (*Result, error) {
	if s.rebind {
		if err := s.checkDefaults(); err != nil {
			return nil, err
		}
	}
	s.finishLists()
	if err := s.finishSnapshots(); err != nil {
		return nil, err
	}
	if s.version == 1 {
		if err := s.finishV1(); err != nil {
			return nil, err
		}
	}
	// A metadata-log entry carries the time of the document it points to, so it
	// comes before the new time.
	if err := s.finishMetadataLog(previous); err != nil {
		return nil, err
	}
	at := s.newest
	if at == 0 {
		at = s.opt.Now.UnixMilli()
	}
	before, err := s.int("last-updated-ms", 0)
	if err != nil {
		return nil, err
	}
	s.doc.setInt("last-updated-ms", max(before, at))
	location, err := s.text("location")
	if err != nil {
		return nil, err
	}
	return &Result{Metadata: s.doc.encode(), Changed: true, TableLocation: trimSlash(location)}, nil
}

// finishLists writes the sections that were decoded and have changed.
func (s *state) finishLists() {
	for of, l := range s.lists {
		if l.changed {
			s.doc.set(of.name, l.encode())
		}
	}
	for section, l := range s.filesOf {
		if l.changed {
			s.doc.set(section, l.encode())
		}
	}
	if s.keysByID != nil && s.keysByID.changed {
		s.doc.set(encryptionKeys, s.keysByID.encode())
	}
	if s.tagged {
		s.doc.set("properties", s.attached.encode())
	}
	if !s.doc.has("properties") {
		s.doc.set("properties", []byte("{}"))
	}
}

// finishSnapshots writes history, refs and log, and the sections that readers
// expect even when they hold nothing: some writers leave empty ones out, and
// some readers fail on that.
func (s *state) finishSnapshots() error {
	if err := s.finishSnapshotLog(); err != nil {
		return err
	}
	refs, err := s.refs()
	if err != nil {
		return err
	}
	if s.moved || !s.doc.has("refs") {
		s.doc.set("refs", refs.encode())
	}
	if len(s.history.more) > 0 || s.history.remove || !s.doc.has("snapshots") {
		s.doc.set("snapshots", s.history.encode())
	}
	current, err := s.currentSnapshot()
	if err != nil {
		return err
	}
	s.setCurrentSnapshot(current)
	return nil
}

// finishV1 keeps the single schema and spec of the first v1 readers equal to
// the current ones.
func (s *state) finishV1() error {
	if !s.rebind {
		return nil
	}
	current, err := s.entryOf(schemas, "current-schema-id")
	if err != nil {
		return err
	}
	spec, err := s.entryOf(specs, "default-spec-id")
	if err != nil {
		return err
	}
	fields, err := memberOf(spec, "fields")
	if err != nil {
		return broken(specs.name, err)
	}
	s.doc.set("schema", current)
	s.doc.set("partition-spec", fields)
	return nil
}

// entryOf returns the entry that a top-level id points to.
func (s *state) entryOf(of section, key string) ([]byte, error) {
	id, err := s.int(key, 0)
	if err != nil {
		return nil, err
	}
	l, err := s.list(of)
	if err != nil {
		return nil, err
	}
	e := l.find(id)
	if e == nil {
		return nil, broken(key, errDangling)
	}
	return e.raw, nil
}
