//go:build peers

package vending

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/icefield/icefield/examples/internal/peers"
	"github.com/icefield/icefield/mounts"
	"github.com/icefield/icefield/policy/vend"
)

const (
	lake  = "warehouse"
	table = "wh/sales/t1"
)

// outside are keys beside a table, some of whose names begin like it.
var outside = []string{"root.txt", "wh/root.txt", "wh/sales/t1", "wh/sales/t1x/data/a.parquet", "wh/sales/t1.old/a", "wh/sales/t2/data/a.parquet", "wh/other/t1/a"}

var inside = []string{table + "/data/a.parquet", table + "/metadata/00000.metadata.json", table + "/data/day=1/b c+é.parquet"}

// TestVendedKeysReachOneTable mints keys with the store's own token service, as a mount with `vending "aws"` does, and tries
// them on everything that lies in and beside the table.
func TestVendedKeysReachOneTable(t *testing.T) {
	weed := peers.StartSeaweedFS(t)
	owner := keyed(weed, weed.AccessKeyID, weed.SecretKey, "")
	if _, err := owner.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(lake)}); err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Concat(inside, outside) {
		if code := tried(t, func(ctx context.Context) error { return put(ctx, owner, key) }); code != http.StatusOK {
			t.Fatalf("the owner could not write %s: %d", key, code)
		}
	}
	provider, err := vend.AWS(t.Context(), vend.AWSOptions{RoleARN: "arn:aws:iam::000000000000:role/Vend", STSEndpoint: weed.S3, Region: "us-east-1",
		Duration: 15 * time.Minute, AccessKeyID: weed.AccessKeyID, SecretAccessKey: weed.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	mint := func(access mounts.StorageAccess, key string) *vend.Minted {
		t.Helper()
		m, err := provider.Mint(t.Context(), vend.Ask{Location: "s3://" + lake + "/" + key, Access: access, Principal: "corp/alice", Tenant: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	session := func(m *vend.Minted) *s3.Client {
		return keyed(weed, m.Config["s3.access-key-id"], m.Config["s3.secret-access-key"], m.Config["s3.session-token"])
	}
	reader, writer := session(mint(mounts.ReadStorage, table)), session(mint(mounts.WriteStorage, table))

	t.Run("ReadersRead", func(t *testing.T) {
		for _, key := range inside {
			expect(t, "get "+key, http.StatusOK, func(ctx context.Context) error { return get(ctx, reader, key) })
			expect(t, "get "+key, http.StatusOK, func(ctx context.Context) error { return get(ctx, writer, key) })
		}
		for name, client := range map[string]*s3.Client{"reader": reader, "writer": writer} {
			found, err := list(t.Context(), client, table+"/")
			if err != nil || len(found) != len(inside) {
				t.Errorf("the %s lists %q, %v", name, found, err)
			}
		}
	})
	t.Run("WritersWrite", func(t *testing.T) {
		key := table + "/data/new.parquet"
		expect(t, "put", http.StatusOK, func(ctx context.Context) error { return put(ctx, writer, key) })
		expect(t, "delete", http.StatusOK, func(ctx context.Context) error { return remove(ctx, writer, key) })
		expect(t, "multipart", http.StatusOK, func(ctx context.Context) error { return multipart(ctx, writer, key) })
	})
	t.Run("ReadersWriteNothing", func(t *testing.T) {
		for _, key := range slices.Concat(inside, outside, []string{table + "/new"}) {
			expect(t, "put "+key, http.StatusForbidden, func(ctx context.Context) error { return put(ctx, reader, key) })
			expect(t, "delete "+key, http.StatusForbidden, func(ctx context.Context) error { return remove(ctx, reader, key) })
			expect(t, "multipart "+key, http.StatusForbidden, func(ctx context.Context) error { return multipart(ctx, reader, key) })
		}
	})
	for name, client := range map[string]*s3.Client{"Reader": reader, "Writer": writer} {
		t.Run("NothingBeside/"+name, func(t *testing.T) {
			for _, key := range outside {
				expect(t, "get "+key, http.StatusForbidden, func(ctx context.Context) error { return get(ctx, client, key) })
				expect(t, "head "+key, http.StatusForbidden, func(ctx context.Context) error {
					_, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(lake), Key: &key})
					return err
				})
				expect(t, "put "+key, http.StatusForbidden, func(ctx context.Context) error { return put(ctx, client, key) })
				expect(t, "delete "+key, http.StatusForbidden, func(ctx context.Context) error { return remove(ctx, client, key) })
				expect(t, "multipart "+key, http.StatusForbidden, func(ctx context.Context) error { return multipart(ctx, client, key) })
				expect(t, "copy from "+key, http.StatusForbidden, func(ctx context.Context) error {
					_, err := client.CopyObject(ctx, &s3.CopyObjectInput{Bucket: aws.String(lake), Key: aws.String(table + "/stolen"), CopySource: aws.String(lake + "/" + key)})
					return err
				})
			}
			for _, prefix := range []string{"", "wh/", "wh/sales/", "wh/sales/t", "wh/sales/t1", "wh/sales/t1x/", "wh/sales/t2/"} {
				expect(t, "list "+prefix, http.StatusForbidden, func(ctx context.Context) error { _, err := list(ctx, client, prefix); return err })
			}
			expect(t, "list buckets of another", http.StatusForbidden, func(ctx context.Context) error {
				_, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(weed.Bucket)})
				return err
			})
			expect(t, "bucket policy", http.StatusForbidden, func(ctx context.Context) error {
				_, err := client.PutBucketPolicy(ctx, &s3.PutBucketPolicyInput{Bucket: aws.String(lake), Policy: aws.String(`{"Version":"2012-10-17","Statement":[]}`)})
				return err
			})
			expect(t, "acl", http.StatusForbidden, func(ctx context.Context) error {
				_, err := client.PutObjectAcl(ctx, &s3.PutObjectAclInput{Bucket: aws.String(lake), Key: &inside[0], ACL: types.ObjectCannedACLPublicRead})
				return err
			})
			expect(t, "delete many", http.StatusForbidden, func(ctx context.Context) error {
				out, err := client.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: aws.String(lake),
					Delete: &types.Delete{Objects: []types.ObjectIdentifier{{Key: &outside[3]}, {Key: &outside[5]}}}})
				if err == nil && len(out.Errors) == 2 && len(out.Deleted) == 0 {
					return errRefusedEach
				}
				return err
			})
		})
	}
	t.Run("HostileNamesOpenNothing", func(t *testing.T) {
		// A table whose name is a wildcard gets no more than its own folder, which
		// this store, knowing no literal wildcards, may refuse too.
		for _, key := range []string{"wh/sales/*", "wh/*", "wh/sales/t${*}", "wh/${aws:username}", "wh/sales/${*}"} {
			client := session(mint(mounts.WriteStorage, key))
			for _, other := range slices.Concat(inside, outside) {
				expect(t, key+": get "+other, http.StatusForbidden, func(ctx context.Context) error { return get(ctx, client, other) })
				expect(t, key+": put "+other, http.StatusForbidden, func(ctx context.Context) error { return put(ctx, client, other) })
			}
		}
	})
	for _, key := range outside {
		expect(t, "afterwards "+key, http.StatusOK, func(ctx context.Context) error { return get(ctx, owner, key) })
	}
	t.Run("TheyEnd", func(t *testing.T) { testTheyEnd(t, weed, mint(mounts.ReadStorage, table)) })
}

