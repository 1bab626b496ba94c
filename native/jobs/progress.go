package jobs

import "encoding/json"

// KindPurge is the kind of the jobs that delete the files of a dropped table.
const KindPurge = "purge"

// The phases of a purge, in their order. What leads to other files goes after
// them, so that a purge finds what is left from any point on.
const (
	PhaseData       = "data"
	PhaseManifests  = "manifests"
	PhaseLists      = "manifest-lists"
	PhaseStatistics = "statistics"
	PhaseMetadata   = "metadata"
)

var phases = []string{PhaseData, PhaseManifests, PhaseLists, PhaseStatistics, PhaseMetadata}

// Counts is what a purge met. Found = Deleted + Skipped once it is done.
type Counts struct {
	// Found are the files that the metadata names.
	Found int64 `json:"found"`
	// Deleted are those that are certainly gone, whoever deleted them.
	Deleted int64 `json:"deleted"`
	// Skipped are those that were left, as they lie outside the table's location.
	Skipped int64 `json:"skipped"`
	// Bytes is the size of the deleted ones as far as the metadata says it.
	Bytes int64 `json:"bytes"`
}

// Progress is the Progress of a purge's job, as JSON.
type Progress struct {
	// Location is the table's, once it is known.
	Location string `json:"location,omitempty"`
	// Phase is the one under way, or the last; empty before anything was deleted.
	Phase string `json:"phase,omitempty"`
	Counts
	// Before is what the phases before this one met: where an attempt begins that
	// does the phase again.
	Before Counts `json:"before"`
	// Last says that nothing is left but the current metadata file, which is
	// counted already and may be gone as well.
	Last bool `json:"last,omitempty"`
	// Note says what there is to know of a purge that is done.
	Note string `json:"note,omitempty"`
}

// ReadProgress reads a job's progress; what cannot be read counts as none, so
// that everything is done again.
func ReadProgress(record []byte) Progress {
	var p Progress
	if json.Unmarshal(record, &p) != nil {
		return Progress{}
	}
	return p
}

// Record is the progress as a job keeps it.
func (p Progress) Record() []byte {
	record, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers
	}
	return record
}
