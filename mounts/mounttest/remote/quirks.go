package remote

import (
	"encoding/json"
	"time"
)

// Quirks are the lasting habits of a remote. The zero value is a remote that
// does everything as the REST spec says.
type Quirks struct {
	// Prefix is the `prefix` override. Paths must then begin with it (with
	// bytes that cannot stand in a URL percent-encoded).
	Prefix string
	// Separator is the `namespace-separator` override, as advertised ("%2E").
	// Empty: none is advertised and %1F is used.
	Separator string
	// URI is the `uri` override; "{url}" in it is the catalog's own base URL.
	URI string
	// DefaultURI is a `uri` among the defaults, which no client may follow.
	DefaultURI string
	// ExtraBase is a second base path that is served like the first one
	// ("/moved"), for a URI on the same host.
	ExtraBase string
	// Overrides and Defaults are further entries of the two maps.
	Overrides, Defaults map[string]string
	// NoDefaults and NoOverrides leave the member out of the config answer;
	// NullMaps sends both as null.
	NoDefaults, NoOverrides, NullMaps bool
	// Endpoints replaces the endpoint list: raw JSON, so that null, an empty
	// list and malformed entries can be told apart. Nil: the list of all reads.
	// NoEndpoints leaves the member out.
	Endpoints   json.RawMessage
	NoEndpoints bool
	// ConfigBody replaces the whole config answer. ConfigMembers stand in it
	// beside what the spec has, or instead of it.
	ConfigBody    []byte
	ConfigMembers map[string]any

	// NoHEAD answers every HEAD with 405; HEADStatus, if set, with that.
	NoHEAD     bool
	HEADStatus int
	// HEADOk is the status of a HEAD that succeeds: 204 if zero.
	HEADOk int
	// HEADHTML calls the answers to a HEAD a web page, as a login page does that
	// says 200 to everything.
	HEADHTML bool

	// NoPaging ignores page tokens and sizes: every listing is whole.
	NoPaging bool
	// PageCap is the most rows a page holds, whatever was asked for.
	PageCap int
	// OversizePages sends that many rows more than were asked for.
	OversizePages int
	// LastToken is what stands in next-page-token on the last page: raw JSON
	// (`null`, `""`). Empty: the member is left out.
	LastToken string
	// RepeatToken makes a page with a token answer with that same token again.
	RepeatToken bool
	// FirstToken replaces the token that the first page hands out.
	FirstToken string
	// TokenPrefix begins every token.
	TokenPrefix string
	// RelativeRows lists namespaces by their last level alone.
	RelativeRows bool
	// Descendants lists, beside the children of a namespace, all that lies in
	// them.
	Descendants bool
	// WrongNamespaces puts another namespace into the rows of table and view
	// listings.
	WrongNamespaces bool

	// NoETag leaves the ETag header out.
	NoETag bool
	// Gzip compresses every answer, asked for or not.
	Gzip bool
	// ErrorType replaces the type of every absence ("BaseException").
	ErrorType string
	// Latency delays every answer.
	Latency time.Duration

	// Bearer, if set, is demanded on every call as "Authorization: Bearer …".
	Bearer string
	// OAuth demands a token of the token route, for this client.
	OAuth *OAuth
	// SigV4 demands a signature of AWS's Signature Version 4 on every call.
	SigV4 *SigV4

	Dialect
	Abilities
	Storage
}

// Fault is one failure. Exactly one of Status, Raw and Break is used, in this
// order; the zero Fault does nothing.
type Fault struct {
	// Status answers an error of this status in the spec's shape.
	Status int
	// Type and Message fill that error; defaults depend on the status.
	Type, Message string
	// RetryAfter and Location are headers of it.
	RetryAfter, Location string
	// HTML sends an HTML page as its body, Empty none.
	HTML, Empty bool
	// Body replaces the body, whatever the status.
	Body []byte

	// Raw answers 200 with these bytes.
	Raw []byte

	// Break does damage to the connection or the answer.
	Break Break

	// After lets the catalog carry the call out first: the answer is lost, the
	// change is made. Cut, ShortBody and all that damage an answer do so anyway.
	After bool

	// Times is how many calls it hits; 0 is all of them.
	Times int
}

// Break is damage done to a connection or an answer.
type Break int

// The kinds of damage. After "sent" the remote has read the request.
const (
	// Hang never answers, until the client leaves or the server closes.
	Hang Break = iota + 1
	// Reset closes the connection without an answer.
	Reset
	// Cut closes the connection in the middle of the body (chunked).
	Cut
	// ShortBody announces more bytes than it sends.
	ShortBody
	// LongBody announces fewer bytes than the answer has.
	LongBody
	// Truncate sends half of the answer as if it were whole.
	Truncate
	// SlowBody sends the header and half of the body, then hangs.
	SlowBody
	// Bomb sends gzip that inflates to BombSize bytes of valid JSON.
	Bomb
	// BadGzip sends bytes that are announced as gzip and are not.
	BadGzip
	// UnknownEncoding announces an encoding nobody asked for.
	UnknownEncoding
	// Trailing appends a second JSON value to the answer.
	Trailing
	// NullLists sends null for every list of the answer.
	NullLists
	// NoLists leaves every list out of the answer.
	NoLists
	// StrayRows lists rows that do not lie where they were asked for.
	StrayRows
	// BadRows lists rows of the wrong type.
	BadRows
	// Created answers 201 instead of 200.
	Created
)

// BombSize is how far a Bomb inflates.
const BombSize = 16 << 20
