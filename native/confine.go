package native

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/mounts/commit"
	"github.com/icefield/icefield/native/store"
	"github.com/icefield/icefield/native/warehouse"
)

// A mount governs its own warehouse and no other place: whatever a request makes
// a table or view point to lies inside it. Engines read and write there with the
// mount's credentials, scans are planned from there, and purges delete there.

// confine refuses a request that carries a location outside of the warehouse,
// saying where it stands in it.
func (b *Backend) confine(locations []commit.Named) error {
	for _, named := range locations {
		if err := b.confineOne(named); err != nil {
			return err
		}
	}
	return nil
}

func (b *Backend) confineOne(named commit.Named) error {
	_, err := b.lies(named)
	var bad *warehouse.BadLocation
	if errors.As(err, &bad) {
		return &mounts.Error{Kind: mounts.BadRequest, Msg: named.Where + ": " + bad.Error()}
	}
	return err
}

// lies reads a location, which must lie inside the warehouse.
func (b *Backend) lies(named commit.Named) (warehouse.Location, error) {
	if file(named.Where) {
		return b.warehouse.ConfineFile(named.Location)
	}
	return b.warehouse.Confine(named.Location)
}

// file tells the places of files that an engine wrote, whose names may hold what
// new places may not, from folders.
func file(where string) bool {
	return strings.Contains(where, "manifest") || strings.Contains(where, "statistics-path")
}

// confineUpdates checks what a commit carries, and returns it.
func (b *Backend) confineUpdates(updates []json.RawMessage) ([]commit.Named, error) {
	locations, err := commit.Locations(updates)
	if err != nil {
		return nil, err
	}
	return locations, b.confine(locations)
}

// confineDocument checks what a metadata document that others wrote points to:
// its location, the places that its properties send engines to, and of every
// snapshot the files that reading it begins with. A table whose history lies
// elsewhere is refused whole. What was refused is better said now than found by
// an engine that gets no credentials for those files; its history can be
// expired, or its files rewritten into the warehouse, before it is registered.
// Earlier metadata files may be anywhere: they are names in a log, which nothing
// follows out of the table's own folder.
func (b *Backend) confineDocument(kind store.Kind, doc []byte, summary *commit.Summary) ([]commit.Named, error) {
	locations := append([]commit.Named{{Where: "location", Location: summary.Location}}, commit.PropertyLocations(summary.Properties)...)
	if kind == store.Table {
		files, err := filesOf(doc)
		if err != nil {
			return nil, err
		}
		locations = append(locations, files...)
	}
	err := b.confine(locations)
	if refusal := (*mounts.Error)(nil); errors.As(err, &refusal) {
		refusal.Msg = "the metadata file cannot be registered here: " + refusal.Msg
	}
	return locations, err
}

// filesOf is the files that a table's metadata points to.
func filesOf(doc []byte) ([]commit.Named, error) {
	type statistics struct {
		Path string `json:"statistics-path"`
	}
	var table struct {
		Snapshots []struct {
			List      string   `json:"manifest-list"`
			Manifests []string `json:"manifests"`
		} `json:"snapshots"`
		Statistics []statistics `json:"statistics"`
		Partitions []statistics `json:"partition-statistics"`
	}
	if err := json.Unmarshal(doc, &table); err != nil {
		return nil, &mounts.Error{Kind: mounts.ValidationFailed, Err: err,
			Msg: "the metadata file cannot be registered: its snapshots or statistics do not have the types of the table specification"}
	}
	var files []commit.Named
	add := func(list string, i int, member, location string) {
		if location != "" {
			files = append(files, commit.Named{Where: list + "[" + strconv.Itoa(i) + "]." + member, Location: location})
		}
	}
	for i, s := range table.Snapshots {
		add("snapshots", i, "manifest-list", s.List)
		for _, manifest := range s.Manifests {
			add("snapshots", i, "manifests", manifest)
		}
	}
	for i, s := range table.Statistics {
		add("statistics", i, "statistics-path", s.Path)
	}
	for i, s := range table.Partitions {
		add("partition-statistics", i, "statistics-path", s.Path)
	}
	return files, nil
}
