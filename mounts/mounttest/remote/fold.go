package remote

import (
	"encoding/json"
	"strings"
)

// fold lower-cases the names of a call, as a catalog does that knows no others.
func fold(c call) call {
	c.name, c.levels, c.parent = strings.ToLower(c.name), foldAll(c.levels), foldAll(c.parent)
	return c
}

func foldAll(levels []string) []string {
	out := make([]string, len(levels))
	for i, level := range levels {
		out[i] = strings.ToLower(level)
	}
	return out
}

// foldBody lower-cases the names in a request: a namespace, the name of what is
// created, the identifiers of renames and transactions.
func foldBody(body []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body
	}
	for name, value := range members {
		switch name {
		case "namespace", "name":
			members[name] = lower(value)
		case "source", "destination", "identifier":
			members[name] = foldBody(value)
		case "table-changes":
			var changes []json.RawMessage
			if json.Unmarshal(value, &changes) == nil {
				for i := range changes {
					changes[i] = foldBody(changes[i])
				}
				members[name], _ = json.Marshal(changes)
			}
		}
	}
	out, err := json.Marshal(members)
	if err != nil {
		return body
	}
	return out
}

func lower(value json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.ToLower(string(value)))
}
