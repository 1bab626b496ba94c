package commit

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
	files, err := elements(s.doc.get(section))
	if err != nil {
		return broken(section, err)
	}
	replaced := false
	kept := make([][]byte, 0, len(files)+1)
	for _, file := range files {
		of, err := idOf(file, "snapshot-id")
		if err != nil {
			return broken(section, err)
		}
		switch {
		case of != id:
			kept = append(kept, file)
		case !replaced:
			if same(file, raw) {
				return nil
			}
			kept, replaced = append(kept, raw), true
		}
	}
	if !replaced {
		kept = append(kept, raw)
	}
	s.doc.set(section, encodeArray(kept))
	s.changed = true
	return nil
}

// dropStatistics forgets the files of some snapshots.
func (s *state) dropStatistics(section string, gone map[int64]bool) error {
	files, err := elements(s.doc.get(section))
	if err != nil {
		return broken(section, err)
	}
	kept := make([][]byte, 0, len(files))
	for _, file := range files {
		of, err := idOf(file, "snapshot-id")
		if err != nil {
			return broken(section, err)
		}
		if !gone[of] {
			kept = append(kept, file)
		}
	}
	if len(kept) < len(files) {
		s.doc.set(section, encodeArray(kept))
		s.changed = true
	}
	return nil
}
