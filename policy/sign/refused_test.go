package sign

import (
	"fmt"
	"strings"
	"testing"

	"github.com/icefield/icefield/mounts"
)

// refused are crafted requests: none of them may be signed for the table t1.
func refused() map[string]string {
	get := func(uri string, headers ...string) string { return ask("GET", uri, headers...) }
	put := func(headers ...string) string { return ask("PUT", inTable+"data/x", headers...) }
	del := func(body string, headers ...string) string {
		return askBody("POST", endpoint+"/lake?delete", &body, headers...)
	}
	object := func(inner string) string {
		return `<Delete><Object><Key>wh/t1/a</Key></Object>` + inner + `</Delete>`
	}
	uris := map[string]string{
		"another table":                 endpoint + "/lake/wh/t2/x",
		"a table whose name begins so":  endpoint + "/lake/wh/t1x/x",
		"a name beside the folder":      endpoint + "/lake/wh/t1",
		"the folder itself":             endpoint + "/lake/wh/t1/",
		"the bucket":                    endpoint + "/lake",
		"the root":                      endpoint,
		"the root, with a slash":        endpoint + "/",
		"another bucket":                endpoint + "/other/wh/t1/x",
		"another bucket's name, longer": endpoint + "/lakes/wh/t1/x",
		"a bucket in another case":      endpoint + "/Lake/wh/t1/x",
		"an encoded bucket":             endpoint + "/l%61ke/wh/t1/x",
		"a bucket listing":              endpoint + "/lake?list-type=2",
		"a listing of all":              endpoint + "/lake?list-type=2&prefix=",
		"a listing of the folder above": endpoint + "/lake?list-type=2&prefix=wh/",
		"a listing beside":              endpoint + "/lake?list-type=2&prefix=wh/t1",
		"a listing of a neighbour":      endpoint + "/lake?prefix=wh/t1x/",
		"a listing with steps":          endpoint + "/lake?prefix=wh/t1/../t2/",
		"two prefixes":                  endpoint + "/lake?prefix=wh/t1/&prefix=wh/t2/",
		"two prefixes, one encoded":     endpoint + "/lake?prefix=wh/t1/&%70refix=wh/t2/",
		"a prefix in another case":      endpoint + "/lake?list-type=2&Prefix=wh/t1/",
		"a list type of another kind":   endpoint + "/lake?list-type=3&prefix=wh/t1/",
		"versions":                      endpoint + "/lake?versions&prefix=wh/t1/",
		"uploads of the bucket":         endpoint + "/lake?uploads&prefix=wh/t1/",
		"the bucket's policy":           endpoint + "/lake?policy",
		"a listing and a policy":        endpoint + "/lake?prefix=wh/t1/&policy",
		"the bucket's location":         endpoint + "/lake?location",
		"an ACL":                        inTable + "data/x?acl",
		"an ACL, encoded":               inTable + "data/x?%61cl",
		"an ACL in another case":        inTable + "data/x?ACL",
		"tags":                          inTable + "data/x?tagging",
		"a torrent":                     inTable + "data/x?torrent",
		"attributes":                    inTable + "data/x?attributes",
		"a retention":                   inTable + "data/x?retention",
		"what nobody knows":             inTable + "data/x?something-new=1",
		"another content type":          inTable + "data/x?response-content-type=text/html",
		"presigned parameters":          inTable + "data/x?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=604800",
		"presigned, in lower case":      inTable + "data/x?x-amz-signature=1",
		"presigned header":              inTable + "data/x?x-amz-acl=public-read",
		"steps":                         inTable + "../t2/x",
		"encoded steps":                 inTable + "%2e%2e/t2/x",
		"half encoded steps":            inTable + ".%2e/t2/x",
		"one step nowhere":              inTable + "./x",
		"steps of slashes":              inTable + "..%2Ft2/x",
		"steps encoded twice":           inTable + "%252e%252e/t2/x",
		"slashes encoded twice":         inTable + "..%252F..%252Ft2/x",
		"steps encoded three times":     inTable + "%25252e%25252e/t2/x",
		"too often encoded":             inTable + "%2525252525252541",
		"an encoded slash":              inTable + "data%2Fx",
		"an encoded slash, lower":       endpoint + "/lake/wh%2ft1/x",
		"two slashes":                   inTable + "/x",
		"two slashes before":            endpoint + "//lake/wh/t1/x",
		"two slashes inside":            endpoint + "/lake//wh/t1/x",
		"two slashes at the table":      endpoint + "/lake/wh//t1/x",
		"a slash at the end":            inTable + "data/",
		"a plus":                        inTable + "data/a+b",
		"a plus in a parameter":         endpoint + "/lake?prefix=wh/t1/a+b",
		"a raw blank":                   inTable + "data/a b",
		"raw unicode":                   inTable + "data/é",
		"a control character":           inTable + "data/%00",
		"a newline":                     inTable + "data/%0a",
		"a line separator in C1":        inTable + "data/%C2%85",
		"no UTF-8":                      inTable + "data/%ff",
		"an overlong slash":             inTable + "..%c0%af..%c0%aft2",
		"a backslash":                   inTable + `..\..\t2\x`,
		"an encoded backslash":          inTable + "..%5C..%5Ct2",
		"half an escape":                inTable + "data/%4",
		"no escape":                     inTable + "data/%zz",
		"a path parameter":              inTable + "data/x;acl",
		"a fragment":                    inTable + "data/x#?acl",
		"user info":                     "https://store.example:9000@evil.example/lake/wh/t1/x",
		"user info before":              "https://evil@store.example:9000/lake/wh/t1/x",
		"another host":                  "https://evil.example/lake/wh/t1/x",
		"a host that begins so":         "https://store.example.evil.example:9000/lake/wh/t1/x",
		"a host that ends so":           "https://evilstore.example:9000/lake/wh/t1/x",
		"a host below":                  "https://lake.store.example:9000/wh/t1/x",
		"another bucket's host":         "https://other.store.example:9000/lake/wh/t1/x",
		"a host with a dot":             "https://store.example.:9000/lake/wh/t1/x",
		"no port":                       "https://store.example/lake/wh/t1/x",
		"another port":                  "https://store.example:90000/lake/wh/t1/x",
		"a port with a zero":            "https://store.example:09000/lake/wh/t1/x",
		"two ports":                     "https://store.example:9000:443/lake/wh/t1/x",
		"an encoded host":               "https://store%2eexample:9000/lake/wh/t1/x",
		"no TLS":                        "http://store.example:9000/lake/wh/t1/x",
		"a scheme in capitals":          "HTTPS://store.example:9000/lake/wh/t1/x",
		"another scheme":                "s3://lake/wh/t1/x",
		"no scheme":                     "//store.example:9000/lake/wh/t1/x",
		"nothing but a path":            "/lake/wh/t1/x",
		"a long key":                    inTable + strings.Repeat("k", 1100),
		"a long uri":                    inTable + "x?uploadId=" + strings.Repeat("k", 9000),
		"many parameters":               inTable + "x?" + strings.Repeat("a=1&", 50),
		"an empty parameter":            inTable + "x?=1",
		"parameters of nothing":         inTable + "x?&&",
	}
	all := map[string]string{
		"a deletion of a version":         ask("DELETE", inTable+"data/x?versionId=1"),
		"a deletion of the bucket":        ask("DELETE", endpoint+"/lake"),
		"a bucket":                        ask("PUT", endpoint+"/lake"),
		"a bucket's head":                 ask("HEAD", endpoint+"/lake"),
		"a policy":                        ask("PUT", endpoint+"/lake?policy"),
		"a lifecycle":                     ask("PUT", endpoint+"/lake?lifecycle"),
		"an ACL that is put":              ask("PUT", inTable+"data/x?acl"),
		"tags that are put":               ask("PUT", inTable+"data/x?tagging"),
		"a website":                       ask("PUT", endpoint+"/lake?website"),
		"a select":                        ask("POST", inTable+"data/x?select&select-type=2"),
		"a restore":                       ask("POST", inTable+"data/x?restore"),
		"a form":                          ask("POST", endpoint+"/lake"),
		"a part without an upload":        ask("PUT", inTable+"data/x?partNumber=1"),
		"uploads with a value":            ask("POST", inTable+"data/x?uploads=1"),
		"an upload and its start":         ask("POST", inTable+"data/x?uploads&uploadId=1"),
		"options":                         ask("OPTIONS", inTable+"data/x"),
		"a patch":                         ask("PATCH", inTable+"data/x"),
		"a method in lower case":          ask("get", inTable+"data/x"),
		"a method with more":              ask("GET ", inTable+"data/x"),
		"a method override":               get(inTable+"data/x", "X-HTTP-Method-Override", "DELETE"),
		"another method override":         get(inTable+"data/x", "X-Method-Override", "PUT"),
		"another host header":             get(inTable+"data/x", "Host", "other.store.example:9000"),
		"an ACL header":                   put("x-amz-acl", "public-read"),
		"an ACL header, in capitals":      put("X-AMZ-ACL", "bucket-owner-full-control"),
		"a grant":                         put("x-amz-grant-read", `id="1"`),
		"a tag":                           put("x-amz-tagging", "a=b"),
		"a redirect":                      put("x-amz-website-redirect-location", "https://evil.example"),
		"a lock":                          put("x-amz-object-lock-mode", "COMPLIANCE"),
		"a hold":                          put("x-amz-object-lock-legal-hold", "ON"),
		"a bypass":                        ask("DELETE", inTable+"data/x", "x-amz-bypass-governance-retention", "true"),
		"a key of the client's":           put("x-amz-server-side-encryption-customer-key", "k"),
		"a KMS key":                       put("x-amz-server-side-encryption", "aws:kms", "x-amz-server-side-encryption-aws-kms-key-id", "arn:aws:kms:eu-central-1:1:key/1"),
		"a KMS context":                   put("x-amz-server-side-encryption-context", "e30="),
		"an encryption that nobody knows": put("x-amz-server-side-encryption", "rot13"),
		"a payer":                         get(inTable+"data/x", "x-amz-request-payer", "requester"),
		"a security token":                get(inTable+"data/x", "x-amz-security-token", "x"),
		"a header that nobody knows":      put("x-amz-something-new", "1"),
		"metadata without a name":         put("x-amz-meta-", "1"),
		"metadata of a read":              get(inTable+"data/x", "x-amz-meta-a", "1"),
		"a read that copies":              get(inTable+"data/x", copySource, "lake/wh/t1/y"),
		"a payload signed in chunks":      put("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"),
		"a streamed read":                 get(inTable+"data/x", "x-amz-content-sha256", unsignedTrailer),
		"a payload of nothing":            put("x-amz-content-sha256", ""),
		"a payload in capitals":           put("x-amz-content-sha256", strings.Repeat("A", 64)),
		"a copy from outside":             put(copySource, "lake/wh/t2/x"),
		"a copy from a neighbour":         put(copySource, "/lake/wh/t1x/x"),
		"a copy from another bucket":      put(copySource, "other/wh/t1/x"),
		"a copy by steps":                 put(copySource, "lake/wh/t1/../t2/x"),
		"a copy by encoded steps":         put(copySource, "lake/wh/t1/%2e%2e/t2/x"),
		"a copy by steps encoded twice":   put(copySource, "lake/wh/t1/%252e%252e/t2/x"),
		"a copy with an encoded slash":    put(copySource, "lake%2Fwh%2Ft1%2Fx"),
		"a copy with a plus":              put(copySource, "lake/wh/t1/a+b"),
		"a copy from an access point":     put(copySource, "arn:aws:s3:eu-central-1:1:accesspoint/p/object/wh/t1/x"),
		"a copy from nothing":             put(copySource, ""),
		"a copy of two versions":          put(copySource, "lake/wh/t1/x?versionId=1&versionId=2"),
		"a copy with another parameter":   put(copySource, "lake/wh/t1/x?acl"),
		"a copy with a question":          put(copySource, "lake/wh/t1/x?"),
		"a part that is copied from out":  ask("PUT", inTable+"data/x?partNumber=1&uploadId=u", copySource, "lake/wh/t2/x"),
		"a condition of no copy":          put("x-amz-copy-source-if-match", "x"),
		"a range of no copy":              ask("PUT", inTable+"data/x?partNumber=1&uploadId=u", "x-amz-copy-source-range", "bytes=0-1"),
		"a deletion without a body":       ask("POST", endpoint+"/lake?delete"),
		"a deletion of nothing":           del(""),
		"a deletion of no object":         del("<Delete></Delete>"),
		"a deletion with a foreign key":   del(object(`<Object><Key>wh/t2/a</Key></Object>`)),
		"a deletion by steps":             del(object(`<Object><Key>wh/t1/../t2/a</Key></Object>`)),
		"a deletion by encoded slashes":   del(object(`<Object><Key>wh&#47;t1&#x2f;..&#47;t2/a</Key></Object>`)),
		"a deletion of the folder":        del(object(`<Object><Key>wh/t1/</Key></Object>`)),
		"a deletion of a version, in XML": del(object(`<Object><Key>wh/t1/b</Key><VersionId>1</VersionId></Object>`)),
		"two keys in one object":          del(object(`<Object><Key>wh/t1/b</Key><Key>wh/t2/a</Key></Object>`)),
		"a key in another case":           del(object(`<Object><key>wh/t2/a</key></Object>`)),
		"an object without a key":         del(object(`<Object></Object>`)),
		"a key in a key":                  del(object(`<Object><Key>wh/t1/b<Key>wh/t2/a</Key></Key></Object>`)),
		"a key outside of an object":      del(object(`<Key>wh/t2/a</Key>`)),
		"two roots":                       del(object("") + object("")),
		"a root in a root":                del("<Delete>" + object("") + "</Delete>"),
		"another root":                    del(`<Remove><Object><Key>wh/t1/a</Key></Object></Remove>`),
		"another namespace":               del(`<Delete xmlns="urn:x"><Object><Key>wh/t1/a</Key></Object></Delete>`),
		"a namespace within":              del(object(`<Object xmlns="urn:x"><Key>wh/t1/a</Key></Object>`)),
		"a prefix":                        del(`<Delete xmlns:x="http://s3.amazonaws.com/doc/2006-03-01/"><x:Object><x:Key>wh/t2/a</x:Key></x:Object></Delete>`),
		"a prefix among others":           del(object(`<x:Object><Key>wh/t2/a</Key></x:Object>`)),
		"an attribute":                    del(object(`<Object a="b"><Key>wh/t1/b</Key></Object>`)),
		"an entity":                       del(`<!DOCTYPE d [<!ENTITY k "wh/t2/a">]><Delete><Object><Key>&k;</Key></Object></Delete>`),
		"an unknown entity":               del(object(`<Object><Key>wh/t1/&k;</Key></Object>`)),
		"an external entity":              del(`<!DOCTYPE d SYSTEM "https://evil.example/d.dtd"><Delete><Object><Key>wh/t1/a</Key></Object></Delete>`),
		"a comment in a key":              del(object(`<Object><Key>wh/t1/b<!-- x --></Key></Object>`)),
		"CDATA":                           del(object(`<Object><Key><![CDATA[wh/t1/b]]></Key></Object>`)),
		"an instruction":                  del(object(`<?include wh/t2/a?>`)),
		"another encoding":                del(`<?xml version="1.0" encoding="UTF-7"?>` + object("")),
		"a blank before a key":            del(object("<Object><Key>\u00a0wh/t1/b</Key></Object>")),
		"a newline in a key":              del(object("<Object><Key>wh/t1/b\n</Key></Object>")),
		"a blank behind a key":            del(object("<Object><Key>wh/t1/b </Key></Object>")),
		"text between":                    del(object("wh/t2/a")),
		"half of it":                      del(`<Delete><Object><Key>wh/t1/a</Key></Object>`),
		"more behind it":                  del(object("") + "<"),
		"too many":                        del("<Delete>" + strings.Repeat(`<Object><Key>wh/t1/a</Key></Object>`, 1001) + "</Delete>"),
		"another body than its SHA-256":   del(object(""), "x-amz-content-sha256", sum("another")),
		"another body than its MD5":       del(object(""), "content-md5", "1B2M2Y8AsgTpgAmY7PhCfg=="),
		"an encoded body":                 del(object(""), "content-encoding", "gzip"),
		"a body in chunks":                del(object(""), "x-amz-content-sha256", unsignedTrailer, "x-amz-trailer", "x-amz-checksum-crc32"),
		"a body decoded":                  del(object(""), "x-amz-decoded-content-length", "9"),
		"a deletion with a value":         askBody("POST", endpoint+"/lake?delete=1", new(object(""))),
		"a deletion at a key":             askBody("POST", inTable+"?delete", new(object(""))),
		"a deletion in another bucket":    askBody("POST", endpoint+"/other?delete", new(object(""))),
	}
	for name, uri := range uris {
		all["uri: "+name] = get(uri)
		all["put at uri: "+name] = ask("PUT", uri)
	}
	// Of the form of the request itself.
	good := ask("GET", inTable+"data/x")
	for name, text := range map[string]string{
		"nothing": "", "null": "null", "a list": "[]", "half of it": good[:len(good)-1], "two of them": good + good,
		"two uris":               `{"uri":"` + inTable + `x","method":"GET","uri":"` + endpoint + `/lake/wh/t2/x"}`,
		"two methods":            `{"method":"GET","uri":"` + inTable + `x","method":"PUT"}`,
		"a method of two cases":  `{"method":"GET","uri":"` + inTable + `x","Method":"PUT"}`,
		"a uri in capitals":      `{"method":"GET","URI":"` + inTable + `x"}`,
		"a uri that is no text":  `{"method":"GET","uri":["` + inTable + `x"]}`,
		"no method":              `{"uri":"` + inTable + `x"}`,
		"no uri":                 `{"method":"GET"}`,
		"another provider":       strings.Replace(good, `"provider":null`, `"provider":"gcs"`, 1),
		"headers of no lists":    strings.Replace(good, `"headers":{}`, `"headers":{"a":{}}`, 1),
		"headers of two values":  strings.Replace(good, `"headers":{}`, `"headers":{"x-amz-content-sha256":["UNSIGNED-PAYLOAD","x"]}`, 1),
		"one header twice":       strings.Replace(good, `"headers":{}`, `"headers":{"Range":["a"],"range":["b"]}`, 1),
		"a header with a line":   ask("GET", inTable+"x", "a", "b\r\nx-amz-acl: public-read"),
		"a header name of two":   ask("GET", inTable+"x", "a: b\r\nx-amz-acl", "public-read"),
		"a header of a blank":    ask("GET", inTable+"x", "x-amz-expected-bucket-owner", " 1"),
		"a header of no ASCII":   ask("GET", inTable+"x", "x-amz-expected-bucket-owner", "é"),
		"a large header":         ask("GET", inTable+"x", "a", strings.Repeat("x", 40<<10)),
		"invalid UTF-8":          `{"method":"GET","uri":"` + inTable + "\xff" + `"}`,
		"deep nesting":           `{"properties":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `,"method":"GET","uri":"` + inTable + `x"}`,
		"five megabytes of text": strings.Repeat(" ", 5<<20) + good,
	} {
		all["form: "+name] = text
	}
	var many []string
	for i := range 70 {
		many = append(many, fmt.Sprint("a", i), "b")
	}
	all["form: many headers"] = ask("GET", inTable+"x", many...)
	return all
}

func TestNoCraftedRequestIsSigned(t *testing.T) {
	b, _ := signed1(t)
	for name, text := range refused() {
		doc, err := signFor(b, mounts.WriteStorage, "t1", text)
		e := mounts.AsError(err)
		if err == nil {
			t.Errorf("%s is signed: %s", name, doc.Body)
			continue
		}
		if e.Kind != mounts.Forbidden && e.Kind != mounts.BadRequest || !e.Answered || e.Ident.String() != "a.t1" || len(e.Message()) > 400 {
			t.Errorf("%s: %v: %s", name, e.Kind, e.Message())
		}
		if strings.Contains(e.Message(), secret) || strings.Contains(e.Message(), "(MISSING)") || strings.Contains(e.Message(), "%!") {
			t.Errorf("%s: %s", name, e.Message())
		}
	}
}

// Where the store does not compare the body, the client could send another one.
func TestDeletionsOfManyAreSignedOnlyWhereTheStoreChecksTheBody(t *testing.T) {
	body := deletes
	for _, c := range []struct {
		endpoint, uri string
		checks, ok    bool
	}{
		{endpoint, endpoint + "/lake?delete", false, false},
		{endpoint, endpoint + "/lake?delete", true, true},
		{"", "https://lake.s3.eu-central-1.amazonaws.com/?delete", false, true},
	} {
		b, _ := signed1(t, func(o *Options) { o.Storage["s3.endpoint"], o.ChecksBodies = c.endpoint, c.checks })
		if _, err := signFor(b, mounts.WriteStorage, "t1", askBody("POST", c.uri, &body)); (err == nil) != c.ok {
			t.Errorf("%s, checked %v: %v", c.uri, c.checks, err)
		}
	}
}

func TestARefusalSaysWhatIsWrong(t *testing.T) {
	b, _ := signed1(t)
	for text, want := range map[string]string{
		ask("GET", endpoint+"/lake/wh/t2/x"):                       "no storage request of a.t1 is signed for what lies outside of its location",
		ask("GET", inTable+"x?acl"):                                `"GET" of an object with the parameters "acl"`,
		ask("GET", "https://evil.example/lake/wh/t1/x"):            `the host "evil.example", which is not that of its files`,
		ask("PUT", inTable+"x", "x-amz-acl", "public-read"):        `with the header "x-amz-acl"`,
		ask("GET", inTable+"a+b"):                                  `has a uri with the character "+" in it`,
		ask("POST", endpoint+"/lake?delete"):                       "lacks the body that says which",
		ask("PUT", inTable+"x", copySource, "lake/wh/t2/x"):        "for a copy from what lies outside of its location",
		ask("PUT", inTable+"x", "a", "{object}{to}", "x-a{b", "c"): "",
	} {
		_, err := signFor(b, mounts.WriteStorage, "t1", text)
		if want == "" {
			if err == nil {
				continue
			}
			want = "has a header"
		}
		if e := mounts.AsError(err); err == nil || !strings.Contains(e.Message(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
