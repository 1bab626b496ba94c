package sign

import (
	"crypto/md5" // #nosec G501 -- S3's own checksum, compared and not relied on
	"crypto/sha256"
	"encoding/base64"
	enc "encoding/hex"
	"slices"
	"strings"

	"github.com/icefield/icefield/mounts"
)

// order is a request that may be signed: everything that the signature covers.
type order struct {
	method string
	target *target
	// header is what is signed beside the host, the date and the session token; it
	// has names in lower case.
	header map[string]string
	// payload is the value of x-amz-content-sha256. added tells that the client did
	// not send that one.
	payload string
	added   bool
	// cacheable tells that the client may use the signature again.
	cacheable bool
}

const (
	shaHeader       = "x-amz-content-sha256"
	unsigned        = "UNSIGNED-PAYLOAD"
	unsignedTrailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER"
)

// check decides whether a request is signed for a table that lies at the prefix,
// and makes of it what is.
func check(r *request, h *hosts, at prefix, access mounts.StorageAccess) (*order, error) {
	t, err := h.read(r.uri)
	if err != nil {
		return nil, err
	}
	for _, p := range t.query {
		if strings.HasPrefix(strings.ToLower(p.name), "x-amz-") {
			return nil, forbid("that is presigned")
		}
	}
	o, err := operationOf(r.method, t)
	if err != nil {
		return nil, err
	}
	if access < mounts.ReadStorage || o.writes && access < mounts.WriteStorage {
		return nil, forbid("with which this caller would do more than it may: %s", o.name)
	}
	if o.name == "DeleteObjects" && !h.checksBodies {
		return nil, forbid("that deletes many objects at once, since their store may not compare the body with the one that was signed for; delete one by one")
	}
	if err := inside(o, t, at); err != nil {
		return nil, err
	}
	header, err := o.headersOf(r, t, at)
	if err != nil {
		return nil, err
	}
	out := &order{method: r.method, target: t, header: header, cacheable: !o.writes}
	if out.payload, err = o.payloadOf(r, at); err != nil {
		return nil, err
	}
	out.added = out.payload != r.header[shaHeader]
	return out, nil
}

const outside = "for what lies outside of its location"

// inside confines what the uri names.
func inside(o *operation, t *target, at prefix) error {
	if t.bucket != at.bucket {
		return forbid(outside)
	}
	if o.object && !at.holds(t.key) {
		return forbid(outside)
	}
	if listed, ok := t.get("prefix"); ok && !at.covers(listed) {
		return forbid("for a listing of what lies outside of its location; its prefix has to begin with that location and a slash")
	}
	return nil
}

// headersOf is the headers that are signed. What S3 does not look at, and what
// proxies and clients change, is left to the client.
func (o *operation) headersOf(r *request, t *target, at prefix) (map[string]string, error) {
	signed := map[string]string{}
	for name, value := range r.header {
		switch {
		case name == "host":
			if (uriParts{scheme: t.scheme, authority: strings.ToLower(value)}).host() != t.host {
				return nil, bad("has a Host header that is not the host of its uri")
			}
		case strings.Contains(name, "method"):
			return nil, forbid("with the header %s", quoted(name))
		case name == "x-amz-date", name == shaHeader, name == "x-amz-user-agent":
		case name == "content-type", name == "content-md5":
			signed[name] = value
		case !strings.HasPrefix(name, "x-amz-"):
		case !o.takes(name):
			return nil, forbid("with the header %s", quoted(name))
		case name == "x-amz-server-side-encryption" && !slices.Contains([]string{"AES256", "aws:kms", "aws:kms:dsse"}, value):
			return nil, forbid("with the header %s", quoted(name))
		default:
			signed[name] = value
		}
	}
	if agent, ok := r.header["x-amz-user-agent"]; ok { // every x-amz- header has to be signed
		signed["x-amz-user-agent"] = agent
	}
	source, copying := signed[copySource]
	if !copying {
		for name := range signed {
			if strings.HasPrefix(name, "x-amz-copy-") || name == "x-amz-metadata-directive" {
				return nil, bad("has the header %s and copies nothing", quoted(name))
			}
		}
		return signed, nil
	}
	return signed, checkSource(source, at)
}

// checkSource confines the source of a copy: bucket/key, percent-encoded once.
func checkSource(source string, at prefix) error {
	source, version, versioned := strings.Cut(source, "?")
	if versioned {
		id, ok := strings.CutPrefix(version, "versionId=")
		if !ok || id == "" || strings.ContainsFunc(id, func(c rune) bool {
			return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("-_.~", c))
		}) {
			return bad("copies from a source with more behind its key than a versionId")
		}
	}
	if strings.ContainsAny(source, "+?#\\ ") || strings.Contains(strings.ToUpper(source), "%2F") {
		return bad("copies from a source that readers understand differently; percent-encode the key, and no slash")
	}
	source, err := decode(source)
	if err != nil {
		return err
	}
	bucket, key, ok := strings.Cut(strings.TrimPrefix(source, "/"), "/")
	if !ok || bucket != at.bucket || !at.holds(key) {
		return forbid("for a copy from what lies outside of its location")
	}
	return nil
}

// payloadOf is what is signed of the body.
func (o *operation) payloadOf(r *request, at prefix) (string, error) {
	said, there := r.header[shaHeader]
	switch {
	case o.name == "DeleteObjects":
		return deletion(r, at)
	case there && (said == unsigned || isSHA256(said)):
		return said, nil
	case there && said == unsignedTrailer && o.payload && o.takes("x-amz-trailer"):
		return said, nil
	case there:
		return "", forbid("whose payload is %s: send UNSIGNED-PAYLOAD, or a SHA-256", quoted(said))
	case o.payload:
		return unsigned, nil
	}
	return emptySHA256, nil
}

// emptySHA256 is that of no body.
const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func isSHA256(text string) bool {
	return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == ""
}

// deletion confines every key that a body deletes, and ties the signature to that
// body.
func deletion(r *request, at prefix) (string, error) {
	if !r.hasBody {
		return "", bad("deletes objects and lacks the body that says which; send it as \"body\", or delete one by one")
	}
	for _, name := range []string{"content-encoding", "transfer-encoding"} {
		if r.header[name] != "" {
			return "", bad("deletes objects with an encoded body")
		}
	}
	keys, err := readDeletes(r.body)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		if !at.holds(key) {
			return "", forbid(outside)
		}
	}
	sum := sha256.Sum256([]byte(r.body))
	payload := enc.EncodeToString(sum[:])
	if said, there := r.header[shaHeader]; there && said != unsigned && said != payload {
		return "", bad("has another body than its %s says", shaHeader)
	}
	weak := md5.Sum([]byte(r.body)) // #nosec G401 -- S3's own checksum, compared and not relied on
	if said, there := r.header["content-md5"]; there && said != base64.StdEncoding.EncodeToString(weak[:]) {
		return "", bad("has another body than its Content-MD5 says")
	}
	return payload, nil
}
