//go:build peers

package seaweed

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/examples/internal/wire"
)

const orders = "/namespaces/sales/tables/orders"

// TestALakeWithoutKeys runs seaweed.hcl. The steps build on the table that PyIceberg writes in the first one.
func TestALakeWithoutKeys(t *testing.T) {
	python := peers.NewPython(t)
	s := begin(t)
	run := func(t *testing.T, step string) {
		t.Helper()
		output := python.Run(t, "keyless.py", step, s.url)
		if !strings.HasSuffix(strings.TrimSpace(output), step+": all steps passed") {
			t.Fatal(output)
		}
	}
	run(t, "write")
	t.Run("PyIcebergReads", func(t *testing.T) { run(t, "read") })
	t.Run("DuckDBReads", func(t *testing.T) { run(t, "duckdb") })
	t.Run("BothPlacesHaveThem", func(t *testing.T) { testBothPlaces(t, s) })
	t.Run("OnlyForWhoAsks", func(t *testing.T) { testOnlyForWhoAsks(t, s) })
	t.Run("TheyAreRenewed", func(t *testing.T) { testTheyAreRenewed(t, s) })
	t.Run("GoodForOneTable", func(t *testing.T) { testGoodForOneTable(t, s) })
	t.Run("Registered", func(t *testing.T) { testRegistered(t, s) })
	t.Run("Withheld", func(t *testing.T) { testWithheld(t, s) })
	t.Run("OutsideOfTheFence", func(t *testing.T) { testOutsideOfTheFence(t, s) })
	t.Run("SecretsStayIn", func(t *testing.T) { testSecretsStayIn(t, s) })
}

func testBothPlaces(t *testing.T, s *scene) {
	_, g := ask(t, 200, s.mount("lake"), delegated, "GET", orders, nil)
	checkGiven(t, g, "v1/lake"+orders+"/credentials")
	_, g = ask(t, 200, s.mount(""), delegated, "GET", "/namespaces/lake%1Fsales/tables/orders", nil)
	checkGiven(t, g, "v1/namespaces/lake%1Fsales/tables/orders/credentials")

	_, g = ask(t, 200, s.mount("lake"), delegated, "POST", "/namespaces/sales/tables", map[string]any{"name": "returns", "schema": wire.Schema(), "stage-create": false})
	checkGiven(t, g, "v1/lake/namespaces/sales/tables/returns/credentials")
	if got := put(t, store(t, g.Config), g.Metadata.Location+"/data/one"); got != 200 {
		t.Errorf("the creator cannot write: %d", got)
	}
}

func testOnlyForWhoAsks(t *testing.T, s *scene) {
	for mount, path := range map[string]string{"lake": orders, "": "/namespaces/lake%1Fsales/tables/orders"} {
		for _, header := range []http.Header{nil, {"X-Iceberg-Access-Delegation": {"remote-signing"}}} {
			a, g := ask(t, 200, s.mount(mount), header, "GET", path, nil)
			if len(g.Credentials) > 0 || strings.Contains(string(a.Body), "s3.session-token") {
				t.Errorf("credentials for %v: %v", header, a)
			}
			for _, name := range append([]string{"client.refresh-credentials-endpoint"}, secretKeys...) {
				if g.Config[name] != "" {
					t.Errorf("%s for %v", name, header)
				}
			}
			if g.Config["s3.endpoint"] != s.seaweed.S3 {
				t.Errorf("where the store is was not said: %v", g.Config)
			}
		}
	}
}

func testTheyAreRenewed(t *testing.T, s *scene) {
	_, old := ask(t, 200, s.mount("lake"), delegated, "GET", orders, nil)
	for mount, endpoint := range map[string]string{
		"lake": strings.TrimPrefix(old.Config["client.refresh-credentials-endpoint"], "v1/lake"),
		"":     "/namespaces/lake%1Fsales/tables/orders/credentials",
	} {
		_, fresh := ask(t, 200, s.mount(mount), nil, "GET", endpoint, nil)
		if len(fresh.Credentials) != 1 || fresh.Credentials[0].Prefix != old.Metadata.Location {
			t.Fatalf("renewed: %+v", fresh.Credentials)
		}
		config := fresh.Credentials[0].Config
		if config["s3.session-token"] == old.Config["s3.session-token"] {
			t.Error("the fresh credentials are the old ones")
		}
		client := store(t, config)
		if got := put(t, client, old.Metadata.Location+"/data/renewed"); got != 200 {
			t.Errorf("the fresh credentials do not open the table: %d", got)
		}
		if got := read(t, client, old.MetadataLocation); got != 200 {
			t.Errorf("the fresh credentials do not read the table's metadata: %d", got)
		}
	}
	ask(t, 404, s.mount("lake"), nil, "GET", "/namespaces/sales/tables/nothing/credentials", nil)
}

func testGoodForOneTable(t *testing.T, s *scene) {
	_, orders := ask(t, 200, s.mount("lake"), delegated, "GET", orders, nil)
	_, returns := ask(t, 200, s.mount("lake"), delegated, "GET", "/namespaces/sales/tables/returns", nil)
	_, renewed := ask(t, 200, s.mount("lake"), nil, "GET", "/namespaces/sales/tables/returns/credentials", nil)
	for where, config := range map[string]map[string]string{"config": returns.Config, "storage-credentials": returns.Credentials[0].Config, "renewed": renewed.Credentials[0].Config} {
		client := store(t, config)
		if got := put(t, client, returns.Metadata.Location+"/data/mine"); got != 200 {
			t.Errorf("%s: its own table: %d", where, got)
		}
		for what, got := range map[string]int{
			"another table's metadata":    read(t, client, orders.MetadataLocation),
			"a file in another table":     put(t, client, orders.Metadata.Location+"/data/planted"),
			"a file beside the table":     put(t, client, strings.TrimSuffix(returns.Metadata.Location, "/")+"2/data/planted"),
			"a file at the bucket's root": put(t, client, "s3://"+s.seaweed.Bucket+"/planted"),
		} {
			if got != http.StatusForbidden {
				t.Errorf("%s: %s: %d from the store, want 403", where, what, got)
			}
		}
	}
}

