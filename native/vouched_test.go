package native

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// rewrite writes an object's metadata file anew with another location in it, as
// anybody can who has keys to write the object's data; nothing is cached.
func (f *fixture) rewrite(table *mounts.Table, location string) {
	f.t.Helper()
	if err := os.WriteFile(local(table.MetadataLocation), []byte(apart(f.t, table.Metadata, location)), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func forged(t *testing.T, change ...func(*Config)) *fixture {
	return newFixture(t, append(change, func(c *Config) { c.MetadataCache = 0 })...)
}

// A metadata file can be written anew by whoever may write the table's data. What
// it then says of where the table lies is not believed: nothing is written there,
// so that no pointer ever leads there, and nothing is deleted there.
func TestAMetadataFileThatWasWrittenAnewOpensNoOtherTable(t *testing.T) {
	ctx := context.Background()
	for name, place := range map[string]func(victim, around string) string{
		"the location of another":    func(victim, _ string) string { return victim },
		"a folder of another":        func(victim, _ string) string { return victim + "/data" },
		"the namespace around":       func(_, around string) string { return around },
		"the location, said another": func(victim, _ string) string { return "file:" + local(victim) },
	} {
		t.Run(name, func(t *testing.T) {
			f := forged(t)
			f.namespace("a")
			victim := mountLocation(t, f.table(ident("victim", "a")).Metadata)
			mine := f.table(ident("mine", "a"))
			f.rewrite(mine, place(victim, victim[:strings.LastIndexByte(victim, '/')]))
			before := f.files()
			_, err := f.CommitTable(ctx, setProperties(ident("mine", "a"), map[string]string{"k": "v"}))
			wantError(t, err, mounts.BadRequest, "a.mine", "equals, encloses or lies inside that of another table or view")
			err = f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("mine", "a"), Purge: true})
			wantError(t, err, mounts.InvalidArgument, "a.mine", "is not its own; nothing was dropped")
			if after := f.files(); len(after) != len(before) {
				t.Errorf("files: %q, before %q", after, before)
			}
			if got := f.load(ident("mine", "a")).MetadataLocation; got != mine.MetadataLocation {
				t.Errorf("the pointer moved to %q", got)
			}
		})
	}
}

// In a shared registry neither is a place that no table has: it is another
// tenant's.
func TestAMetadataFileThatWasWrittenAnewLeadsIntoNoOtherTenantsFolder(t *testing.T) {
	ctx := context.Background()
	f := forged(t, func(c *Config) { c.Shared = true })
	f.namespace("a")
	f.namespace("b")
	mine := f.table(ident("mine", "a"))
	f.rewrite(mine, f.folder("b")+"/left-behind")
	_, err := f.CommitTable(ctx, setProperties(ident("mine", "a"), map[string]string{"k": "v"}))
	wantError(t, err, mounts.BadRequest, "a.mine", "lies outside the folder of its top-level namespace")
	err = f.DropTable(ctx, &mounts.DropTableRequest{Table: ident("mine", "a"), Purge: true})
	wantError(t, err, mounts.InvalidArgument, "a.mine", "is not its own")
}

// The pointer vouches for the folder around the folder metadata that it leads
// into. So nobody chooses such a folder around others.
func TestNoChosenFolderOfMetadataMakesAPointerVouchForWhatIsAround(t *testing.T) {
	f := forged(t)
	f.namespace("a")
	id := ident("mine", "a")
	f.table(id)
	around := f.Warehouse() + "/a"
	moved := f.commit(setProperties(id, map[string]string{"write.metadata.path": around + "/metadata"}))
	if !strings.HasPrefix(moved.MetadataLocation, around+"/metadata/files/") {
		t.Errorf("the pointer is %q", moved.MetadataLocation)
	}
	// Its metadata lies elsewhere now; it can be changed and purged as before.
	f.commit(setProperties(id, map[string]string{"k": "v"}))
	own := mountLocation(t, moved.Metadata) + "/metadata"
	back := f.commit(setProperties(id, map[string]string{"write.metadata.path": own}))
	if !strings.HasPrefix(back.MetadataLocation, own+"/0") {
		t.Errorf("the pointer is %q", back.MetadataLocation)
	}
	if err := f.DropTable(context.Background(), &mounts.DropTableRequest{Table: id, Purge: true}); err != nil {
		t.Error(err)
	}
}

// Whoever may register tables in one namespace of a shared registry learns nothing
// of files that are another tenant's: not what stands in them, nor whether they are
// there.
func TestRegisteringTellsNothingOfFilesThatAreAnotherTenants(t *testing.T) {
	f := forged(t, func(c *Config) { c.Shared = true })
	f.namespace("a")
	f.namespace("b")
	theirs := f.table(ident("victim", "b")).MetadataLocation
	register := func(file string) string {
		t.Helper()
		_, err := f.RegisterTable(context.Background(), &mounts.RegisterTableRequest{Namespace: mounts.Namespace{"a"}, Name: "r", MetadataLocation: file})
		e := mounts.AsError(err)
		if err == nil || e.Kind != mounts.BadRequest || !strings.HasPrefix(e.Message(), "metadata-location: ") {
			t.Fatalf("%s: %v", file, err)
		}
		return strings.ReplaceAll(e.Message(), file, "FILE")
	}
	there := register(theirs)
	if none := register(strings.Replace(theirs, "/00000-", "/00009-", 1)); none != there {
		t.Errorf("one that is there: %q, one that is not: %q", there, none)
	}
	if _, err := f.RegisterView(context.Background(), &mounts.RegisterViewRequest{Namespace: mounts.Namespace{"a"}, Name: "r", MetadataLocation: theirs}); err == nil ||
		!strings.HasPrefix(mounts.AsError(err).Message(), "metadata-location: ") {
		t.Errorf("as a view: %v", err)
	}
}
