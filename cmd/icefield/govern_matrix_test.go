package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/router"
)

// spotInRealm is a namespace called shop and an object in it, as a client of one
// catalog calls them.
type spotInRealm struct {
	*realm
	kind, prefix string
	levels       []string // above shop
	shop, o, x   string
	store        string
}

// fill puts the names into a path or a body.
func (c *spotInRealm) fill(text string) string {
	path, in := "", ""
	for _, level := range append(slices.Clone(c.levels), c.shop) {
		path, in = path+"%1F"+level, in+`,"`+level+`"`
	}
	return strings.NewReplacer("{shop}", path[3:], "{in}", in[1:], "{o}", c.o, "{x}", c.x).Replace(text)
}

func (c *spotInRealm) path(text string) string { return "/v1" + c.prefix + c.fill(text) }

func (c *spotInRealm) as(t testing.TB, who, verb string, e *expected) said {
	return c.ask(t, who, verb, c.path(e.path), c.fill(e.body), e.headers...)
}

// operator does what must succeed.
func (c *spotInRealm) operator(t testing.TB, verb, path, body string) string {
	t.Helper()
	return c.do(t, "operator", verb, c.path(path), c.fill(body))
}

// places are where the rows are tried: each mount by the tree and by its own view.
func placesOf(r *realm, store string) map[string]*spotInRealm {
	all := map[string]*spotInRealm{}
	for name, c := range map[string]spotInRealm{
		"tree, registry":   {kind: kindGrants, levels: []string{"prod"}},
		"view, registry":   {kind: kindGrants, prefix: "/prod"},
		"tree, remote":     {kind: kindRelays, levels: []string{"partner"}},
		"view, remote":     {kind: kindRelays, prefix: "/partner"},
		"tree, underneath": {kind: kindBare, levels: []string{"ours"}},
		"view, underneath": {kind: kindBare, prefix: "/root", levels: []string{"ours"}},
		"tree, deeper":     {kind: kindGrants, levels: []string{"prod", "deep"}},
	} {
		c.realm, c.store, c.shop = r, store, "shop"
		all[name] = &c
	}
	return all
}

func errorOf(t testing.TB, a said) (kind string, code int) {
	t.Helper()
	var body struct {
		Error struct {
			Message, Type string
			Code          int
		}
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), "%d %q", a.status, a.body)
	assert.NotEmpty(t, body.Error.Message)
	return body.Error.Type, body.Error.Code
}

// refused checks an error answer. HEAD has no body.
func refused(t testing.TB, verb string, a said, status int, kind, what string) {
	t.Helper()
	if !assert.Equal(t, status, a.status, "%s: %s", what, a.body) {
		return
	}
	if verb == http.MethodHead {
		assert.Empty(t, a.body, what)
		return
	}
	got, code := errorOf(t, a)
	assert.Equal(t, kind, got, "%s: %s", what, a.body)
	assert.Equal(t, status, code, what)
}

// lineOf is an answer as one line, without what differs from request to request. A
// connection is closed where a body was not read.
func lineOf(a said) string {
	h := a.header.Clone()
	for _, name := range []string{"Date", "X-Request-Id", "Connection"} {
		h.Del(name)
	}
	return fmt.Sprint(a.status, h, a.body)
}

var strangers = []string{"", "expired", "wrong audience"} // read only

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

func routeKey(verb, path string) string {
	return verb + " " + placeholder.ReplaceAllString(strings.Replace(path, "/{prefix}", "", 1), "{}")
}

func TestEveryRouteHasARow(t *testing.T) {
	has := map[string]bool{}
	rows := operationRows()
	for _, op := range capabilities.Operations() {
		for _, kind := range []string{kindGrants, kindRelays, kindBare} {
			assert.True(t, slices.ContainsFunc(rows[op.Op], func(e expected) bool { return e.only == "" || e.only == kind }), "%s has no row for %s", op.Name, kind)
		}
		has[routeKey(op.Verb, op.Path)] = true
	}
	for _, row := range serverRows() {
		has[routeKey(row.verb, strings.SplitN(row.path, "?", 2)[0])] = true
	}
	routes := router.Routes(router.Config{Token: func(http.ResponseWriter, *http.Request, policy.Client) {}, Gatherer: prometheus.NewRegistry(),
		Policy: func() router.PolicyStatus { return router.PolicyStatus{} }, Audit: func() router.AuditStatus { return router.AuditStatus{} }})
	require.Greater(t, len(routes), len(capabilities.Operations()))
	for _, route := range routes {
		assert.True(t, has[routeKey(route.Verb, route.Path)], "%s %s has no row: nobody says who may call it", route.Verb, route.Path)
	}
}

