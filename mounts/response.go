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
}
