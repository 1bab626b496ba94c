package warehouse

import (
	"slices"
	"strings"
)

// objectScheme is how one kind of object store is named in locations.
type objectScheme struct {
	// scheme is the spelling that locations are compared by.
	scheme string
	// authority checks what stands between the scheme and the path, and gives it
	// the one spelling.
	authority func(string) (string, bool)
	// needs completes "the location names no …".
	needs string
}

var (
	s3Scheme    = &objectScheme{"s3", s3Bucket, "bucket; write s3://bucket/path"}
	gcsScheme   = &objectScheme{"gs", gcsBucket, "bucket of Google Cloud Storage; write gs://bucket/path"}
	azureScheme = &objectScheme{"abfss", azureContainer, "container of an Azure account; write abfss://container@account.dfs.core.windows.net/path"}
)

// objectSchemes are the spellings of each. They name the same place: s3a and s3n
// are Hadoop's clients for S3; abfs is abfss without encryption on the way; wasb
// and wasbs reach the same blobs through the account's other address.
var objectSchemes = map[string]*objectScheme{
	"s3": s3Scheme, "s3a": s3Scheme, "s3n": s3Scheme,
	"gs":    gcsScheme,
	"abfss": azureScheme, "abfs": azureScheme, "wasb": azureScheme, "wasbs": azureScheme,
}

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// madeOf reports whether a text is not empty and holds nothing but these.
func madeOf(text, characters string) bool {
	return text != "" && strings.Trim(text, characters) == ""
}

// s3Bucket accepts what bucket names are made of, old ones and those of other
// servers included.
func s3Bucket(name string) (string, bool) { return name, madeOf(name, lower+upper+digits+"-._") }

// gcsBucket accepts the names that Google Cloud Storage gives.
func gcsBucket(name string) (string, bool) {
	ok := len(name) >= 3 && len(name) <= 222 && madeOf(name, lower+digits+"-._") &&
		madeOf(name[:1], lower+digits) && madeOf(name[len(name)-1:], lower+digits)
	return name, ok
}

// azureContainer reads container@account.dfs.core.windows.net, of any Azure
// cloud. An account has a host for each of its interfaces, dfs for files and blob
// for objects, and both lead to the same ones.
func azureContainer(text string) (string, bool) {
	container, host, ok := strings.Cut(text, "@")
	if !ok || len(container) < 3 || len(container) > 63 || !madeOf(container, lower+digits+"-") ||
		strings.HasPrefix(container, "-") || strings.HasSuffix(container, "-") || strings.Contains(container, "--") {
		return "", false
	}
	labels := strings.Split(host, ".")
	if len(host) > 253 || !madeOf(labels[0], lower+digits) {
		return "", false
	}
	for _, label := range labels[1:] {
		if !madeOf(label, lower+digits+"-") {
			return "", false
		}
	}
	at := slices.IndexFunc(labels[1:], func(label string) bool { return label == "dfs" || label == "blob" })
	if at < 0 || at+2 == len(labels) {
		return "", false
	}
	labels[1+at] = "dfs"
	return container + "@" + strings.Join(labels, "."), true
}