// testTheyEnd asks the store what it makes of a session that is over. It gives none for less than 15 minutes, so the token of
// one is signed anew, with the store's own key, to end at another time: one that ends later is taken, which shows that nothing
// else about it is wrong, and one that has ended is refused.
func testTheyEnd(t *testing.T, weed *peers.SeaweedFS, m *vend.Minted) {
	if left := time.Until(m.Expires); left < 14*time.Minute || left > 15*time.Minute+time.Second {
		t.Errorf("a session of 15 minutes is good for %v", left)
	}
	until := func(end time.Time) *s3.Client {
		return keyed(weed, m.Config["s3.access-key-id"], m.Config["s3.secret-access-key"], endsAt(t, m.Config["s3.session-token"], end))
	}
	expect(t, "a session that ends in ten minutes", http.StatusOK, func(ctx context.Context) error {
		return get(ctx, until(time.Now().Add(10*time.Minute)), inside[0])
	})
	expect(t, "a session that has ended", http.StatusForbidden, func(ctx context.Context) error {
		return get(ctx, until(time.Now().Add(-10*time.Minute)), inside[0])
	})
}

// endsAt is a session token of SeaweedFS with another end, signed with the key in access.json.
func endsAt(t *testing.T, token string, end time.Time) string {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("the session token has %d parts", len(parts))
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	claims := map[string]any{}
	if err := d.Decode(&claims); err != nil {
		t.Fatal(err)
	}
	if _, ok := claims["exp"]; !ok {
		t.Fatalf("the session has no end: %v", claims)
	}
	claims["exp"] = end.Unix()
	claims["expires_at"] = end.UTC().Format(time.RFC3339Nano)
	if text, err = json.Marshal(claims); err != nil {
		t.Fatal(err)
	}
	signed := parts[0] + "." + base64.RawURLEncoding.EncodeToString(text)
	mac := hmac.New(sha256.New, []byte("the key of sessions of a test server"))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func keyed(weed *peers.SeaweedFS, id, secret, token string) *s3.Client {
	return s3.New(s3.Options{BaseEndpoint: aws.String(weed.S3), Region: "us-east-1", UsePathStyle: true, RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider(id, secret, token)})
}

func get(ctx context.Context, client *s3.Client, key string) error {
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(lake), Key: &key})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	_, err = io.Copy(io.Discard, out.Body)
	return err
}

