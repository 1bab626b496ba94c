package audittest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/icefield/icefield/policy"
)

// Line is one line of a trail.
type Line struct {
	Time           string         `json:"time"`
	RequestID      string         `json:"request_id"`
	Principal      string         `json:"principal"`
	Tenant         string         `json:"tenant"`
	Operation      string         `json:"operation"`
	Mount          string         `json:"mount"`
	Resource       string         `json:"resource"`
	Outcome        string         `json:"outcome"`
	Policies       []string       `json:"policies"`
	RemoteIdentity string         `json:"remote_identity"`
	RemoteStatus   int            `json:"remote_status"`
	Client         string         `json:"client"`
	Catalog        string         `json:"catalog"`
	Login          string         `json:"login"`
	Result         string         `json:"result"`
	Storage        string         `json:"storage"`
	Restricted     bool           `json:"restricted"`
	More           []string       `json:"more"`
	Lost           int            `json:"lost"`
	Refused        int            `json:"refused"`
	Since          string         `json:"since"`
	Cut            map[string]int `json:"cut"`
}

// Read reads the trail at path, after the files that it was rotated to, in the
// order in which they were written. torn counts the lines that are not whole.
func Read(path string) (lines []Line, torn int, err error) {
	found, err := filepath.Glob(path + ".*")
	if err != nil {
		return nil, 0, err
	}
	var numbers []int
	for _, name := range found {
		// A rotation that a kill cut short leaves a number out.
		if n, err := strconv.Atoi(strings.TrimPrefix(name, path+".")); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	slices.Reverse(numbers)
	var names []string
	for _, n := range numbers {
		names = append(names, fmt.Sprintf("%s.%d", path, n))
	}
	for _, name := range append(names, path) {
		text, err := os.ReadFile(name) // #nosec G304 -- the test names the file
		if errors.Is(err, fs.ErrNotExist) && name == path && len(names) > 0 {
			break // killed between the renaming and the new file
		}
		if err != nil {
			return nil, 0, err
		}
		more, broken := Parse(text)
		lines, torn = append(lines, more...), torn+broken
	}
	return lines, torn, nil
}

// Parse reads lines. Empty ones count for nothing.
func Parse(text []byte) (lines []Line, torn int) {
	for raw := range bytes.Lines(text) {
		if raw = bytes.TrimSuffix(raw, []byte{'\n'}); len(raw) == 0 {
			continue
		}
		var l Line
		if err := json.Unmarshal(raw, &l); err != nil {
			torn++
			continue
		}
		lines = append(lines, l)
	}
	return lines, torn
}

// Permitted are the request ids of what was let pass, by mount.
func Permitted(lines []Line) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, l := range lines {
		if l.Outcome != policy.Permitted {
			continue
		}
		if found[l.Mount] == nil {
			found[l.Mount] = map[string]bool{}
		}
		found[l.Mount][l.RequestID] = true
	}
	return found
}

// Outcomes are the outcomes of one request, in the order of the trail.
func Outcomes(lines []Line, requestID string) (outcomes []string) {
	for _, l := range lines {
		if l.RequestID == requestID {
			outcomes = append(outcomes, fmt.Sprintf("%s %s %s", l.Operation, l.Resource, l.Outcome))
		}
	}
	return outcomes
}
