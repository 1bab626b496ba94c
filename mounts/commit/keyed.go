package commit

// keyed is a list of the document with one entry for each key, such as the
// statistics file of each snapshot. It is taken apart once, however many updates
// touch it.
type keyed[K comparable] struct {
	entries [][]byte // nil: removed
	at      map[K][]int
	changed bool
}

// keyedBy reads a list. Several entries of one key, which others may have stored,
// are replaced and removed together.
func keyedBy[K comparable](raw []byte, key func([]byte) (K, error)) (*keyed[K], error) {
	entries, err := elements(raw)
	if err != nil {
		return nil, err
	}
	l := &keyed[K]{entries: entries, at: make(map[K][]int, len(entries))}
	for i, raw := range entries {
		k, err := key(raw)
		if err != nil {
			return nil, err
		}
		l.at[k] = append(l.at[k], i)
	}
	return l, nil
}

// get returns the first entry of a key, or nil.
func (l *keyed[K]) get(k K) []byte {
	if at := l.at[k]; len(at) > 0 {
		return l.entries[at[0]]
	}
	return nil
}

// put stores an entry in place of those with its key, or at the end.
func (l *keyed[K]) put(k K, raw []byte) {
	l.changed = true
	at := l.at[k]
	if len(at) == 0 {
		l.at[k] = []int{len(l.entries)}
		l.entries = append(l.entries, raw)
		return
	}
	l.entries[at[0]] = raw
	for _, i := range at[1:] {
		l.entries[i] = nil
	}
	l.at[k] = at[:1]
}

// drop removes a key and reports whether it was there.
func (l *keyed[K]) drop(k K) bool {
	at := l.at[k]
	for _, i := range at {
		l.entries[i] = nil
	}
	delete(l.at, k)
	l.changed = l.changed || len(at) > 0
	return len(at) > 0
}

func (l *keyed[K]) encode() []byte {
	kept := make([][]byte, 0, len(l.entries))
	for _, raw := range l.entries {
		if raw != nil {
			kept = append(kept, raw)
		}
	}
	return encodeArray(kept)
}
