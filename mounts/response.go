package mounts

import (
	"encoding/json"
)

// Response is what an operation answers: one of the types of this file, a page
// of Namespaces or Identifiers, or nil for an operation that answers nothing.
type Response any

// NamespaceInfo is a namespace with its properties. Properties is never nil in
// a response.
type NamespaceInfo struct {
	Namespace  Namespace         `json:"namespace"`
	Properties map[string]string `json:"properties"`
}

// UpdatedProperties says what a property update did. The lists are never nil in
// a response; Missing holds removals of keys that were not there.
type UpdatedProperties struct {
	Updated []string `json:"updated"`
	Removed []string `json:"removed"`
	Missing []string `json:"missing"`
}

// StorageCredential is access to one storage prefix (REST spec,
// StorageCredential).
type StorageCredential struct {
	Prefix string            `json:"prefix"`
	Config map[string]string `json:"config"`
}

// Table is a loaded, created, registered or committed table (REST spec,
// LoadTableResult and CommitTableResponse).
type Table struct {
	// MetadataLocation is empty for a staged table only.
	MetadataLocation string
	// Metadata is the table metadata document, byte for byte as the catalog
	// that governs it wrote it. It may be shared: never change it.
	Metadata           json.RawMessage
	Config             map[string]string
	StorageCredentials []StorageCredential
	// Refresh tells that LoadCredentials renews the credentials above, so that
	// whoever serves them may name its own credentials route for that. A backend
	// never names a route itself: it does not know what its objects are called
	// where the client is.
	Refresh bool
	// Signing is set if storage requests are to be signed by SignRequest, one by
	// one; whoever serves the table names its own sign route.
	Signing *Signing
	// Extra holds further top-level fields of a remote's answer that nobody
	// here knows, by name, in their own bytes: a restriction that a remote
	// placed on a read must not be lost on the way.
	Extra map[string]json.RawMessage
	// ETag is the entity tag of this representation, quotes included; empty if
	// there is none.
	ETag string
	// NotModified answers a load whose IfNoneMatch held the current tag. Then
	// only ETag is set.
	NotModified bool
}

// Signing says how to have storage requests of a table signed.
type Signing struct {
	// State comes back as SignStorageRequest.State: what the backend needs to
	// sign for this table, sealed and safe in a query. Empty for none.
	State string
	// Config holds further keys of the table's config that go with signing, none
	// of which names an address.
	Config map[string]string
}

// View is a loaded or committed view (REST spec, LoadViewResult).
type View struct {
	MetadataLocation string
	Metadata         json.RawMessage
	Config           map[string]string
	Extra            map[string]json.RawMessage
}

// Credentials answers LoadCredentials.
type Credentials struct {
	StorageCredentials []StorageCredential `json:"storage-credentials"`
}

// Document is an answer that is passed on as it is: a scan plan, its tasks, a
// signed request.
type Document struct {
	Body json.RawMessage
	// CacheControl is the header that came with it; empty for none.
	CacheControl string
	// StorageCredentials of a scan plan, which are not in Body; whoever serves it
	// puts them back as its member "storage-credentials". Refresh is as in Table,
	// and PlanID is then the plan that they are to be renewed for.
	StorageCredentials []StorageCredential
	Refresh            bool
	PlanID             string
}
