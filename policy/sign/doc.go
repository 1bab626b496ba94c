// Package sign signs requests to S3, one by one, for clients that have no keys
// (REST spec, RemoteSignRequest). It is a decorator around a backend whose
// tables lie in one S3 bucket, and signs with that mount's own credentials:
//
//	signing, err := sign.Around(native.Idempotent(), sign.Options{
//		Warehouse: native.Warehouse(), // "s3://lake/warehouse"
//		Storage:   map[string]string{"s3.region": "eu-central-1"},
//	})
//
// A load, creation or registration that asks for remote-signing is answered with
// how to have requests signed (mounts.Table.Signing), and SignRequest signs what
// lies inside the location that the table has now. Nothing that comes from the
// client says where that is. Whether a caller may have something signed, and
// whether more than reading, is Caller.Storage: the policy's decision.
//
// # What is signed
//
// The request is read once, strictly, and what was read is written anew, signed
// and answered: the client sends what was checked or nothing. Keys are not
// normalised, since S3 does not: what a reader could take for another key is
// refused (empty segments, ".", "..", encoded slashes, control characters, a raw
// "+", escapes that lead out of the table when they are decoded again).
//
//	GET, HEAD   /key                          GetObject, HeadObject (versionId, partNumber)
//	GET         /key?uploadId                 ListParts
//	GET         /?prefix, /?list-type=2       ListObjects; the prefix lies in the table
//	PUT         /key                          PutObject, CopyObject
//	PUT         /key?partNumber&uploadId      UploadPart, UploadPartCopy
//	POST        /key?uploads, /key?uploadId   CreateMultipartUpload, CompleteMultipartUpload
//	DELETE      /key, /key?uploadId           DeleteObject, AbortMultipartUpload
//	POST        /?delete                      DeleteObjects; every key of the body lies in the table
//
// The source of a copy lies in the table too. A deletion of many objects needs
// its body, and is signed for that body's SHA-256, whatever the client said of
// the payload: no other body goes with the signature. (Content-MD5 would not do:
// two bodies can have one.) A store that does not compare them would let a client
// swap the body: outside of AWS such deletions are signed only where
// Options.ChecksBodies says that it does (SeaweedFS does not). Nothing else is signed: no other sub-resource (ACL,
// policy, tagging, versions, …), no parameters of presigned URLs, no deletion of
// versions, no HeadBucket. Of the x-amz- headers those pass that say what a body
// or a checksum is, the storage class, metadata of the client's own, the expected
// owner of the bucket, and encryption by S3 or KMS without naming a key: the
// bucket's own settings say which. ACLs, grants, tags, redirects, locks, keys of
// the client's own (SSE-C) and payers do not.
//
// Payloads may be unsigned (UNSIGNED-PAYLOAD, STREAMING-UNSIGNED-PAYLOAD-TRAILER)
// or have their SHA-256; chunk by chunk signatures would need the keys, and are
// refused. Without a word of the client, a request that has no body is signed for
// the empty one.
//
// # What is not promised
//
// A signature is good for the 15 minutes that S3 takes it, also if the caller's
// rights, or the table, are gone meanwhile; Java's client keeps those of reads
// for some seconds itself (Cache-Control: private). The store has to refuse x-amz-
// headers that were not signed, as S3 does: a client could add them. Files outside
// of the table's location (write.data.path) are not reached. A staged table is
// signed for when it exists.
//
// Layer: above mounts, beside the backends, below cmd.
package sign
