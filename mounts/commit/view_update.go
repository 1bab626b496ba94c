package commit

import "github.com/go-json-experiment/json/jsontext"

// viewUpdate is one ViewUpdate of the REST specification, read and ready.
type viewUpdate struct {
	update
	apply func(*viewState) error
}

// parseViewUpdate reads an update without looking at any view.
func parseViewUpdate(i int, raw jsontext.Value) (*viewUpdate, error) {
	head, f, err := readUpdate(i, raw, knownOfView)
	if err != nil {
		return nil, err
	}
	u := &viewUpdate{update: *head}
	if err := u.bind(f); err != nil {
		return nil, err
	}
	if u.apply == nil {
		return nil, badRequest("%s: %q is missing or has the wrong type", u.what, u.missing)
	}
	return u, nil
}

func knownOfView(action string) bool {
	switch action {
	case "assign-uuid", "upgrade-format-version", "add-schema", "set-location", "set-properties", "remove-properties",
		"add-view-version", "set-current-view-version":
		return true
	}
	return false
}

func (u *viewUpdate) bind(f *updateFields) error {
	switch u.action {
	case "assign-uuid":
		if u.need(f.UUID != nil, "uuid") {
			u.apply = func(v *viewState) error { return v.assign(*f.UUID) }
		}
	case "upgrade-format-version":
		if u.need(f.FormatVersion != nil, "format-version") {
			u.apply = func(v *viewState) error { return v.upgrade(*f.FormatVersion) }
		}
	case "add-schema":
		if u.object(f.Schema, "schema") {
			u.apply = func(v *viewState) error { return v.addSchema(f.Schema) }
		}
	case "set-location":
		if u.need(f.Location != nil, "location") {
			u.apply = func(v *viewState) error { return v.setLocation(*f.Location) }
		}
	case "set-properties":
		if updates := f.updates(); u.need(updates != nil, "updates") {
			u.apply = func(v *viewState) error { return v.setProperties(*updates, storeAll) }
		}
	case "remove-properties":
		if removals := f.removals(); u.need(removals != nil, "removals") {
			u.apply = func(v *viewState) error { return v.removeProperties(*removals) }
		}
	case "add-view-version":
		if u.object(f.ViewVersion, "view-version") {
			add, err := parseVersion(u.what, f.ViewVersion)
			if err != nil {
				return err
			}
			u.apply = func(v *viewState) error { return v.addVersion(add) }
		}
	case "set-current-view-version":
		if u.need(f.ViewVersionID != nil, "view-version-id") {
			u.apply = func(v *viewState) error { return v.setCurrentVersion(*f.ViewVersionID) }
		}
	}
	return nil
}
