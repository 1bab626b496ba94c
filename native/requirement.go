package native

import "encoding/json"

// requirementType is a requirement's type; "" if it has none that can be read,
// which the commit engine refuses.
func requirementType(raw json.RawMessage) string {
	var r struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &r) != nil {
		return ""
	}
	return r.Type
}
