package sign

import (
	"slices"
	"strings"
)

// operation is one of S3's that is signed.
type operation struct {
	name   string
	method string
	// object operations name a key; the others the bucket.
	object bool
	// needs are parameters that make it this operation: with the value that is
	// here, anything if that says so. allows are further ones.
	needs  map[string]string
	allows []string
	// writes tells that reading is not enough for it.
	writes bool
	// payload tells that it has a body.
	payload bool
	// headers are the x-amz- headers that go with it, beside those of all.
	headers []string
}

var (
	checksums = []string{"x-amz-sdk-checksum-algorithm", "x-amz-checksum-algorithm", "x-amz-checksum-crc32", "x-amz-checksum-crc32c",
		"x-amz-checksum-crc64nvme", "x-amz-checksum-sha1", "x-amz-checksum-sha256", "x-amz-checksum-type"}
	streams = []string{"x-amz-decoded-content-length", "x-amz-trailer"}
	kept    = []string{"x-amz-storage-class", "x-amz-server-side-encryption", "x-amz-server-side-encryption-bucket-key-enabled", "x-amz-meta-*"}
	copies  = []string{copySource, "x-amz-copy-source-if-match", "x-amz-copy-source-if-none-match", "x-amz-copy-source-if-modified-since",
		"x-amz-copy-source-if-unmodified-since", "x-amz-source-expected-bucket-owner"}
)

const (
	copySource = "x-amz-copy-source"
	anything   = "*"
)

// operations are those that are signed. The first that fits counts.
func operations() []operation {
	listing := []string{"delimiter", "encoding-type", "max-keys"}
	return []operation{
		{name: "ListParts", method: "GET", object: true, needs: map[string]string{"uploadId": anything}, allows: []string{"max-parts", "part-number-marker", "encoding-type"}},
		{name: "GetObject", method: "GET", object: true, allows: []string{"versionId", "partNumber"},
			headers: []string{"x-amz-checksum-mode", "x-amz-te"}}, // with the second Java's SDK asks for an MD5 after the body
		{name: "HeadObject", method: "HEAD", object: true, allows: []string{"versionId", "partNumber"}, headers: []string{"x-amz-checksum-mode"}},
		{name: "ListObjectsV2", method: "GET", needs: map[string]string{"list-type": "2", "prefix": anything},
			allows: append([]string{"continuation-token", "start-after", "fetch-owner"}, listing...)},
		{name: "ListObjects", method: "GET", needs: map[string]string{"prefix": anything}, allows: append([]string{"marker"}, listing...)},
		{name: "UploadPart", method: "PUT", object: true, writes: true, payload: true, needs: map[string]string{"partNumber": anything, "uploadId": anything},
			headers: slices.Concat(checksums, streams, copies, []string{"x-amz-copy-source-range"})},
		{name: "PutObject", method: "PUT", object: true, writes: true, payload: true,
			headers: slices.Concat(checksums, streams, kept, copies, []string{"x-amz-metadata-directive"})},
		{name: "CreateMultipartUpload", method: "POST", object: true, writes: true, payload: true, needs: map[string]string{"uploads": ""}, headers: slices.Concat(checksums, kept)},
		{name: "CompleteMultipartUpload", method: "POST", object: true, writes: true, payload: true, needs: map[string]string{"uploadId": anything},
			headers: append(checksums[:len(checksums):len(checksums)], "x-amz-mp-object-size")},
		{name: "AbortMultipartUpload", method: "DELETE", object: true, writes: true, needs: map[string]string{"uploadId": anything}},
		{name: "DeleteObject", method: "DELETE", object: true, writes: true},
		{name: "DeleteObjects", method: "POST", writes: true, payload: true, needs: map[string]string{"delete": ""}, headers: checksums},
	}
}

// operationOf finds out what a request asks of S3. A parameter that the operation
// does not have makes it another one: S3's sub-resources are parameters.
func operationOf(method string, t *target) (*operation, error) {
	for _, o := range operations() {
		if o.fits(method, t) {
			return &o, nil
		}
	}
	var names []string
	for _, p := range t.query {
		names = append(names, p.name)
	}
	on := "an object"
	if t.key == "" {
		on = "the bucket"
	}
	return nil, forbid("that asks %s of %s with the parameters %s: reading, writing, listing, copying and deleting of its files are", quoted(method), on, quoted(strings.Join(names, " ")))
}

func (o *operation) fits(method string, t *target) bool {
	if o.method != method || o.object != (t.key != "") {
		return false
	}
	for name, value := range o.needs {
		got, there := t.get(name)
		if !there || value != anything && got != value {
			return false
		}
	}
	for _, p := range t.query {
		// What SDKs call the operation; it means nothing to S3.
		if _, needed := o.needs[p.name]; !needed && p.name != "x-id" && !slices.Contains(o.allows, p.name) {
			return false
		}
	}
	return true
}

// takes reports whether an x-amz- header goes with the operation.
func (o *operation) takes(name string) bool {
	switch name {
	case "x-amz-content-sha256", "x-amz-date", "x-amz-expected-bucket-owner", "x-amz-user-agent":
		return true
	}
	for _, allowed := range o.headers {
		if name == allowed {
			return true
		}
		if begin, ok := strings.CutSuffix(allowed, "*"); ok && strings.HasPrefix(name, begin) && len(name) > len(begin) {
			return true
		}
	}
	return false
}
