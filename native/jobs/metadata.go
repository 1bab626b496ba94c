package jobs

import (
	"strings"

	"github.com/go-json-experiment/json"
)

// tableFiles is what table metadata says of files (spec, "Table Metadata
// Fields").
type tableFiles struct {
	Location   string            `json:"location"`
	Properties map[string]string `json:"properties"`
	Snapshots  []struct {
		ManifestList string `json:"manifest-list"`
		// Manifests stand in for the list in old tables of format 1.
		Manifests []string `json:"manifests"`
	} `json:"snapshots"`
	Statistics          []statisticsFile `json:"statistics"`
	PartitionStatistics []statisticsFile `json:"partition-statistics"`
	MetadataLog         []struct {
		File string `json:"metadata-file"`
	} `json:"metadata-log"`
}

type statisticsFile struct {
	Path string `json:"statistics-path"`
	Size int64  `json:"file-size-in-bytes"`
}

func readTable(doc []byte) (*tableFiles, error) {
	t := &tableFiles{}
	if err := json.Unmarshal(doc, t); err != nil {
		return nil, err
	}
	return t, nil
}

// collects is the table property gc.enabled, read as Iceberg's Java library
// reads it: anything but "true" is false.
func (t *tableFiles) collects() bool {
	value, ok := t.Properties["gc.enabled"]
	return !ok || strings.EqualFold(value, "true")
}
