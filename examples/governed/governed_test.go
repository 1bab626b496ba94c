//go:build peers

package governed

import (
	"maps"
	"strings"
	"testing"
	"time"
)

// TestAGovernedLake runs governed.hcl. The steps build on the tables that the first ones write.
func TestAGovernedLake(t *testing.T) {
	s, c := begin(t), clients(t)
	task := func(more map[string]any) map[string]any {
		all := map[string]any{"url": s.url, "store": s.store.S3}
		for who, key := range s.keys {
			all[who] = key
		}
		maps.Copy(all, more)
		return all
	}
	python := func(step string, more map[string]any) func(*testing.T) {
		return func(t *testing.T) { run(t, c.python(), "iceberg.py", step, task(more)) }
	}
	start, brief := time.Now(), mintEnding(t, s)
	t.Run("PyIcebergWritesByVendedKeys", python("written", nil))
	t.Run("PyIcebergReadsByVendedKeys", python("read", nil))
	t.Run("TablesOfTwoCompanies", python("company", nil))
	t.Run("AtTheSameTime", func(t *testing.T) {
		t.Run("Spark", func(t *testing.T) {
			t.Parallel()
			run(t, c.spark(), "engine.py", "spark", task(map[string]any{
				"etl": password("etl"), "token": s.issuer.token(t, "etl"), "alice": s.issuer.token(t, "alice"),
				"unsigned": unsigned, "session": session.Seconds(),
			}))
		})
		t.Run("PyIcebergOutlivesItsKeys", func(t *testing.T) {
			t.Parallel()
			python("long", nil)(t)
		})
		t.Run("Others", func(t *testing.T) {
			t.Parallel()
			t.Run("PyIcebergByRemoteSigning", python("signed", nil))
			t.Run("PyIcebergByTheOldRoute", python("fixed", map[string]any{"foreign": s.location(t, "globex", "pond", "fish", "stock")}))
			t.Run("PyIcebergLogsIn", python("logins", map[string]any{"etl": password("etl"), "token": s.issuer.token(t, "etl")}))
			s.issuer.rotate(t) // in the middle of all that
			t.Run("DuckDB", python("duck", map[string]any{"etl": password("etl")}))
			t.Run("OneTableForOnePerson", python("alice", map[string]any{"token": s.issuer.token(t, "alice")}))
			t.Run("RestrictedPyIceberg", python("restricted", map[string]any{"token": s.issuer.token(t, "sam")}))
			t.Run("VendedKeys", func(t *testing.T) { testVendedKeys(t, s) })
			t.Run("CraftedRequests", func(t *testing.T) { testCraftedRequests(t, s) })
			t.Run("Tokens", func(t *testing.T) { testTokens(t, s) })
			t.Run("Restrictions", func(t *testing.T) { testRestrictions(t, s) })
			t.Run("KeysEnd", brief.over)
		})
	})
	t.Run("Audit", func(t *testing.T) { testAudit(t, s) })
	t.Run("SecretsStayIn", func(t *testing.T) { testSecretsStayIn(t, s) })
	t.Logf("all: %v", time.Since(start))
}

// unsigned says that it is admin, and nobody vouches for it.
const unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsInRlbmFudCI6ImFjbWUiLCJyb2xlcyI6WyJhZG1pbiJdfQ."

// location is where a table's metadata lies.
func (s *scene) location(t *testing.T, who, mount, namespace, table string) string {
	t.Helper()
	_, g := s.as(t, who, mount).ask(t, 200, "", "GET", "/namespaces/"+namespace+"/tables/"+table, nil)
	if !strings.HasPrefix(g.MetadataLocation, "s3://"+bucket+"/"+mount+"/") {
		t.Fatalf("the table is at %q", g.MetadataLocation)
	}
	return g.MetadataLocation
}
