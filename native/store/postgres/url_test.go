package postgres

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/icefield/icefield/native/store"
)

// secret is the password in every URL here; no error may have it.
const secret = "hunter2"

func TestPlacesNameTheRegistryWithoutUserAndPassword(t *testing.T) {
	clean(t)
	for url, want := range map[string]string{
		"postgres://icefield:hunter2@db/prod":                                  "postgres://db:5432/prod",
		"postgresql://other@DB:5432/prod?sslmode=disable&pool_max_conns=3":     "postgres://db:5432/prod",
		"postgres://icefield:hunter2@db/prod?schema=icefield":                  "postgres://db:5432/prod",
		"postgres://icefield:hunter2@db/prod?schema=team%20b":                  "postgres://db:5432/prod?schema=team+b",
		"postgres://icefield:hunter2@[::1]:6000/a%2Fb":                         "postgres://[::1]:6000/a%2Fb",
		"postgres://one:5432,two:5433/prod?user=icefield":                      "postgres://one:5432,two:5433/prod",
		"postgres:///prod?host=/run/postgresql&user=icefield&password=hunter2": "postgres://%2Frun%2Fpostgresql:5432/prod",
		"postgres://icefield@db":                                               "postgres://db:5432/icefield",
	} {
		address, err := ParseURL(url)
		if err != nil || address.Place != want {
			t.Errorf("%s is %q (%v), want %q", url, address.Place, err, want)
		}
		if address.Password != strings.Contains(url, secret) {
			t.Errorf("%s: a password in it: %v", url, address.Password)
		}
	}
}

// clean removes what the driver would take from the surroundings.
func clean(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGPASSWORD", "PGSSLMODE", "PGSERVICE", "PGCONNECT_TIMEOUT", "PGAPPNAME"} {
		t.Setenv(name, "")
	}
}

func TestBadURLsSayWhatIsWrongAndRepeatNoSecret(t *testing.T) {
	clean(t)
	long := strings.Repeat("x", 64)
	for url, want := range map[string]string{
		"postgres://icefield:hunter2@db:port/prod":                                    "cannot be read",
		"postgres://icefield:hun%ter2hunter2@db/prod":                                 "cannot be read",
		"postgres://icefield:hunter2/@db/prod":                                        "cannot be read",
		"mysql://icefield:hunter2@db/prod":                                            "does not begin with postgres://",
		"hunter2":                                                                     "does not begin with postgres://",
		"postgres://icefield:hunter2@db/prod?schema=":                                 `gives "schema" twice, or no value`,
		"postgres://icefield:hunter2@db/prod?sslmode=a&sslmode=b":                     `gives "sslmode" twice, or no value`,
		"postgres://icefield:hunter2@db/prod?schema=pg_x":                             "belongs to the database itself",
		"postgres://icefield:hunter2@db/prod?schema=" + long:                          "longer than 63 bytes",
		"postgres://icefield:hunter2@db/prod?schema=%00":                              "control character",
		"postgres://icefield:hunter2@db/prod?schema=%ff":                              "control character",
		"postgres://icefield:hunter2@db/prod?%zz":                                     "parameters that cannot be read",
		"postgres://icefield:hunter2@db/prod?sslmode=hunter2":                         "look at sslmode",
		"postgres://icefield:hunter2@db/prod?pool_max_conns=hunter2":                  "look at pool_max_conns",
		"postgres://icefield:hunter2@db/prod?pool_max_conns=0":                        "look at pool_max_conns",
		"postgres://icefield:hunter2@db/prod?pool_max_conns=5000":                     "more than 1000 connections",
		"postgres://icefield:hunter2@db/prod?connect_timeout=hunter2":                 "look at connect_timeout",
		"postgres://icefield:hunter2@db/prod?sslrootcert=/hunter2/none":               "look at sslrootcert",
		"postgres://icefield:hunter2@db/prod?default_query_exec_mode=simple_protocol": "default_query_exec_mode",
	} {
		_, err := ParseURL(url)
		var bad *BadURL
		if !errors.As(err, &bad) || !strings.Contains(bad.Problem, want) {
			t.Errorf("%s: %v, want %q", url, err, want)
			continue
		}
		if _, opening := Open(t.Context(), Config{URL: url}); opening == nil || opening.Error() != err.Error() {
			t.Errorf("%s: opened with %v", url, opening)
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "none") {
			t.Errorf("%s: a secret is in %v", url, err)
		}
	}
}

func TestTheURLBoundsThePool(t *testing.T) {
	clean(t)
	plain, err := parse("postgres://icefield@db/prod")
	if err != nil {
		t.Fatal(err)
	}
	if plain.pool.MaxConns != 16 || plain.pool.ConnConfig.ConnectTimeout != 5*time.Second || plain.schema != "icefield" || plain.unnamed {
		t.Errorf("the defaults are %d connections, %v, schema %q", plain.pool.MaxConns, plain.pool.ConnConfig.ConnectTimeout, plain.schema)
	}
	said, err := parse("postgres://icefield@db/prod?pool_max_conns=40&connect_timeout=7&schema=Other&default_query_exec_mode=exec&application_name=me")
	if err != nil {
		t.Fatal(err)
	}
	c := said.pool.ConnConfig
	if said.pool.MaxConns != 40 || c.ConnectTimeout != 7*time.Second || said.schema != "Other" || !said.unnamed || c.RuntimeParams["application_name"] != "me" {
		t.Errorf("read as %d connections, %v, schema %q, %v", said.pool.MaxConns, c.ConnectTimeout, said.schema, c.RuntimeParams)
	}
	// What is ours must not reach the server, which refuses what it does not know.
	for _, name := range []string{"schema", "default_query_exec_mode", "pool_max_conns"} {
		if _, there := c.RuntimeParams[name]; there {
			t.Errorf("%s is sent to the server", name)
		}
	}
}

// A port that nobody listens on refuses at once; the answer must still come only
// after the time that a restart may take, and hold no secret.
func TestADatabaseThatRefusesConnectionsIsUnavailable(t *testing.T) {
	clean(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	begin := time.Now()
	_, err = Open(t.Context(), Config{URL: "postgres://icefield:hunter2@" + address + "/prod?sslmode=disable", Patience: 200 * time.Millisecond})
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrOutcomeUnknown) {
		t.Errorf("a closed port: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the password is in %v", err)
	}
	if err != nil && !strings.Contains(err.Error(), "postgres://"+address+"/prod") {
		t.Errorf("the database is not named in %v", err)
	}
	if took := time.Since(begin); took < 200*time.Millisecond {
		t.Errorf("it was given up after %v", took)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Open(short, Config{URL: "postgres://icefield:hunter2@" + address + "/prod?sslmode=disable", Patience: time.Hour}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a deadline: %v", err)
	}
}

// A host that swallows connections is a database that does not answer, not a pool
// that is too small.
func TestAHostThatSwallowsConnectionsDoesNotAnswer(t *testing.T) {
	clean(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Open(t.Context(), Config{URL: "postgres://icefield:hunter2@" + l.Addr().String() + "/prod?sslmode=disable",
		Acquire: 50 * time.Millisecond, Patience: 150 * time.Millisecond})
	if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "did not answer") || strings.Contains(err.Error(), "pool_max_conns") {
		t.Errorf("was told %v", err)
	}
	if err != nil && strings.Contains(err.Error(), secret) {
		t.Errorf("the password is in %v", err)
	}
}
