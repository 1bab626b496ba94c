package sign

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	enc "encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

const deletes = `<?xml version="1.0" encoding="UTF-8"?><Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>` +
	`<Object><Key>wh/t1/data/a&amp;b.parquet</Key></Object><Object><Key>wh/t1/data/region=a%2Fb/c d.parquet</Key></Object></Delete>`

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return enc.EncodeToString(s[:])
}

func TestWhatEnginesAskForIsSignedAsSent(t *testing.T) {
	b, _ := signed1(t)
	weak := md5.Sum([]byte(deletes))
	body, file := deletes, strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct {
		ask     string
		uri     string // the uri that comes back; as sent if empty
		payload string
		cache   string
		writes  bool
	}{
		"GetObject":              {ask: ask("GET", inTable+"data/x.parquet", "Range", "bytes=0-7", "amz-sdk-invocation-id", "1", "User-Agent", "x", "Host", "Store.example:9000"), payload: emptySHA256, cache: "private"},
		"GetObject, unsigned":    {ask: ask("GET", inTable+"data/x.parquet", "x-amz-content-sha256", unsigned, "x-amz-checksum-mode", "ENABLED"), payload: unsigned, cache: "private"},
		"GetObject of Java":      {ask: ask("GET", inTable+"data/x.parquet", "x-amz-content-sha256", unsigned, "x-amz-te", "append-md5", "Range", "bytes=0-7"), payload: unsigned, cache: "private"},
		"GetObject of a part":    {ask: ask("GET", inTable+"data/x?partNumber=1&versionId=abc&x-id=GetObject"), payload: emptySHA256, cache: "private"},
		"GetObject, encoded":     {ask: ask("GET", inTable+"data/p=a%252Fb/%C3%A9%20%2B%3D.parquet"), payload: emptySHA256, cache: "private", uri: inTable + "data/p%3Da%252Fb/%C3%A9%20%2B%3D.parquet"},
		"GetObject, lower hex":   {ask: ask("GET", inTable+"data/p%3da%2a%7e.parquet"), payload: emptySHA256, cache: "private", uri: inTable + "data/p%3Da%2A~.parquet"},
		"HeadObject":             {ask: ask("HEAD", inTable+"metadata/x.avro"), payload: emptySHA256, cache: "private"},
		"ListObjectsV2":          {ask: ask("GET", endpoint+"/lake?list-type=2&prefix=wh%2Ft1%2Fdata&delimiter=%2F&max-keys=2&encoding-type=url"), payload: emptySHA256, cache: "private", uri: endpoint + "/lake?delimiter=%2F&encoding-type=url&list-type=2&max-keys=2&prefix=wh%2Ft1%2Fdata"},
		"ListObjects":            {ask: ask("GET", endpoint+"/lake/?prefix=wh/t1/&marker=wh/t1/a"), payload: emptySHA256, cache: "private", uri: endpoint + "/lake/?marker=wh%2Ft1%2Fa&prefix=wh%2Ft1%2F"},
		"ListParts":              {ask: ask("GET", inTable+"data/x?uploadId=u.1_-"), payload: emptySHA256, cache: "private"},
		"PutObject":              {ask: ask("PUT", inTable+"data/x", "x-amz-content-sha256", file, "Content-Type", "application/octet-stream", "x-amz-storage-class", "STANDARD_IA", "x-amz-server-side-encryption", "aws:kms", "x-amz-meta-engine", "x", "if-none-match", "*"), payload: file, cache: "no-cache", writes: true},
		"PutObject, streamed":    {ask: ask("PUT", inTable+"data/x", "x-amz-content-sha256", unsignedTrailer, "x-amz-trailer", "x-amz-checksum-crc32", "x-amz-decoded-content-length", "9", "x-amz-sdk-checksum-algorithm", "CRC32", "content-encoding", "aws-chunked"), payload: unsignedTrailer, cache: "no-cache", writes: true},
		"PutObject of PyIceberg": {ask: ask("PUT", inTable+"data/x", "User-Agent", "Botocore", "Content-Length", "9", "Expect", "100-continue"), payload: unsigned, cache: "no-cache", writes: true},
		"CopyObject":             {ask: ask("PUT", inTable+"data/y", copySource, "/lake/wh/t1/data/a%2520b.parquet?versionId=v1.2", "x-amz-metadata-directive", "COPY"), payload: unsigned, cache: "no-cache", writes: true},
		"CreateMultipartUpload":  {ask: ask("POST", inTable+"data/x?uploads"), payload: unsigned, cache: "no-cache", writes: true, uri: inTable + "data/x?uploads="},
		"UploadPart":             {ask: ask("PUT", inTable+"data/x?partNumber=1&uploadId=u"), payload: unsigned, cache: "no-cache", writes: true},
		"UploadPartCopy":         {ask: ask("PUT", inTable+"data/x?partNumber=1&uploadId=u", copySource, "lake/wh/t1/data/a", "x-amz-copy-source-range", "bytes=0-9"), payload: unsigned, cache: "no-cache", writes: true},
		"CompleteMultipart":      {ask: ask("POST", inTable+"data/x?uploadId=u", "Content-Type", "application/xml"), payload: unsigned, cache: "no-cache", writes: true},
		"AbortMultipartUpload":   {ask: ask("DELETE", inTable+"data/x?uploadId=u"), payload: emptySHA256, cache: "no-cache", writes: true},
		"DeleteObject":           {ask: ask("DELETE", inTable+"data/x?x-id=DeleteObject"), payload: emptySHA256, cache: "no-cache", writes: true},
		"DeleteObjects": {ask: askBody("POST", endpoint+"/lake?delete", &body, "Content-MD5", base64.StdEncoding.EncodeToString(weak[:]), "x-amz-sdk-checksum-algorithm", "CRC32"),
			payload: sum(deletes), cache: "no-cache", writes: true, uri: endpoint + "/lake?delete="},
		"DeleteObjects, said to be unsigned": {ask: askBody("POST", endpoint+"/lake?delete=", &body, "x-amz-content-sha256", unsigned), payload: sum(deletes), cache: "no-cache", writes: true},
	} {
		for _, access := range []mounts.StorageAccess{mounts.NoStorage, mounts.ReadStorage, mounts.WriteStorage} {
			doc, err := signFor(b, access, "t1", c.ask)
			if access == mounts.NoStorage || c.writes && access == mounts.ReadStorage {
				if e := mounts.AsError(err); err == nil || e.Kind != mounts.Forbidden || !e.Answered || e.Ident.String() != "a.t1" || e.Op == 0 {
					t.Errorf("%s with %v access: %v", name, access, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s with %v access: %v", name, access, err)
				continue
			}
			asked, err := readRequest([]byte(c.ask))
			if err != nil {
				t.Fatal(err)
			}
			s := sent(t, asked, doc)
			if err := verify(s, secret); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if want := c.uri; s.uri != want && (want != "" || s.uri != asked.uri) {
				t.Errorf("%s: the uri is %s", name, s.uri)
			}
			if s.header["x-amz-content-sha256"] != c.payload || doc.CacheControl != c.cache {
				t.Errorf("%s: payload %s, %s", name, s.header["x-amz-content-sha256"], doc.CacheControl)
			}
			if strings.Contains(string(doc.Body), secret) || !strings.Contains(string(doc.Body), "KEYID/20261130/eu-central-1/s3/aws4_request") {
				t.Errorf("%s: %s", name, doc.Body)
			}
			var answer signed
			if err := json.Unmarshal(doc.Body, &answer); err != nil || len(answer.Headers) > 4 {
				t.Errorf("%s: %v", name, answer.Headers)
			}
		}
	}
}

// A signature covers what it says: a store that is sent something else refuses it.
func TestTheSignatureCoversMethodKeyParametersHeadersAndBody(t *testing.T) {
	b, _ := signed1(t)
	body := deletes
	for name, text := range map[string]string{
		"deletes": askBody("POST", endpoint+"/lake?delete", &body),
		"put":     ask("PUT", inTable+"data/x?partNumber=1&uploadId=u", copySource, "lake/wh/t1/data/a"),
	} {
		doc, err := signFor(b, mounts.WriteStorage, "t1", text)
		if err != nil {
			t.Fatal(err)
		}
		asked, _ := readRequest([]byte(text))
		good := sent(t, asked, doc)
		if err := verify(good, secret); err != nil {
			t.Fatal(err)
		}
		for what, change := range map[string]func(*asSent){
			"method":    func(s *asSent) { s.method = "GET" },
			"key":       func(s *asSent) { s.uri = strings.Replace(s.uri, "/lake", "/lake/wh/t2", 1) },
			"parameter": func(s *asSent) { s.uri += "&acl=" },
			"body":      func(s *asSent) { s.header["x-amz-content-sha256"] = sum("another") },
			"source":    func(s *asSent) { s.header[copySource] = "lake/wh/t2/a" },
			"acl":       func(s *asSent) { s.header["x-amz-acl"] = "public-read" },
			"host":      func(s *asSent) { s.uri = strings.Replace(s.uri, "store", "elsewhere", 1) },
		} {
			changed := asSent{good.method, good.uri, map[string]string{}}
			for k, v := range good.header {
				changed.header[k] = v
			}
			change(&changed)
			if verify(changed, secret) == nil {
				t.Errorf("%s: with another %s the signature holds", name, what)
			}
		}
	}
}
