package commit

import (
	"encoding/base64"
	"strings"
)

const encryptionKeys = "encryption-keys"

// bindKeys binds the updates of format v3 that are neither definition nor
// history.
func (u *update) bindKeys(f *updateFields) error {
	switch u.action {
	case "add-encryption-key":
		if u.object(f.EncryptionKey, "encryption-key") {
			key, id, err := parseKey(u.what, f.EncryptionKey)
			if err != nil {
				return err
			}
			u.apply = func(s *state) error { return s.addKey(id, key) }
		}
	case "remove-encryption-key":
		if u.need(f.KeyID != nil, "key-id") {
			u.apply = func(s *state) error { return s.removeKey(*f.KeyID) }
		}
	case "enable-row-lineage":
		u.apply = (*state).enableRowLineage
	}
	return nil
}

// parseKey checks an encryption key. Its material is opaque here: the catalog
// cannot decrypt it.
func parseKey(what string, raw []byte) ([]byte, string, error) {
	var f struct {
		ID         *string `json:"key-id"`
		Material   *string `json:"encrypted-key-metadata"`
		By         *string `json:"encrypted-by-id"`
		Properties *texts  `json:"properties"`
	}
	if err := decode(raw, &f, what); err != nil {
		return nil, "", err
	}
	if f.ID == nil || f.Material == nil {
		return nil, "", badRequest("%s: the key needs \"key-id\" and \"encrypted-key-metadata\"", what)
	}
	if *f.ID == "" || strings.TrimSpace(*f.ID) != *f.ID || len(*f.ID) > maxName {
		return nil, "", badRequest("%s: \"key-id\" is empty, begins or ends with a blank, or is over %d bytes", what, maxName)
	}
	material, err := base64.StdEncoding.DecodeString(*f.Material)
	if err != nil || len(material) == 0 || strings.ContainsAny(*f.Material, "\r\n") {
		return nil, "", badRequest("%s: \"encrypted-key-metadata\" is not base64, or holds nothing", what)
	}
	o, err := parseObject(raw)
	if err != nil {
		return nil, "", notJSON(what, err)
	}
	for _, key := range [...]string{"encrypted-by-id", "properties"} {
		if !o.has(key) {
			o.remove(key)
		}
	}
	return o.encode(), *f.ID, nil
}

// keys returns the encryption keys.
func (s *state) keys() (*keyed[string], error) {
	if s.keysByID != nil {
		return s.keysByID, nil
	}
	l, err := keyedBy(s.doc.get(encryptionKeys), func(raw []byte) (string, error) {
		id, err := memberOf(raw, "key-id")
		if err != nil {
			return "", err
		}
		return unquote(id)
	})
	if err != nil {
		return nil, broken(encryptionKeys, err)
	}
	s.keysByID = l
	return l, nil
}

// addKey adds an encryption key. One that is there stays as it is: what was
// encrypted by it could not be read any more.
func (s *state) addKey(id string, key []byte) error {
	if s.version < 3 {
		return invalid("encryption keys are not supported until v3; {object} has format version %d", s.version)
	}
	keys, err := s.keys()
	if err != nil || keys.get(id) != nil {
		return err
	}
	keys.put(id, key)
	s.changed = true
	return nil
}

// removeKey forgets an encryption key; a missing one is no error.
func (s *state) removeKey(id string) error {
	keys, err := s.keys()
	if err != nil {
		return err
	}
	s.changed = keys.drop(id) || s.changed
	return nil
}

// enableRowLineage is what clients sent before v3 was final; there it is always
// on, and before that there is none.
func (s *state) enableRowLineage() error {
	if s.version < 3 {
		return invalid("row lineage is not supported until v3; {object} has format version %d, upgrade it instead", s.version)
	}
	return nil
}