func put(ctx context.Context, client *s3.Client, key string) error {
	_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String(lake), Key: &key, Body: strings.NewReader(key)})
	return err
}

func remove(ctx context.Context, client *s3.Client, key string) error {
	_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: aws.String(lake), Key: &key})
	return err
}

// multipart begins an upload and gives it up.
func multipart(ctx context.Context, client *s3.Client, key string) error {
	begun, err := client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: aws.String(lake), Key: &key})
	if err != nil {
		return err
	}
	_, err = client.UploadPart(ctx, &s3.UploadPartInput{Bucket: aws.String(lake), Key: &key, UploadId: begun.UploadId, PartNumber: aws.Int32(1), Body: strings.NewReader("part")})
	_, gone := client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: aws.String(lake), Key: &key, UploadId: begun.UploadId})
	return errors.Join(err, gone)
}

func list(ctx context.Context, client *s3.Client, prefix string) (keys []string, err error) {
	page, err := client.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(lake), Prefix: &prefix})
	if err != nil {
		return nil, err
	}
	for _, object := range page.Contents {
		keys = append(keys, aws.ToString(object.Key))
	}
	return keys, nil
}

var errRefusedEach = errors.New("each of them was refused")

// expect asserts the status that the store answers with.
func expect(t *testing.T, what string, want int, do func(context.Context) error) {
	t.Helper()
	if got := tried(t, do); got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

func tried(t *testing.T, do func(context.Context) error) int {
	t.Helper()
	err := do(t.Context())
	var refused *awshttp.ResponseError
	switch {
	case err == nil:
		return http.StatusOK
	case errors.Is(err, errRefusedEach):
		return http.StatusForbidden
	case errors.As(err, &refused):
		return refused.HTTPStatusCode()
	}
	t.Fatalf("the store did not answer: %v", err)
	return 0
}
