package authn

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/hashicorp/golang-lru/v2"

	"github.com/icefield/icefield/policy"
)

const (
	keyLogin = "key"
	// MinKey and MaxKey bound an API key, in characters.
	MinKey = 16
	MaxKey = 1024
	// KeyPrefix begins the keys that are made by "icefield token mint", so that
	// they are known for what they are wherever they turn up.
	KeyPrefix = "icf_"
	// maxSeen bounds how many pairs of address and key are remembered.
	maxSeen = 4096
)

// HashKey checks an API key and returns what is kept of it. The error repeats
// nothing of the key.
func HashKey(key string) ([32]byte, error) {
	if len(key) < MinKey || len(key) > MaxKey {
		return [32]byte{}, fmt.Errorf("an API key has %d to %d characters, and this one has %d", MinKey, MaxKey, len(key))
	}
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return [32]byte{}, errors.New("an API key has letters, digits and punctuation of ASCII only, since it travels in a header")
		}
	}
	return sha256.Sum256([]byte(key)), nil
}

// keyring finds API keys.
type keyring struct {
	hashes     [][32]byte
	principals []*policy.Principal
	// seen holds the keys that an address has logged in with: those it may go on
	// using while it is locked out. What others have used does not count, or who is
	// locked out could go on trying for their keys.
	seen *lru.Cache[seen, struct{}]
}

type seen struct {
	addr netip.Addr
	key  int
}

func newKeyring(keys []Key) (*keyring, error) {
	r := &keyring{}
	for _, k := range keys {
		r.hashes = append(r.hashes, k.Hash)
		r.principals = append(r.principals, &policy.Principal{ID: policy.EntityID(keyLogin, k.Name), Name: k.Name,
			Tenant: k.Tenant, Roles: sorted(k.Roles), Operator: k.Operator, Login: "api_key"})
	}
	var err error
	r.seen, err = lru.New[seen, struct{}](maxSeen)
	return r, err
}

// find returns the index of a key, -1 for none. It takes as long for one that is
// nearly right as for any other: what is compared is the hash, with all of them.
func (r *keyring) find(key string) int {
	hash, err := HashKey(key)
	if err != nil {
		return -1
	}
	found := -1
	for i := range r.hashes {
		equal := subtle.ConstantTimeCompare(hash[:], r.hashes[i][:])
		found = subtle.ConstantTimeSelect(equal, i, found)
	}
	return found
}

// byKey logs in with an API key.
func (a *Authn) byKey(addr netip.Addr, key string) (*policy.Principal, error) {
	i := a.keys.find(key)
	known := i >= 0 && addr.IsValid() && a.keys.seen.Contains(seen{addr, i})
	if !known {
		if wait, blocked := a.blocked(addr); blocked {
			return nil, lockedOut(wait)
		}
	}
	if i < 0 {
		return nil, &denial{method: "api_key", why: "no API key and no token of a configured issuer", guess: true}
	}
	if !known && addr.IsValid() {
		a.keys.seen.Add(seen{addr, i}, struct{}{})
		a.succeeded(addr)
	}
	return a.keys.principals[i], nil
}

func sorted(roles []string) []string {
	all := slices.Clone(roles)
	slices.Sort(all)
	return slices.Compact(all)
}
