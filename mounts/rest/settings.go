package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// settings is what a remote's /v1/config says, merged with the mount's own
// configuration. It is immutable but for what calls learn.
type settings struct {
	*address
	// has is what the remote itself offers; can is what this backend offers,
	// with existence checks that a load answers.
	has, can capabilities.Set
	// pageSize is the page size that the remote recommends; 0 if none.
	pageSize int
	// quirks are the vendor's habits, by profile and as far as they were learnt.
	quirks Profile
	// called is what the remote calls itself, in messages.
	called []string
	// keyLifetime is how long the remote honours an Idempotency-Key; 0: never.
	keyLifetime time.Duration
	// notes are what an operator should know of it.
	notes []note
	// provisional settings are a guess: the remote tells its own only to callers,
	// and none has come yet.
	provisional bool
	// told is when the remote told them last, in Unix nanoseconds; 0 for never.
	told   atomic.Int64
	learnt learnt
	// moved: calls go to another address than the one that told the settings.
	moved bool
}

// settingsCall is the call of /v1/config.
func settingsCall(c Config) call {
	at := c.URL + "/v1/config"
	if c.Warehouse != "" {
		at += "?warehouse=" + escape(c.Warehouse, unreserved)
	}
	return call{kind: kindConfig, method: http.MethodGet, url: at}
}

// negotiate asks the remote for its settings.
func negotiate(ctx context.Context, k *client, c Config) (*settings, error) {
	at := settingsCall(c)
	a, err := k.do(ctx, at)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, settingsRefusal(at, a, c)
	}
	said, err := readSettings(a.body)
	if err != nil {
		return nil, broken(at, fmt.Errorf("its configuration: %w", err))
	}
	s, err := said.merge(c)
	if err != nil {
		return nil, &mounts.Error{Kind: mounts.BadGateway, Msg: "the remote catalog's configuration cannot be used: " + err.Error()}
	}
	s.told.Store(time.Now().UnixNano())
	return s, nil
}

// unasked is what a remote is taken to be that tells nobody but callers.
func unasked(c Config) (*settings, error) {
	s, err := (&configAnswer{}).merge(c)
	if err != nil {
		return nil, err
	}
	s.provisional = true
	return s, nil
}

// same reports settings that say the same.
func (s *settings) same(other *settings) bool {
	return *s.address == *other.address && s.has == other.has && s.can == other.can && s.pageSize == other.pageSize &&
		s.keyLifetime == other.keyLifetime && s.moved == other.moved && s.provisional == other.provisional && slices.Equal(s.notes, other.notes)
}

// note is something that an operator should know about a remote's settings.
type note struct{ text, name, value string }

// announce logs what is new to an operator.
func (s *settings) announce(log *slog.Logger, old *settings) {
	for _, n := range s.notes {
		if !slices.Contains(old.notes, n) {
			log.Warn(n.text, slog.String(n.name, n.value))
		}
	}
	if old.address == nil || old.provisional {
		return
	}
	log.Info("the remote catalog's settings have changed",
		slog.Any("gained", s.can.Without(old.can).Endpoints()), slog.Any("lost", old.can.Without(s.can).Endpoints()),
		slog.Bool("address_changed", s.root != old.root))
}

// settingsRefusal says what is wrong with the mount's catalog_url or warehouse.
func settingsRefusal(at call, a *answer, c Config) error {
	said, shaped := readRefusal(a)
	e := &mounts.Error{Kind: mounts.BadGateway, Err: said.cause(a)}
	switch {
	case a.status == http.StatusNotFound && shaped && c.Warehouse != "":
		e.Msg = fmt.Sprintf("the remote catalog has no warehouse %q; check the mount's warehouse", c.Warehouse)
	case a.status == http.StatusNotFound && shaped:
		e.Msg = "the remote catalog wants to be asked for a warehouse; set the mount's warehouse"
	case a.status == http.StatusNotFound:
		e.Msg = "there is no Iceberg REST catalog at catalog_url: it has no /v1/config (catalog_url is the part before /v1)"
	case a.status == http.StatusBadRequest:
		e.Msg = "the remote catalog refused to tell its configuration; check the mount's warehouse"
		if c.Warehouse != "" {
			e.Msg = fmt.Sprintf("the remote catalog refused to tell its configuration for warehouse %q; check the mount's warehouse", c.Warehouse)
		}
		if said.message != "" {
			e.Msg += ": " + said.message
		}
	case (a.status == http.StatusUnauthorized || a.status == statusAuthTimeout) && c.Auth.none():
		e.Msg = fmt.Sprintf("the remote catalog wants a login (status %d) and the mount has none; give it an auth block or token_env", a.status)
	default:
		return refusal(at, a)
	}
	return e
}

// configAnswer is /v1/config as it came.
type configAnswer struct {
	defaults, overrides map[string]string
	endpoints           []string
	malformed           int
	keyLifetime         time.Duration
	badLifetime         bool
}

// maxEndpoints bounds the endpoint list: the spec has fewer than forty.
const maxEndpoints = 4096

