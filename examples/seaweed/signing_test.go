//go:build peers

package seaweed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy/sign"
)

// tableAt is a backend with one table.
func tableAt(location string) mounts.Backend {
	return mounts.Dispatch(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		if _, ok := req.(*mounts.LoadTableRequest); !ok {
			return nil, mounts.NotSupported(req)
		}
		return &mounts.Table{Metadata: json.RawMessage(`{"location":"` + location + `"}`), MetadataLocation: location + "/metadata/1.json", ETag: `"1"`}, nil
	}, mounts.Unsupported{})
}

// remoteSigner is what Iceberg's clients put in the place of an SDK's own signer:
// it has no keys.
type remoteSigner struct {
	b      mounts.Backend
	access mounts.StorageAccess
}

func (s *remoteSigner) SignHTTP(ctx context.Context, _ aws.Credentials, r *http.Request, _, _, region string, _ time.Time, _ ...func(*v4.SignerOptions)) error {
	asked := map[string]any{"region": region, "method": r.Method, "uri": r.URL.String(), "headers": r.Header, "provider": "s3"}
	if body, ok := ctx.Value(bodyKey{}).(string); ok {
		asked["body"] = body
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	ctx = mounts.WithCaller(context.Background(), mounts.Caller{Storage: s.access})
	doc, err := s.b.SignRequest(ctx, &mounts.SignStorageRequest{Table: mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: "t"}, Body: text})
	if err != nil {
		return err
	}
	var answer struct {
		URI     string
		Headers http.Header
	}
	if err := json.Unmarshal(doc.Body, &answer); err != nil {
		return err
	}
	u, err := url.Parse(answer.URI)
	if err != nil {
		return err
	}
	r.URL = u
	for name, values := range answer.Headers {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return nil
}

type bodyKey struct{}

// showBody lets the signer see the body of a deletion, as Java's client does.
func showBody(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("ShowBody", func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		if r, ok := in.Request.(*smithyhttp.Request); ok && r.URL.Query().Has("delete") {
			body, err := io.ReadAll(r.GetStream())
			if err == nil {
				r, err = r.SetStream(bytes.NewReader(body))
			}
			if err != nil {
				return middleware.FinalizeOutput{}, middleware.Metadata{}, err
			}
			in.Request, ctx = r, context.WithValue(ctx, bodyKey{}, string(body))
		}
		return next.HandleFinalize(ctx, in)
	}), "Signing", middleware.Before)
}

// changing sends another request than the one that was signed.
type changing func(r *http.Request)

func (c changing) Do(r *http.Request) (*http.Response, error) {
	if c != nil {
		c(r)
	}
	return http.DefaultClient.Do(r)
}

// refusedByStore is an error with which the store, not the signer, says no.
func refusedByStore(err error) bool {
	var answered *awshttp.ResponseError
	return errors.As(err, &answered) && answered.HTTPStatusCode() >= 400 && answered.HTTPStatusCode() < 500
}

