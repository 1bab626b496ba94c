package cedar

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	cedar "github.com/cedar-policy/cedar-go"

	"github.com/icefield/icefield/policy"
)

// restriction is what one permit says of the reads that it permits.
type restriction struct {
	filter json.RawMessage // nil for all rows
	masks  map[string]string
}

// combine is what comes of all the permits that are in effect for a read: nothing
// if any of them is unrestricted. Otherwise the rows are those that any of them
// lets through, a permit without a filter all; and every mask of every permit
// counts, the strictest for each column.
func combine(permits []*rule) *policy.Restrictions {
	permits = slices.Clone(permits)
	slices.SortFunc(permits, func(a, b *rule) int { return strings.Compare(a.id, b.id) })
	var all policy.Restrictions
	everyRow := false
	for _, p := range permits {
		if p.restricts == nil {
			return nil
		}
		if p.restricts.filter == nil {
			everyRow = true
		} else if !slices.ContainsFunc(all.Filters, func(f json.RawMessage) bool { return string(f) == string(p.restricts.filter) }) {
			all.Filters = append(all.Filters, slices.Clone(p.restricts.filter))
		}
		for column, mask := range p.restricts.masks {
			if all.Masks == nil {
				all.Masks = map[string]string{}
			}
			if had := all.Masks[column]; had != "" {
				mask = policy.Stricter(had, mask)
			}
			all.Masks[column] = mask
		}
	}
	if everyRow {
		all.Filters = nil
	}
	if all.Empty() {
		return nil
	}
	return &all
}

// restrictionOf reads the annotations of a policy.
func restrictionOf(p *cedar.Policy) (*restriction, error) {
	var r restriction
	for key, value := range p.Annotations() {
		if !annotations.MatchString(string(key)) {
			return nil, fmt.Errorf("there is no annotation @%s: there are @id, @description, @row_filter and @mask", key)
		}
		var err error
		switch key {
		case "row_filter":
			r.filter = json.RawMessage(value)
			err = policy.CheckFilter(r.filter)
		case "mask":
			r.masks, err = parseMasks(string(value))
		}
		if err != nil {
			return nil, fmt.Errorf("@%s: %w", key, err)
		}
	}
	if r.filter == nil && r.masks == nil {
		return nil, nil
	}
	return &r, nil
}

const (
	maxMasks  = 1000
	maxColumn = 1000
)

// parseMasks reads "email=mask-alphanum, address.street=replace-with-null".
func parseMasks(text string) (map[string]string, error) {
	all := map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		column, mask, ok := strings.Cut(item, "=")
		column, mask = strings.TrimSpace(column), strings.TrimSpace(mask)
		if !ok || column == "" {
			return nil, fmt.Errorf(`%q is not like "column=replace-with-null"`, strings.TrimSpace(item))
		}
		if len(column) > maxColumn {
			return nil, fmt.Errorf("a column's name is longer than %d bytes", maxColumn)
		}
		if err := policy.CheckMask(mask); err != nil {
			return nil, fmt.Errorf("for %q: %w", column, err)
		}
		if all[column] != "" {
			return nil, fmt.Errorf("%q stands there twice", column)
		}
		if all[column] = mask; len(all) > maxMasks {
			return nil, fmt.Errorf("more than %d columns", maxMasks)
		}
	}
	return all, nil
}
