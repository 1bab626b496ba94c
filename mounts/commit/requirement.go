package commit

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/mounts"
)

// requirement is one TableRequirement of the REST specification.
type requirement struct {
	Type               string  `json:"type"`
	UUID               *string `json:"uuid"`
	Ref                *string `json:"ref"`
	Snapshot           *int64  `json:"snapshot-id"`
	LastFieldID        *int64  `json:"last-assigned-field-id"`
	CurrentSchemaID    *int64  `json:"current-schema-id"`
	LastPartitionID    *int64  `json:"last-assigned-partition-id"`
	DefaultSpecID      *int64  `json:"default-spec-id"`
	DefaultSortOrderID *int64  `json:"default-sort-order-id"`
	expected           *int64
	section, complaint string
	missing            int64
}

const assertCreate = "assert-create"

// parseRequirement reads a requirement without looking at any table. An unknown
// kind is an error: to pass over it would be to promise something unchecked.
func parseRequirement(i int, raw jsontext.Value) (*requirement, error) {
	what := "requirements[" + strconv.Itoa(i) + "]"
	r := new(requirement)
	if err := decode(raw, r, what); err != nil {
		return nil, err
	}
	ok, field := true, ""
	id := func(value *int64, name, section, complaint string, missing int64) {
		ok, field = value != nil, name
		r.expected, r.section, r.complaint, r.missing = value, section, complaint, missing
	}
	switch r.Type {
	case "":
		ok, field = false, "type"
	case assertCreate:
	case "assert-table-uuid":
		ok, field = r.UUID != nil, "uuid"
	case "assert-ref-snapshot-id":
		ok, field = r.Ref != nil, "ref"
	case "assert-last-assigned-field-id":
		id(r.LastFieldID, r.Type[len("assert-"):], "last-column-id", "last assigned field id", 0)
	case "assert-current-schema-id":
		id(r.CurrentSchemaID, r.Type[len("assert-"):], "current-schema-id", "current schema", 0)
	case "assert-last-assigned-partition-id":
		id(r.LastPartitionID, r.Type[len("assert-"):], "last-partition-id", "last assigned partition id", firstPartitionID-1)
	case "assert-default-spec-id":
		id(r.DefaultSpecID, r.Type[len("assert-"):], "default-spec-id", "default partition spec", 0)
	case "assert-default-sort-order-id":
		id(r.DefaultSortOrderID, r.Type[len("assert-"):], "default-sort-order-id", "default sort order", 0)
	default:
		return nil, badRequest("%s: unknown requirement %q; nothing was changed", what, clip(r.Type))
	}
	if !ok {
		return nil, badRequest("%s: %q is missing", what, field)
	}
	return r, nil
}

// alreadyExists is the answer to assert-create where the table is there. Java clients
// know the text.
func alreadyExists() error {
	return &mounts.Error{Kind: mounts.AlreadyExists, Msg: "Requirement failed: table already exists"}
}

// check compares the requirement with the table. The beginnings of the messages
// are what the reference implementation says, and what its compatibility kit
// looks for.
func (r *requirement) check(s *state) error {
	switch {
	case r.Type == assertCreate:
		return alreadyExists()
	case r.Type == "assert-table-uuid":
		is, err := s.text("table-uuid")
		if err == nil && !strings.EqualFold(is, *r.UUID) {
			err = conflict("Requirement failed: UUID does not match: expected %s != %s", is, clip(*r.UUID))
		}
		return err
	case r.Type == "assert-ref-snapshot-id":
		return r.checkRef(s)
	}
	is, err := s.int(r.section, r.missing)
	if err == nil && is != *r.expected {
		err = conflict("Requirement failed: %s changed: expected id %d != %d", r.complaint, *r.expected, is)
	}
	return err
}

func (r *requirement) checkRef(s *state) error {
	refs, err := s.refs()
	if err != nil {
		return err
	}
	name := clip(*r.Ref)
	ref := refs.get(*r.Ref)
	if ref == nil {
		if r.Snapshot != nil {
			return conflict("Requirement failed: branch or tag %s is missing, expected %d", name, *r.Snapshot)
		}
		return nil
	}
	o, err := parseObject(ref)
	if err != nil {
		return broken("refs", err)
	}
	kind, _ := unquote(o.get("type"))
	head, err := parseInt(o.get("snapshot-id"))
	if err != nil {
		return broken("refs", err)
	}
	switch {
	case r.Snapshot == nil:
		return conflict("Requirement failed: %s %s was created concurrently", kind, name)
	case *r.Snapshot != head:
		return conflict("Requirement failed: %s %s has changed: expected id %d != %d", kind, name, *r.Snapshot, head)
	}
	return nil
}
