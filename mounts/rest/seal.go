package rest

import (
	"encoding/json"
	"slices"

	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/pagination"
)

// What a remote wants to see again (plan ids, plan tasks, the address of its
// signer) is handed to clients sealed, good for this mount and one table: so it
// can neither be read nor be used for another table.

// What is sealed, and how long it may get: an id stands in a path, a task in a
// body.
const (
	sealedPlan   = "plan"
	sealedTask   = "plan-task"
	sealedSigner = "signer"

	maxSealedTask = 256 << 10
)

func (b *Backend) sealing(kind string, table mounts.Identifier) pagination.Listing {
	return pagination.Listing{Scope: b.config.Mount, Kind: kind, Parent: append(slices.Clone([]string(table.Namespace)), table.Name)}
}

func (b *Backend) seal(kind string, table mounts.Identifier, text string) (string, error) {
	longest := pagination.MaxToken
	if kind == sealedTask {
		longest = maxSealedTask
	}
	return b.config.Ring.SealUpTo(longest, b.sealing(kind, table), pagination.Position{Source: b.config.Mount, Cursor: text})
}

func (b *Backend) unseal(kind string, table mounts.Identifier, token string) (string, bool) {
	longest := pagination.MaxToken
	if kind == sealedTask {
		longest = maxSealedTask
	}
	at, ok := b.config.Ring.OpenUpTo(longest, b.sealing(kind, table), token)
	return at.Cursor, ok && at.Source == b.config.Mount
}

func (b *Backend) sealSigner(table mounts.Identifier, s signer) (string, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return b.seal(sealedSigner, table, string(text))
}

func (b *Backend) openSigner(table mounts.Identifier, state string) (s signer, ok bool) {
	text, ok := b.unseal(sealedSigner, table, state)
	return s, ok && json.Unmarshal([]byte(text), &s) == nil && s.URL != ""
}
