package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/cmd/icefield/internal/config"
	"github.com/icefield/icefield/native/store"
)

const manyTables = 20_000

// exported writes out everything in a registry, in the order of its export, and
// returns a hash of it and how many records there were.
func exported(t testing.TB, url string) (digest string, records int) {
	t.Helper()
	r, err := config.ParseRegistry(url, t.TempDir())
	require.NoError(t, err)
	s, err := openRegistry(t.Context(), r)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	sum := sha256.New()
	lines := json.NewEncoder(sum)
	for position := []byte(nil); ; {
		batch, next, err := s.Export(t.Context(), position, 10_000)
		require.NoError(t, err)
		for _, e := range batch {
			require.NoError(t, lines.Encode(inUTC(e)))
		}
		records += len(batch)
		if next == nil {
			return hex.EncodeToString(sum.Sum(nil)), records
		}
		position = next
	}
}

// inUTC drops the zones of times, which a store need not keep.
func inUTC(e store.Entry) store.Entry {
	utc := func(times ...*time.Time) {
		for _, at := range times {
			*at = at.UTC()
		}
	}
	if e.Namespace != nil {
		utc(&e.Namespace.Created, &e.Namespace.Updated)
	}
	if e.Object != nil {
		utc(&e.Object.Created, &e.Object.Updated)
	}
	if e.Commit != nil {
		utc(&e.Commit.Time)
	}
	if e.Receipt != nil {
		utc(&e.Receipt.Created, &e.Receipt.Expires)
	}
	if e.Job != nil {
		utc(&e.Job.Created, &e.Job.Updated, &e.Job.NotBefore, &e.Job.LeasedUntil, &e.Job.By.Time)
	}
	return e
}

// move runs icefield migrate and returns what it reports.
func move(t testing.TB, from, to string) moveReport {
	t.Helper()
	var report moveReport
	code, stdout, stderr := cli(t, "migrate", "--from", from, "--to", to, "-o", "json")
	require.Equal(t, exitOK, code, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	return report
}

func TestManyTablesMoveThereAndBack(t *testing.T) {
	first, dir := "bolt://"+boltWith(t, manyTables), t.TempDir()
	second, third := "bolt://"+filepath.Join(dir, "second.db"), "bolt://"+filepath.Join(dir, "third.db")
	before, records := exported(t, first)
	require.Equal(t, manyTables/1000+2*manyTables, records)
	there, back := move(t, first, second), move(t, second, third)
	for _, report := range []moveReport{there, back} {
		assert.Equal(t, registryCounts{Namespaces: manyTables / 1000, Objects: manyTables, Commits: manyTables}, report.Counts)
		assert.Equal(t, there.Digest, report.Digest)
		t.Logf("%s to %s: %.1f s, %.0f records a second", report.From, report.To, report.Seconds, float64(records)/report.Seconds)
	}
	for _, url := range []string{first, second, third} {
		after, _ := exported(t, url)
		assert.Equal(t, before, after, "the export of %s", url)
	}
}
