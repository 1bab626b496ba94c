package vend

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/icefield/icefield/mounts"
)

// maxPolicy is how many characters AWS takes of an inline session policy.
const maxPolicy = 2048

// What a session may do with the table's objects, by width. A session has the
// permissions that both the role and this policy give, so what is not here (ACLs,
// tags, retention, the bucket's own settings) it never has.
var (
	readObjects  = []string{"s3:GetObject", "s3:GetObjectVersion"}                                                                                              // read only
	writeObjects = []string{"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"} // read only
)

type statement struct {
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string][]string `json:",omitempty"`
}

// sessionPolicy is the policy of a session that may read, or read and write,
// below a folder and nowhere else.
//
// Listing is bound to prefixes that begin with the folder and its slash: without
// the slash names of siblings would be listed that begin like the folder's.
func sessionPolicy(partition string, at place, access mounts.StorageAccess, keys []string) (string, error) {
	bucket := "arn:" + partition + ":s3:::" + at.bucket
	below := literal(at.key()) + "/*"
	objects, crypt := readObjects, []string{"kms:Decrypt"}
	if access == mounts.WriteStorage {
		objects, crypt = writeObjects, []string{"kms:Decrypt", "kms:GenerateDataKey"}
	}
	policy := struct {
		Version   string
		Statement []statement
	}{"2012-10-17", []statement{
		{Effect: "Allow", Action: objects, Resource: []string{bucket + "/" + below}},
		{Effect: "Allow", Action: []string{"s3:ListBucket"}, Resource: []string{bucket},
			Condition: map[string]map[string][]string{"StringLike": {"s3:prefix": {below}}}},
		{Effect: "Allow", Action: []string{"s3:GetBucketLocation"}, Resource: []string{bucket}},
	}}
	if len(keys) > 0 {
		policy.Statement = append(policy.Statement, statement{Effect: "Allow", Action: crypt, Resource: keys})
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false) // each of those would count for six
	if err := e.Encode(policy); err != nil {
		return "", err
	}
	document := latin(strings.TrimSpace(text.String()))
	if n := utf8.RuneCountInString(document); n > maxPolicy {
		return "", fmt.Errorf("the session policy for %d characters of key has %d characters, of which AWS takes %d", utf8.RuneCountInString(at.key()), n, maxPolicy)
	}
	return document, nil
}

// literal writes a key so that nothing in it is a wildcard or a variable of the
// policy language, which has variables for exactly this.
func literal(key string) string {
	return strings.NewReplacer("$", "${$}", "*", "${*}", "?", "${?}").Replace(key)
}

// latin escapes what AWS takes in a policy only as an escape of JSON: everything
// beyond the first 256 characters.
func latin(document string) string {
	var b strings.Builder
	for _, r := range document {
		if r <= 0xff {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
