package cedar

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// A tenant that writes policies of its own holds nobody else up: neither with a
// file that cannot be read, nor with an id, nor by using up what there is.
func TestATenantsBrokenFilesKeepNobodyElsesPoliciesFromChanging(t *testing.T) {
	many := strings.Repeat("permit(principal,action==Icefield::Action::\"readMetrics\",resource);\n", maxTenantPolicies+1)
	for name, bad := range map[string]string{
		"not Cedar":             broken,
		"an unknown annotation": `@mark("x") permit (principal, action, resource);`,
		"too many":              many,
		"too long":              strings.Repeat("\n", maxTenantTotal+1),
	} {
		t.Run(name, func(t *testing.T) {
			// The tenants' names are such that the one at fault comes first.
			src := written(t, map[string]string{"": onlyRead, "acme": onlyDrop, "globex": onlyDrop})
			changes, log := make(chan error, 10), &bytes.Buffer{}
			l, err := Watch(src, WatchOptions{Every: time.Millisecond, OnChange: func(err error) { changes <- err }, Logger: slog.New(slog.NewTextHandler(log, nil))})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			allows := func(tenant string) string {
				return watched{Live: l}.allowsIn(t, tenant)
			}
			wait := func() error {
				select {
				case err := <-changes:
					return err
				case <-time.After(time.Minute):
					t.Fatal("the change is not seen")
					return nil
				}
			}
			put(t, src.Tenants["acme"][0], bad)
			if err := wait(); err == nil {
				t.Fatal("it is not reported")
			}
			if state, _, reason := l.Status(); state != StateRefused || strings.Contains(reason, "acme") {
				t.Errorf("%s: %s", state, reason)
			}
			// Rights are withdrawn, of the tenant at fault too, and another tenant's change.
			put(t, src.Files[0], `forbid (principal, action == Icefield::Action::"dropTable", resource in Icefield::Tenant::"acme");`)
			for l.Set().Len() < 3 || allows("acme") != "" {
				_ = wait()
			}
			put(t, src.Tenants["globex"][0], onlyRead)
			for allows("globex") != "loadTable" {
				_ = wait()
			}
			if l.Set().Problems() == nil || strings.Count(log.String(), "policies-acme.cedar") == 0 {
				t.Error("what is wrong is not told")
			}
			// The same with another source; one without a set before is strict.
			if _, err := Load(src); err == nil {
				t.Error("it is loaded from nothing")
			}
			if set, err := Reload(src, l.Set()); err != nil || set.Problems() == nil {
				t.Error(err)
			}
			// And what was wrong is put right.
			put(t, src.Files[0], onlyRead)
			put(t, src.Tenants["acme"][0], onlyDrop+` @id("more") permit (principal, action == Icefield::Action::"purgeTable", resource);`)
			for l.Set().Problems() != nil {
				_ = wait()
			}
			if state, _, _ := l.Status(); state != StateOK || allows("acme") != "loadTable dropTable" {
				t.Errorf("%s, %s", state, allows("acme"))
			}
		})
	}
}

func TestATenantsIDThatTheServerHasIsTheTenantsFault(t *testing.T) {
	src := written(t, map[string]string{"": onlyRead, "acme": onlyDrop})
	before, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	put(t, src.Files[0], strings.Replace(onlyRead, `"read"`, `"acme/x"`, 1))
	put(t, src.Tenants["acme"][0], strings.Replace(onlyDrop, `"drop"`, `"x"`, 1))
	set, err := Reload(src, before)
	if err != nil || set.Problems() == nil {
		t.Fatal(err)
	}
	if _, known := set.Policy("acme/drop"); !known || set.byID["acme/x"].tenant != "" {
		t.Error("the tenant's policy is in effect")
	}
	// One that is the server's now cannot stay the tenant's either.
	put(t, src.Files[0], strings.Replace(onlyRead, `"read"`, `"acme/drop"`, 1))
	put(t, src.Tenants["acme"][0], broken)
	if set, err := Reload(src, before); err == nil || set != nil {
		t.Error("one id means two policies")
	}
}

func TestTheServersOwnBrokenFilesStillChangeNothing(t *testing.T) {
	src := written(t, map[string]string{"": onlyRead, "acme": onlyDrop})
	before, err := Load(src)
	if err != nil {
		t.Fatal(err)
	}
	put(t, src.Files[0], broken)
	if set, err := Reload(src, before); err == nil || set != nil {
		t.Error("it is loaded")
	}
	// Nor is a tenant let in whose policies were never known.
	put(t, src.Files[0], onlyRead)
	src.Tenants["globex"] = []string{src.Files[0] + ".none"}
	if set, err := Reload(src, before); err == nil || set != nil {
		t.Error("it is loaded")
	}
}

func TestNoTenantsIDsAreThoseOfATenantWhoseNameBeginsLikeThem(t *testing.T) {
	s := load(t, map[string]string{"a": `@id("b/x") permit (principal, action, resource);`})
	src := s.source
	src.Tenants["a/b"] = src.Tenants["a"]
	path := t.TempDir() + "/x.cedar"
	write(t, path, `@id("x") permit (principal, action, resource);`)
	src.Tenants["a/b"] = []string{path}
	if both, err := Load(src); err != nil || both.Len() != 2 {
		t.Errorf("%v", err)
	}
}
