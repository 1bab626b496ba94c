package commit

import "strconv"

// logEntry is a snapshot that this commit made current.
type logEntry struct {
	id, at int64
	added  bool // by this commit
}

func (e logEntry) encode() []byte {
	return []byte(`{"timestamp-ms":` + strconv.FormatInt(e.at, 10) + `,"snapshot-id":` + strconv.FormatInt(e.id, 10) + `}`)
}

// lastTimestamp is the time of a log's last entry; 0 for an empty log.
func lastTimestamp(log []byte) (int64, error) {
	if isNull(log) {
		return 0, nil
	}
	var last []byte
	if err := eachElement(log, func(value []byte) bool { last = value; return true }); err != nil || last == nil {
		return 0, err
	}
	return idOf(last, "timestamp-ms")
}

// finishSnapshotLog writes the log of current snapshots. Snapshots that this
// commit added and left behind were never seen by anybody and get no entry.
// Where a removed snapshot was current, the history before it goes: else it
// would look as if its neighbour had been current all the time.
func (s *state) finishSnapshotLog() error {
	current, err := s.currentSnapshot()
	if err != nil {
		return err
	}
	var fresh [][]byte
	for _, e := range s.logged {
		if e.added && (current == nil || e.id != *current) {
			continue
		}
		if there, err := s.history.has(e.id); err != nil {
			return broken("snapshots", err)
		} else if !there {
			continue
		}
		fresh = append(fresh, e.encode())
	}
	log := s.doc.get("snapshot-log")
	if isNull(log) {
		log = []byte("[]")
	}
	if log[0] != '[' {
		return broken("snapshot-log", errNotJSON)
	}
	if s.removed {
		entries, err := elements(log)
		if err != nil {
			return broken("snapshot-log", err)
		}
		kept := entries[:0:0]
		for _, raw := range entries {
			id, err := idOf(raw, "snapshot-id")
			if err != nil {
				return broken("snapshot-log", err)
			}
			there, err := s.history.has(id)
			if err != nil {
				return broken("snapshots", err)
			}
			if !there {
				kept = kept[:0]
				continue
			}
			kept = append(kept, raw)
		}
		log = encodeArray(kept)
	}
	if len(fresh) > 0 {
		log = appendElements(log, fresh...)
	}
	s.doc.set("snapshot-log", log)
	return nil
}

// finishMetadataLog appends the base's file and trims the log to the length
// that the table asks for.
func (s *state) finishMetadataLog(location string) error {
	log := s.doc.get("metadata-log")
	if isNull(log) {
		log = []byte("[]")
	}
	if log[0] != '[' {
		return broken("metadata-log", errNotJSON)
	}
	s.doc.set("metadata-log", log)
	if location == "" {
		return nil
	}
	entries, err := elements(log)
	if err != nil {
		return broken("metadata-log", err)
	}
	at, err := s.int("last-updated-ms", 0)
	if err != nil {
		return err
	}
	entries = append(entries, append(append([]byte(`{"timestamp-ms":`+strconv.FormatInt(at, 10)+`,"metadata-file":`), quote(location)...), '}'))
	keep, err := s.previousVersions()
	if err != nil {
		return err
	}
	s.doc.set("metadata-log", encodeArray(entries[max(0, len(entries)-keep):]))
	return nil
}

// previousVersions is how many former metadata files the log names. A value
// that is no number counts as not set.
func (s *state) previousVersions() (int, error) {
	value, err := s.property("write.metadata.previous-versions-max")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		n = 100
	}
	return max(1, n), nil
}