func TestEveryOperationAnswersEachCallerAsItsRowSays(t *testing.T) {
	store, sts := bucket(t)
	r := newRealm(t, ownedText("/", "")+grantingText("prod", "acme", store, sts)+relayingText("partner", "acme", withEverything(t))+ownedText("lake", "globex"))
	r.do(t, "acme-writer", "POST", "/v1/namespaces", `{"namespace":["ours"]}`)
	r.do(t, "operator", "POST", "/v1/namespaces", `{"namespace":["prod","deep"]}`)
	nobody := r.ask(t, "", "GET", "/v1/namespaces", "")
	refused(t, "GET", nobody, 401, "NotAuthorizedException", "nobody")
	assert.Equal(t, "Bearer", nobody.header.Get("WWW-Authenticate"))
	for name, place := range placesOf(r, store) {
		stock(t, *place)
		t.Run(name, func(t *testing.T) {
			serial := 0
			rows := operationRows()
			for _, op := range capabilities.Operations() {
				for _, e := range rows[op.Op] {
					if e.only != "" && e.only != place.kind {
						continue
					}
					try(t, *place, op, e, nobody, &serial)
				}
			}
		})
	}
}

// stock makes what all callers ask for, if it is not there.
func stock(t testing.TB, c spotInRealm) {
	t.Helper()
	if c.ask(t, "operator", "GET", c.path("/namespaces/{shop}"), "").status == http.StatusOK {
		return
	}
	c.operator(t, "POST", "/namespaces", `{"namespace":[{in}]}`)
	c.o = "inner"
	newNamespace(t, &c)
	c.o = "orders"
	newTable(t, &c)
	c.o = "totals"
	newView(t, &c)
}

// try asks one row as everybody.
func try(t *testing.T, c spotInRealm, op capabilities.Operation, e expected, nobody said, serial *int) {
	what := fmt.Sprintf("%s %s", op.Name, strings.Join(e.headers, " "))
	fresh := func() {
		if c.o = e.o; c.o == "" {
			*serial++
			c.o = fmt.Sprintf("v%04d-%d", *serial, len(c.prefix))
		}
		if e.prepare != nil {
			c.x = e.prepare(t, &c)
		}
	}
	look := func() string {
		if e.look == "" {
			return ""
		}
		return lineOf(c.ask(t, "operator", "GET", c.path(e.look), ""))
	}
	fresh()
	before := look()
	for _, who := range strangers {
		a := c.as(t, who, op.Verb, &e)
		if op.Verb == http.MethodHead {
			assert.Equal(t, 401, a.status, what)
			assert.Empty(t, a.body, what)
			continue
		}
		assert.Equal(t, lineOf(nobody), lineOf(a), "%s as %q", what, who)
	}
	for _, who := range []string{"globex-admin", "globex-reader"} {
		a := c.as(t, who, op.Verb, &e)
		kind := e.absent
		if c.prefix != "" && c.prefix != "/root" {
			kind = "NoSuchWarehouseException"
		}
		refused(t, op.Verb, a, 404, kind, what+" as "+who)
		for part, twin := range twins(c, &e) {
			b := twin.as(t, who, op.Verb, &e)
			back := strings.NewReplacer("prud", "prod", "partnar", "partner", "ouds", "ours", "shup", "shop")
			text := back.Replace(lineOf(b))
			if part == "object" {
				text = strings.ReplaceAll(text, twin.o, c.o)
			}
			assert.Equal(t, lineOf(a), text, "%s as %s differs from what is not there by its %s", what, who, part)
		}
	}
	assert.Equal(t, before, look(), "%s: somebody who may not has changed it", what)
	for _, role := range []string{"reader", "writer", "admin"} {
		who := "acme-" + role
		if !strings.Contains(e.may, role) {
			refused(t, op.Verb, c.as(t, who, op.Verb, &e), 403, "ForbiddenException", what+" as "+who)
			assert.Equal(t, before, look(), "%s: a %s has changed it", what, role)
		}
	}
	for role := range strings.FieldsSeq(e.may) {
		a := c.as(t, "acme-"+role, op.Verb, &e)
		if assert.Equal(t, e.ok, a.status, "%s as %s: %s", what, role, a.body) {
			assert.Contains(t, a.body, e.says, "%s as %s", what, role)
			switch {
			case role == "reader":
				assert.NotContains(t, a.body, relayedKey, "%s: what the remote gives out can write", what)
			case e.wide != "":
				assert.Contains(t, a.body, e.wide, "%s as %s", what, role)
			}
			if op.Verb != "HEAD" && e.ok == 200 {
				assert.True(t, json.Valid([]byte(a.body)), what)
			}
		}
		if e.look != "" && e.ok < 300 {
			assert.NotEqual(t, before, look(), "%s as %s changed nothing", what, role)
		}
		fresh()
		before = look()
	}
}

// twins are names of which one part is of nothing that there is.
func twins(c spotInRealm, e *expected) map[string]spotInRealm {
	all := map[string]spotInRealm{}
	top, shop, object := c, c, c
	other := map[string]string{"prod": "prud", "partner": "partnar", "ours": "ouds"}
	top.levels = slices.Clone(c.levels)
	if len(top.levels) > 0 {
		top.levels[0] = other[top.levels[0]]
	} else {
		top.prefix = "/" + other[top.prefix[1:]]
	}
	shop.shop = "shup"
	all["catalog"], all["namespace"] = top, shop
	if !e.makes {
		object.o = "x" + c.o[1:]
		all["object"] = object
	}
	return all
}