// TestAClientWithoutKeysReadsAndWritesATableByRemoteSigning: the store checks the signatures.
func TestAClientWithoutKeysReadsAndWritesATableByRemoteSigning(t *testing.T) {
	weed := peers.StartSeaweedFS(t)
	ctx := context.Background()
	options := s3.Options{BaseEndpoint: aws.String(weed.S3), Region: "us-east-1", UsePathStyle: true, RetryMaxAttempts: 1}
	admin := options
	admin.Credentials = credentials.NewStaticCredentialsProvider(weed.AccessKeyID, weed.SecretKey, "")
	own := s3.New(admin)
	bucket := aws.String("plain")
	if _, err := own.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: bucket}); err != nil {
		t.Fatal(err)
	}
	foreign := "wh/t2/secret"
	put := func(key, text string) {
		t.Helper()
		if _, err := own.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: strings.NewReader(text)}); err != nil {
			t.Fatal(err)
		}
	}
	holds := func(key, want string) {
		t.Helper()
		out, err := own.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &key})
		if err != nil {
			t.Errorf("%s: %v", key, err)
			return
		}
		defer out.Body.Close()
		if got, err := io.ReadAll(out.Body); err != nil || string(got) != want {
			t.Errorf("%s holds %.40q, want %.40q (%v)", key, got, want, err)
		}
	}
	put(foreign, "another's")
	// This store does not compare the body of a deletion of many with the one that
	// was signed for: its operator would not say that it does.
	signer := func(checks bool) mounts.Backend {
		b, err := sign.Around(tableAt("s3://plain/wh/t1"), sign.Options{Warehouse: "s3://plain/wh", ChecksBodies: checks, Storage: map[string]string{
			"s3.endpoint": weed.S3, "s3.access-key-id": weed.AccessKeyID, "s3.secret-access-key": weed.SecretKey}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := signer(false)
	client := func(access mounts.StorageAccess, change func(*http.Request)) *s3.Client {
		o := options
		o.Credentials = credentials.NewStaticCredentialsProvider("NONE", "none", "")
		o.HTTPSignerV4, o.HTTPClient = &remoteSigner{b: b, access: access}, changing(change)
		o.APIOptions = []func(*middleware.Stack) error{showBody}
		return s3.New(o)
	}
	c := client(mounts.WriteStorage, nil)

	odd := "wh/t1/data/p=a%2Fb/é +&=~'(x) y.parquet"
	for _, key := range []string{"wh/t1/data/x.parquet", odd} {
		if _, err := c.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &key, Body: strings.NewReader("of " + key), ContentType: aws.String("application/octet-stream")}); err != nil {
			t.Fatalf("put %s: %v", key, err)
		}
		holds(key, "of "+key)
		out, err := c.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &key, Range: aws.String("bytes=0-1")})
		if err != nil {
			t.Fatalf("get %s: %v", key, err)
		}
		if got, _ := io.ReadAll(out.Body); string(got) != "of" {
			t.Errorf("the range of %s is %q", key, got)
		}
		if _, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: bucket, Key: &key}); err != nil {
			t.Errorf("head %s: %v", key, err)
		}
		to := key + ".copy"
		source := "plain/" + strings.ReplaceAll(url.PathEscape(key), "%2F", "/")
		source = strings.NewReplacer("+", "%2B", "%252F", "%252F").Replace(source)
		if _, err := c.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: &to, CopySource: &source}); err != nil {
			t.Errorf("copy %s: %v", key, err)
		} else {
			holds(to, "of "+key)
		}
	}
	listed, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("wh/t1/"), MaxKeys: aws.Int32(100)})
	if err != nil || len(listed.Contents) != 4 {
		t.Errorf("%d listed, %v", len(listed.Contents), err)
	}

	// A file in parts, one of them copied.
	key, big := "wh/t1/data/big.parquet", strings.Repeat("x", 5<<20)
	begun, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: bucket, Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	part, err := c.UploadPart(ctx, &s3.UploadPartInput{Bucket: bucket, Key: &key, UploadId: begun.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader(big)})
	if err != nil {
		t.Fatal(err)
	}
	copied, err := c.UploadPartCopy(ctx, &s3.UploadPartCopyInput{Bucket: bucket, Key: &key, UploadId: begun.UploadId, PartNumber: aws.Int32(2), CopySource: aws.String("plain/wh/t1/data/x.parquet")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListParts(ctx, &s3.ListPartsInput{Bucket: bucket, Key: &key, UploadId: begun.UploadId}); err != nil {
		t.Errorf("parts: %v", err)
	}
	if _, err := c.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: bucket, Key: &key, UploadId: begun.UploadId, MultipartUpload: &types.CompletedMultipartUpload{
		Parts: []types.CompletedPart{{PartNumber: aws.Int32(1), ETag: part.ETag}, {PartNumber: aws.Int32(2), ETag: copied.CopyPartResult.ETag}}}}); err != nil {
		t.Fatal(err)
	}
	holds(key, big+"of wh/t1/data/x.parquet")

	// What the signer does not sign.
	none := "wh/t1/data/none"
	for what, err := range map[string]error{
		"get another's":  second(c.GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: &foreign})),
		"put another's":  second(c.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &foreign, Body: strings.NewReader("mine")})),
		"list all":       second(c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket})),
		"copy another's": second(c.CopyObject(ctx, &s3.CopyObjectInput{Bucket: bucket, Key: &none, CopySource: aws.String("plain/" + foreign)})),
		"an ACL":         second(c.GetObjectAcl(ctx, &s3.GetObjectAclInput{Bucket: bucket, Key: &key})),
		"a policy":       second(c.GetBucketPolicy(ctx, &s3.GetBucketPolicyInput{Bucket: bucket})),
		"many at once":   second(c.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: &key}}}})),
		"a foreign key among others": second(c.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{
			Objects: []types.ObjectIdentifier{{Key: &key}, {Key: &foreign}}}})),
		"a write of a reader": second(client(mounts.ReadStorage, nil).PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &none, Body: strings.NewReader("x")})),
	} {
		if !errors.Is(err, mounts.Forbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	// What a client makes of a signature is refused by the store.
	for what, change := range map[string]func(r *http.Request){
		"another key": func(r *http.Request) { r.URL.Path, r.URL.RawPath = "/plain/"+foreign, "" },
		"a parameter": func(r *http.Request) { r.URL.RawQuery += "&acl=" },
		"a date": func(r *http.Request) {
			r.Header.Set("X-Amz-Date", time.Now().Add(-time.Hour).UTC().Format("20060102T150405Z"))
		},
		"an access key": func(r *http.Request) {
			r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), weed.AccessKeyID, "somebody", 1))
		},
	} {
		if _, err := client(mounts.WriteStorage, change).GetObject(ctx, &s3.GetObjectInput{Bucket: bucket, Key: aws.String("wh/t1/data/x.parquet")}); !refusedByStore(err) {
			t.Errorf("with %s: %v", what, err)
		}
	}
	for what, header := range map[string][2]string{"a source": {"X-Amz-Copy-Source", "plain/" + foreign}, "an ACL": {"X-Amz-Acl", "public-read"}} {
		add := client(mounts.WriteStorage, func(r *http.Request) { r.Header.Set(header[0], header[1]) })
		if _, err := add.PutObject(ctx, &s3.PutObjectInput{Bucket: bucket, Key: &none, Body: strings.NewReader("")}); !refusedByStore(err) {
			t.Errorf("with %s that is not signed: %v", what, err)
		}
	}
	holds(foreign, "another's")
	holds(key, big+"of wh/t1/data/x.parquet")

	if _, err := c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: bucket, Key: &key}); err != nil {
		t.Error(err)
	}
	b = signer(true)
	c = client(mounts.WriteStorage, nil)
	gone, err := c.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: bucket, Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: &odd}, {Key: aws.String("wh/t1/data/x.parquet")}}}})
	if err != nil || len(gone.Errors) > 0 {
		t.Errorf("%v, %v", gone, err)
	}
	if listed, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: bucket, Prefix: aws.String("wh/t1/data/")}); err != nil || len(listed.Contents) != 2 {
		t.Errorf("%v, %v", listed, err)
	}
}

func second[A any](_ A, err error) error { return err }