// readSettings reads a config answer. A missing or null `defaults` or
// `overrides` is empty (BigLake leaves them out).
func readSettings(body []byte) (*configAnswer, error) {
	c := &configAnswer{}
	err := members(body, func(name string, value jsontext.Value) (err error) {
		switch name {
		case "defaults":
			c.defaults, err = stringMap(value)
		case "overrides":
			c.overrides, err = stringMap(value)
		case "endpoints":
			err = c.readEndpoints(value)
		case "idempotency-key-lifetime":
			text, ok := stringValue(value)
			if !ok && value.Kind() == 'n' {
				return nil
			}
			c.keyLifetime, ok = lifetimeOf(text)
			c.badLifetime = !ok
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	return c, err
}

func (c *configAnswer) readEndpoints(value jsontext.Value) error {
	if value.Kind() == 'n' {
		return nil
	}
	return elements(value, func(entry jsontext.Value) error {
		if len(c.endpoints)+c.malformed >= maxEndpoints {
			return errors.New("endless list")
		}
		if text, ok := stringValue(entry); ok {
			c.endpoints = append(c.endpoints, text)
		} else {
			c.malformed++
		}
		return nil
	})
}

// merge applies defaults < mount < overrides. The mount sets its address, so a
// `uri` among the defaults never counts.
func (c *configAnswer) merge(own Config) (*settings, error) {
	get := func(name string) string {
		if value, ok := c.overrides[name]; ok {
			return value
		}
		return c.defaults[name]
	}
	var notes []note
	base := own.URL
	if moved, ok := c.overrides["uri"]; ok && strings.TrimRight(moved, "/") != base {
		if err := checkMove(base, moved); err != nil {
			notes = append(notes, note{"the remote catalog names another address, which is not followed", "reason", err.Error()})
		} else {
			base = strings.TrimRight(moved, "/")
		}
	}
	separator := get("namespace-separator")
	if separator == "" {
		separator = own.Profile.Separator
	}
	if endpoint := get("oauth2-server-uri"); endpoint != "" && !sameHost(endpoint, own.URL) {
		// Whoever controls it would be sent the mount's secret, or a caller's token.
		notes = append(notes, note{"the remote catalog names a token endpoint on another host, which is not used; set token_url if it should be", "name", "oauth2-server-uri"})
	}
	at, err := newAddress(base, get("prefix"), separator)
	if err != nil {
		return nil, err
	}
	s := &settings{address: at, moved: base != own.URL, quirks: own.Profile, called: ownNames(own.Warehouse, get("prefix"))}
	if size, err := strconv.Atoi(get("rest-page-size")); err == nil && size > 0 {
		s.pageSize = min(size, maxPageSize)
	}
	var malformed int
	s.has, malformed = capabilities.FromEndpoints(c.endpoints)
	listed := len(c.endpoints) > malformed
	if malformed += c.malformed; malformed > 0 {
		notes = append(notes, note{"the remote catalog's endpoint list has malformed entries, which are ignored", "entries", strconv.Itoa(malformed)})
	}
	if !listed && own.Profile.Endpoints != 0 {
		s.has = own.Profile.Endpoints
	}
	if c.badLifetime {
		notes = append(notes, note{"the remote catalog's idempotency-key-lifetime is not a duration, so no keys are sent", "name", "idempotency-key-lifetime"})
	}
	s.keyLifetime, s.notes = c.keyLifetime, notes
	if !listed && strings.EqualFold(get("view-endpoints-supported"), "true") {
		// Before the endpoint list there was this property (Java client,
		// RESTSessionCatalog).
		s.has = s.has.Union(capabilities.Of(capabilities.ListViews, capabilities.LoadView, capabilities.CreateView,
			capabilities.ReplaceView, capabilities.RenameView, capabilities.DropView))
	}
	s.can = forwards(own, s.has).Union(relayed(own, s.has))
	return s, nil
}

// quirks are the habits of the call's remote.
func (c call) quirks() Profile {
	if c.at == nil {
		return Profile{}
	}
	return c.at.quirks
}

// ownNames is what a remote may put before the names in its messages: its
// warehouse, its prefix, and the last word of that.
func ownNames(warehouse, prefix string) []string {
	var names []string
	add := func(name string) {
		if name != "" && len(name) <= 256 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(warehouse)
	if decoded, err := url.PathUnescape(strings.Trim(prefix, "/")); err == nil {
		add(decoded)
		words := strings.FieldsFunc(decoded, func(r rune) bool { return r == '/' || r == '|' })
		if len(words) > 0 {
			add(words[len(words)-1])
		}
	}
	return names
}

// maxURI bounds the address that a remote names: it begins every request's.
const maxURI = 2 << 10

// checkMove says why a remote's `uri` is not followed, or nil. Whoever controls
// it would be sent the mount's login.
func checkMove(from, to string) error {
	if len(to) > maxURI {
		return fmt.Errorf("it is longer than %d bytes", maxURI)
	}
	if _, err := checkURL("uri", to); err != nil {
		return err
	}
	old, err := url.Parse(from)
	if err != nil {
		return err
	}
	moved, err := url.Parse(to)
	if err != nil {
		return err
	}
	if !strings.EqualFold(old.Hostname(), moved.Hostname()) {
		return fmt.Errorf("it is on another host (%s)", moved.Hostname())
	}
	if old.Scheme == "https" && moved.Scheme != "https" {
		return errors.New("it gives up https")
	}
	return nil
}