// testRegistered drops a table, with which SeaweedFS removes its files, puts its metadata back with the credentials for its
// location, which outlive it, and registers it under another name.
func testRegistered(t *testing.T, s *scene) {
	lake := s.mount("lake")
	_, table := ask(t, 200, lake, delegated, "POST", "/namespaces/sales/tables", map[string]any{"name": "moving", "schema": wire.Schema(), "stage-create": false})
	client := store(t, table.Config)
	metadata := content(t, client, table.MetadataLocation)
	ask(t, 204, lake, nil, "DELETE", "/namespaces/sales/tables/moving", nil)
	if got := read(t, client, table.MetadataLocation); got != http.StatusNotFound {
		t.Fatalf("the dropped table's metadata: %d from the store", got)
	}
	write(t, client, table.MetadataLocation, metadata)
	body := map[string]any{"name": "moved", "metadata-location": table.MetadataLocation}
	_, moved := ask(t, 200, lake, delegated, "POST", "/namespaces/sales/register", body)
	checkGiven(t, moved, "v1/lake/namespaces/sales/tables/moved/credentials")
	if moved.MetadataLocation != table.MetadataLocation || moved.Metadata.UUID != table.Metadata.UUID {
		t.Errorf("registered %+v instead of %+v", moved, table)
	}
	if a, _ := ask(t, 409, lake, nil, "POST", "/namespaces/sales/register", body); a.Type != "AlreadyExistsException" {
		t.Errorf("registered twice: %v", a)
	}
}

func testWithheld(t *testing.T, s *scene) {
	_, _, before := s.between.passed()
	sealed := s.mount("sealed")
	for _, header := range []http.Header{nil, delegated, {"X-Iceberg-Access-Delegation": {"vended-credentials,remote-signing"}}} {
		_, g := ask(t, 200, sealed, header, "GET", orders, nil)
		if len(g.Credentials) > 0 || g.Config["s3.endpoint"] != s.seaweed.S3 {
			t.Errorf("withheld, for %v: %+v", header, g)
		}
		ask(t, 200, s.mount(""), header, "GET", "/namespaces/sealed%1Fsales/tables/orders", nil)
	}
	body := map[string]any{"name": "kept", "schema": wire.Schema(), "stage-create": true}
	ask(t, 200, sealed, delegated, "POST", "/namespaces/sales/tables", body)
	body["stage-create"] = false
	ask(t, 200, sealed, delegated, "POST", "/namespaces/sales/tables", body)
	for mount, path := range map[string]string{"sealed": orders, "": "/namespaces/sealed%1Fsales/tables/orders"} {
		a, _ := ask(t, 501, s.mount(mount), delegated, "GET", path+"/credentials", nil)
		if a.Type != "UnsupportedOperationException" || !strings.Contains(a.Message, "sealed") {
			t.Errorf("withheld: %v", a)
		}
	}
	config, err := sealed.Config("sealed")
	if err != nil || slices.ContainsFunc(config.Endpoints, func(e string) bool { return strings.HasSuffix(e, "/credentials") }) {
		t.Errorf("what is withheld is advertised: %v, %v", config, err)
	}
	if _, _, after := s.between.passed(); len(after) != len(before) {
		t.Errorf("credentials were asked for that nobody gets: %q", after[len(before):])
	}
	_, keys, _ := s.between.passed()
	s.heard.hunt(t, "sealed", append(keys, "access-key-id", "secret-access-key", "session-token", "refresh-credentials")...)
}

func testOutsideOfTheFence(t *testing.T, s *scene) {
	fenced := s.mount("fenced")
	for _, path := range []string{orders, orders + "/credentials"} {
		for _, header := range []http.Header{nil, delegated} {
			a, _ := ask(t, 403, fenced, header, "GET", path, nil)
			if a.Type != "ForbiddenException" || !strings.Contains(a.Message, "not inside this mount's allowed_locations") || !strings.Contains(a.Message, "sales.orders") {
				t.Errorf("outside of the fence: %v", a)
			}
		}
	}
	ask(t, 204, fenced, nil, "HEAD", orders, nil) // that it is there is no secret
	if got, err := fenced.Tables("sales").All(); err != nil || !slices.ContainsFunc(got, func(name string) bool { return strings.HasSuffix(name, "orders") }) {
		t.Errorf("the listing: %q, %v", got, err)
	}
	_, keys, _ := s.between.passed()
	s.heard.hunt(t, "fenced", append(keys, "secret-access-key", "session-token")...)
}

// testSecretsStayIn looks for the login of the mounts everywhere and for keys of the store in the log. It comes last.
func testSecretsStayIn(t *testing.T, s *scene) {
	ask(t, 200, s.mount(""), nil, "GET", "/config", nil)
	tokens, keys, _ := s.between.passed()
	if len(tokens) == 0 || len(keys) < 3*len(secretKeys) {
		t.Fatalf("there is nothing to hunt for: %d tokens, %d keys", len(tokens), len(keys))
	}
	own := append(tokens, s.seaweed.SecretKey, s.seaweed.AccessKeyID+":"+s.seaweed.SecretKey)
	s.heard.hunt(t, "", own...)
	log := s.icefield.Output()
	if !strings.Contains(log, "loadTable") {
		t.Fatalf("that is no log:\n%s", log)
	}
	hunt(t, log, append(own, keys...)...)
}
