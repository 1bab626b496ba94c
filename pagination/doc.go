// Package pagination holds what every listing shares: the request for a page,
// the page, and the sealed token that leads from one page to the next.
//
// Backends hand out plain cursors that only they understand. The catalog that a
// client talks to (the whole tree, or one mount) seals such a cursor together
// with the source it came from, so that it is never handed to another source,
// names and remote tokens inside it cannot be read, and a token that was
// altered or belongs to another listing is recognised and restarts the listing.
//
//	ring, err := pagination.NewKeyring(secret, map[string][]byte{"prod": config})
//	token := ring.Seal(listing, pagination.Position{Source: "prod", Cursor: "t42"})
//	position, ok := ring.Open(listing, token) // !ok: start again
//
// Layer: the lowest; it imports nothing of this module.
package pagination
