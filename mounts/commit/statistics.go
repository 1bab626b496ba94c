package commit

// The sections that hold one file for each snapshot.
const statistics, partitionStatistics = "statistics", "partition-statistics"

// files returns a section of statistics files.
func (s *state) files(section string) (*keyed[int64], error) {
	if l := s.filesOf[section]; l != nil {
		return l, nil
	}
	l, err := keyedBy(s.doc.get(section), func(raw []byte) (int64, error) { return idOf(raw, "snapshot-id") })
	if err != nil {
		return nil, broken(section, err)
	}
	if s.filesOf == nil {
		s.filesOf = map[string]*keyed[int64]{}
	}
	s.filesOf[section] = l
	return l, nil
}

// setStatistics stores the statistics file of a snapshot in a section, in place
// of an older one for the same snapshot.
func (s *state) setStatistics(section string, raw []byte) error {
	id, err := idOf(raw, "snapshot-id")
	if err != nil {
		return badRequest("%s: \"snapshot-id\" is missing or not a whole number", section)
	}
	there, err := s.exists(id)
	if err != nil {
		return err
	}
	if !there {
		return invalid("the snapshot %d, which the statistics are about, does not exist in {object}", id)
	}
	files, err := s.files(section)
	if err != nil {
		return err
	}
	if before := files.get(id); before != nil && len(files.at[id]) == 1 && same(before, raw) {
		return nil
	}
	files.put(id, raw)
	s.changed = true
	return nil
}

// dropStatistics forgets the files of some snapshots.
func (s *state) dropStatistics(section string, gone map[int64]bool) error {
	files, err := s.files(section)
	if err != nil {
		return err
	}
	for id := range gone {
		s.changed = files.drop(id) || s.changed
	}
	return nil
}
