package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/icefield/icefield/mounts"
)

func said(severity, code string) error {
	return fmt.Errorf("wrapped: %w", &pgconn.PgError{SeverityUnlocalized: severity, Severity: "FEHLER", Code: code})
}

func TestErrorsOfTheDatabaseHaveTheirFate(t *testing.T) {
	for code, want := range map[string]fate{
		"40001": conflict, "40P01": conflict,
		"23505": careful, "23503": careful, "55P03": careful,
		"57P01": broken, "57P02": broken, "57P03": broken, "08006": broken, "08003": broken, "53300": broken, "25006": broken, "25P03": broken, "40003": broken,
		"26000": renamed, "42P05": renamed,
		"57014": full, "53100": full, "53200": full, "28P01": full, "3D000": full, "58030": full,
		"42P01": fatal, "22P02": fatal, "XX000": fatal, "54000": fatal, "": fatal,
	} {
		if got := fateOf(said("ERROR", code)); got != want {
			t.Errorf("%s has the fate %d, want %d", code, got, want)
		}
	}
	for code, want := range map[string]string{"28P01": "password", "28000": "user", "3D000": "no such database", "57014": "too long", "53100": "out of room", "58030": "did not"} {
		if got := refusal(said("FATAL", code)); !strings.Contains(got, want) {
			t.Errorf("%s is told as %q", code, got)
		}
	}
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, errSilent, pgconn.ErrConnClosed, fmt.Errorf("%w: x", errLost)} {
		if got := fateOf(fmt.Errorf("%w: %w", err, io.EOF)); got != broken {
			t.Errorf("%v has the fate %d", err, got)
		}
	}
	if fateOf(errors.New("anything")) != fatal || fateOf(errAssumed) != careful || fateOf(errChanged) != conflict {
		t.Error("own errors have another fate")
	}
}

// Only a server that lives on says for certain that it rolled back.
func TestACommitThatFailedIsOpenUnlessTheServerSaidSo(t *testing.T) {
	for _, certain := range []error{said("ERROR", "40001"), said("ERROR", "23505"), said("ERROR", "53100")} {
		if ambiguous(certain) {
			t.Errorf("%v counts as open", certain)
		}
	}
	for _, open := range []error{said("FATAL", "57P01"), said("PANIC", "XX000"), said("ERROR", "40003"), said("ERROR", "08006"), io.ErrUnexpectedEOF,
		errors.New("anything"), context.Canceled, errSilent} {
		if !ambiguous(open) {
			t.Errorf("%v counts as rolled back", open)
		}
	}
}

func TestPathsSortByLevelsAndComeBack(t *testing.T) {
	names := []string{"a", "a\x00", "a\x00\x01", "a\x00\xff", "a\x01", "ab", "b", "\x00", "\xff", "", "é", strings.Repeat("x", 3000)}
	var paths []mounts.Namespace
	for _, a := range names {
		paths = append(paths, mounts.Namespace{a})
		for _, b := range names {
			paths = append(paths, mounts.Namespace{a, b})
		}
	}
	slices.SortFunc(paths, func(a, b mounts.Namespace) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return slices.Compare(a, b)
	})
	for i, path := range paths {
		if i > 0 && bytes.Compare(encodePath(paths[i-1]), encodePath(path)) >= 0 {
			t.Errorf("%q does not sort before %q", paths[i-1], path)
		}
		if back, err := decodePath(encodePath(path)); err != nil || !back.Equal(path) {
			t.Errorf("%q comes back as %q (%v)", path, back, err)
		}
	}
	for _, damaged := range []string{"", "\x00", "\x00\x01a\x00"} {
		if _, err := decodePath([]byte(damaged)); err == nil {
			t.Errorf("%q was read as a path", damaged)
		}
	}
}

func TestArraysComeBackAndDamagedOnesAreErrors(t *testing.T) {
	for _, list := range [][]string{{}, {""}, {"a", "", "b\x00\xff"}, {strings.Repeat("x", 70000)}} {
		c := columns{rest: [][]byte{texts(list)}}
		if got := c.texts(); c.err != nil || !slices.Equal(got, list) {
			t.Errorf("%.20q comes back as %.20q (%v)", list, got, c.err)
		}
	}
	whole := texts([]string{"abc", "d"})
	for size := range whole {
		c := columns{rest: [][]byte{whole[:size]}}
		if c.texts(); c.err == nil {
			t.Errorf("the first %d of %d bytes were read as an array", size, len(whole))
		}
	}
	names, values := properties(map[string]string{"k": "v", "": "empty", "é": ""})
	c := columns{rest: [][]byte{names, values}}
	if got := c.properties(); c.err != nil || !maps.Equal(got, map[string]string{"k": "v", "": "empty", "é": ""}) {
		t.Errorf("properties come back as %q (%v)", got, c.err)
	}
	for _, row := range [][][]byte{{}, {nil}, {{1, 2, 3}}} {
		c := columns{rest: row}
		if c.number(); c.err == nil {
			t.Errorf("%v was read as a number", row)
		}
	}
}

func TestEveryStatementHasItsOwnNameAndSchema(t *testing.T) {
	one, other := newStatements("icefield"), newStatements(`o"t.her`)
	if one.object.update.name == other.object.update.name || one.object.view.name == one.object.update.name {
		t.Error("two statements share a name")
	}
	if !strings.Contains(other.object.view.text, `"o""t.her".objects`) || strings.ContainsAny(other.object.view.text, "{}") {
		t.Errorf("the schema is not quoted in %s", other.object.view.text)
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	list, err := migrations()
	if err != nil || len(list) == 0 {
		t.Fatalf("%d migrations (%v)", len(list), err)
	}
}

func TestPrefixesEndWhereTheyShould(t *testing.T) {
	for prefix, want := range map[string]string{"a": "b", "a\xff": "b", "a\xfe": "a\xff", "\x00": "\x01"} {
		if got := after([]byte(prefix)); string(got) != want {
			t.Errorf("after %q comes %q, want %q", prefix, got, want)
		}
	}
	if after(nil) != nil || after([]byte("\xff\xff")) != nil {
		t.Error("something comes after everything")
	}
	for location, want := range map[string]string{"s3://b/t/m/1.json": "s3://b/t/m/", "x": "", "": "", strings.Repeat("a/", 1000): strings.Repeat("a/", 512)} {
		if got := folderOf(location); string(got) != want {
			t.Errorf("the folder of %q is %q", location, got)
		}
	}
}
