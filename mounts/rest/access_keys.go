package rest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A remote hands out access to storage as entries of a string map, in a table's
// config or in a storage credential. Which ones pass, what store each is for and
// which tell an expiry is this file; everything else is a hint (hints.go), part
// of signing (sign.go) or dropped.

// accessKey is what is known of one entry.
type accessKey struct {
	// store is what it opens: "s3", "gcs", "adls" or "oss"; empty for all.
	store string
	// opens: with it, and not without, there is access.
	opens bool
	// expiry: its value is when the access ends, in milliseconds since 1970.
	expiry bool
}

func knownAccessKey(name string) (accessKey, bool) {
	switch name {
	case "s3.access-key-id", "s3.session-token":
		return accessKey{store: "s3"}, true
	case "s3.secret-access-key":
		return accessKey{store: "s3", opens: true}, true
	case "s3.session-token-expires-at-ms":
		return accessKey{store: "s3", expiry: true}, true
	case "gcs.oauth2.token":
		return accessKey{store: "gcs", opens: true}, true
	case "gcs.oauth2.token-expires-at":
		return accessKey{store: "gcs", expiry: true}, true
	case "adls.sas-token", "adls.token", "adls.account-key", "adls.auth.shared-key.account.key":
		return accessKey{store: "adls", opens: true}, true
	case "adls.auth.shared-key.account.name":
		return accessKey{store: "adls"}, true
	case "client.access-key-secret": // Alibaba OSS
		return accessKey{store: "oss", opens: true}, true
	case "client.access-key-id", "client.security-token":
		return accessKey{store: "oss"}, true
	case "expiration-time": // Polaris, read by iceberg-go
		return accessKey{expiry: true}, true
	}
	switch {
	case strings.HasPrefix(name, "adls.sas-token-expires-at-ms."):
		return accessKey{store: "adls", expiry: true}, true
	case strings.HasPrefix(name, "adls.sas-token."):
		return accessKey{store: "adls", opens: true}, true
	}
	return accessKey{}, false
}

// store is the store that a hint is about; empty for all of them.
func hintStore(name string) string {
	store, _, _ := strings.Cut(name, ".")
	switch store {
	case "s3", "gcs", "adls", "oss":
		return store
	case "client":
		return "s3"
	}
	return ""
}

const (
	// maxAccessValue bounds a token, maxAccount the account in a key's name.
	maxAccessValue = 16 << 10
	maxKeyName     = 512
)

var (
	errLongValue = errors.New("a storage credential is longer than any store makes them")
	errOddValue  = errors.New("a storage credential holds characters that none has")
)

// accessOf keeps the entries of a remote's map that give access, those without a
// value left out. A value that cannot be one is an error: without it the rest
// would look like all there is.
func accessOf(config map[string]string) (map[string]string, error) {
	var kept map[string]string
	for name, value := range config {
		key, ok := knownAccessKey(name)
		if !ok || value == "" || len(name) > maxKeyName {
			continue
		}
		switch {
		case key.expiry:
			if value, ok = expiryText(value); !ok {
				continue
			}
		case len(value) > maxAccessValue:
			return nil, fmt.Errorf("%.60q: %w", name, errLongValue)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("%.60q: %w", name, errOddValue)
		}
		if kept == nil {
			kept = map[string]string{}
		}
		kept[name] = value
	}
	return kept, nil
}

// opened lists the stores that a map gives access to.
func opened(config map[string]string) map[string]bool {
	var stores map[string]bool
	for name := range config {
		if key, ok := knownAccessKey(name); ok && key.opens {
			if stores == nil {
				stores = map[string]bool{}
			}
			stores[key.store] = true
		}
	}
	return stores
}

// expiryText spells an expiry as clients parse it: a whole number of
// milliseconds. It reports false for what is no point in time, as the zero that
// some servers send for "never".
func expiryText(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if ms, err := strconv.ParseInt(value, 10, 64); err == nil {
		return strconv.FormatInt(ms, 10), ms > 0
	}
	if f, err := strconv.ParseFloat(value, 64); err == nil && f >= 1 && f < math.MaxInt64/2 {
		return strconv.FormatInt(int64(f), 10), true
	}
	if at, err := time.Parse(time.RFC3339, value); err == nil && at.UnixMilli() > 0 {
		return strconv.FormatInt(at.UnixMilli(), 10), true
	}
	return "", false
}

// expired reports access that has ended.
func expired(config map[string]string, now time.Time) bool {
	for name, value := range config {
		if key, ok := knownAccessKey(name); ok && key.expiry {
			if ms, err := strconv.ParseInt(value, 10, 64); err == nil && ms <= now.UnixMilli() {
				return true
			}
		}
	}
	return false
}
