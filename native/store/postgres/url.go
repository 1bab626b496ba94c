package postgres

import (
	"errors"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What holds where the URL does not say otherwise.
const (
	defaultSchema  = "icefield"
	defaultConns   = 16
	maxConns       = 1000
	connectTimeout = 5 * time.Second
)

// BadURL says what is wrong with a database URL, without repeating any of it that
// could be secret.
type BadURL struct{ Problem string }

// Error implements error.
func (e *BadURL) Error() string { return "postgres: the database URL " + e.Problem }

// Address is what may be told of a database URL.
type Address struct {
	// Place names the registry without user and secrets, the same for every way of
	// writing the same host, database and schema. Two names of one host are two
	// places.
	Place string
	// Schema is the schema that holds the registry.
	Schema string
	// Password: the URL itself holds one.
	Password bool
}

// ParseURL checks a database URL without connecting. The error is a *BadURL.
func ParseURL(text string) (Address, error) {
	t, err := parse(text)
	if err != nil {
		return Address{}, err
	}
	return Address{Place: t.place, Schema: t.schema, Password: t.password}, nil
}

// target is a URL, understood.
type target struct {
	place, schema     string
	password, unnamed bool
	pool              *pgxpool.Config
}

func parse(text string) (target, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The library's error repeats the URL.
		return target{}, &BadURL{`cannot be read; in a user's name or a password each of : / ? # [ ] @ % stands as its code, as %40 for @`}
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return target{}, &BadURL{"does not begin with postgres://"}
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, &BadURL{"has parameters that cannot be read"}
	}
	for name, values := range query {
		if len(values) != 1 || values[0] == "" {
			return target{}, &BadURL{"gives " + strconv.QuoteToASCII(name) + " twice, or no value"}
		}
	}
	t := target{schema: defaultSchema}
	if query.Has("schema") {
		t.schema = query.Get("schema")
	}
	if problem := schemaProblem(t.schema); problem != "" {
		return target{}, &BadURL{"names a schema that " + problem}
	}
	switch query.Get("default_query_exec_mode") {
	case "", "cache_statement":
	case "exec":
		t.unnamed = true
	default:
		return target{}, &BadURL{`has another default_query_exec_mode than "cache_statement" and "exec"`}
	}
	_, inUser := u.User.Password()
	t.password = inUser || query.Has("password") || query.Has("sslpassword")
	bounded := query.Has("connect_timeout") || os.Getenv("PGCONNECT_TIMEOUT") != ""
	sized := query.Has("pool_max_conns")
	query.Del("schema")
	query.Del("default_query_exec_mode")
	u.RawQuery = query.Encode()
	t.pool, err = pgxpool.ParseConfig(u.String())
	if err != nil {
		return target{}, &BadURL{"cannot be used" + reason(err, u)}
	}
	c := t.pool.ConnConfig
	if !sized {
		t.pool.MaxConns = defaultConns
	}
	if t.pool.MaxConns > maxConns {
		return target{}, &BadURL{"asks for more than " + strconv.Itoa(maxConns) + " connections in pool_max_conns"}
	}
	if !bounded {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "icefield"
	}
	t.place = placeOf(c, t.schema)
	return t, nil
}

func schemaProblem(schema string) string {
	switch {
	case len(schema) > 63:
		return "is longer than 63 bytes"
	case strings.HasPrefix(schema, "pg_"), schema == "information_schema":
		return "belongs to the database itself"
	case strings.ContainsFunc(schema, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '�' }):
		return "holds a control character"
	}
	return ""
}

// reason is the library's reason, as far as it is known to hold nothing of the
// URL.
func reason(err error, u *url.URL) string {
	var parsing *pgconn.ParseConfigError
	if !errors.As(err, &parsing) {
		return ""
	}
	for _, known := range []string{"sslmode is invalid", "pool_max_conns", "pool_min_conns", "pool_min_idle_conns", "pool_max_conn_lifetime", "pool_max_conn_idle_time",
		"pool_health_check_period", "connect_timeout", "invalid port", "target_session_attrs", "sslrootcert", "sslcert", "sslkey", "service", "channel_binding",
		"require_auth", "krbsrvname", "min_protocol_version"} {
		// The text has the parameter's name where it is the cause; it must not be
		// there because the URL has it.
		if strings.Contains(strings.ReplaceAll(err.Error(), u.String(), ""), known) {
			return ": look at " + strings.TrimSuffix(known, " is invalid")
		}
	}
	return ""
}

// placeOf writes hosts, database and schema as a URL.
func placeOf(c *pgx.ConnConfig, schema string) string {
	var hosts []string
	add := func(host string, port uint16) {
		one := net.JoinHostPort(strings.ToLower(host), strconv.Itoa(int(port)))
		if strings.HasPrefix(host, "/") { // the folder of a socket
			one = url.PathEscape(host) + ":" + strconv.Itoa(int(port))
		}
		if !slices.Contains(hosts, one) {
			hosts = append(hosts, one)
		}
	}
	add(c.Host, c.Port)
	for _, f := range c.Fallbacks {
		add(f.Host, f.Port)
	}
	database := c.Database
	if database == "" {
		database = c.User // as the server does
	}
	place := "postgres://" + strings.Join(hosts, ",") + "/" + url.PathEscape(database)
	if schema != defaultSchema {
		place += "?schema=" + url.QueryEscape(schema)
	}
	return place
}
