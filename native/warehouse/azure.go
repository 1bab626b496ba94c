package warehouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/bloberror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	icebergio "github.com/apache/iceberg-go/io"
	_ "github.com/apache/iceberg-go/io/gocloud/azure" // registers abfss and the like
	"gocloud.dev/blob"
)

// azureObjects is one container of an Azure account, through the account's
// interface for objects. What is written through either interface is seen
// through both.
type azureObjects struct {
	client *container.Client
	opened *blob.Bucket
}

func openAzure(ctx context.Context, authority string, properties map[string]string) (files, error) {
	opened, err := openBucket(ctx, "abfss://"+authority, azureProperties(authority, properties))
	if err != nil {
		return nil, err
	}
	o := &azureObjects{opened: opened}
	if !opened.As(&o.client) {
		return nil, errors.New("warehouse: the FileIO library serves abfss with another client than that of Azure")
	}
	return store{o}, nil
}

// azureProperties says to the library in which Azure cloud the account is: it
// takes the account from the location and forgets the rest of the host. A SAS
// token may be filed under either of the account's hosts.
func azureProperties(authority string, properties map[string]string) map[string]string {
	_, host, _ := strings.Cut(authority, "@")
	_, domain, _ := strings.Cut(host, ".")
	domain = strings.Replace("."+domain, ".dfs.", ".blob.", 1)[1:]
	all := map[string]string{icebergio.ADLSEndpoint: domain}
	maps.Copy(all, properties)
	account, _, _ := strings.Cut(host, ".")
	for _, filed := range []string{host, account + "." + domain, account} {
		if token := strings.TrimPrefix(properties[icebergio.ADLSSasTokenPrefix+filed], "?"); token != "" {
			all[icebergio.ADLSSasTokenPrefix+host] = token
			break
		}
	}
	for _, filed := range []string{account, host, account + "." + domain} {
		if text := properties[icebergio.ADLSConnectionStringPrefix+filed]; text != "" {
			all[icebergio.ADLSConnectionStringPrefix+account] = text
			break
		}
	}
	return all
}

func (o *azureObjects) get(ctx context.Context, key string, offset, length int64) (object, error) {
	var options azblob.DownloadStreamOptions
	if length >= 0 {
		options.Range = azblob.HTTPRange{Offset: offset, Count: length}
	}
	out, err := o.client.NewBlobClient(key).DownloadStream(ctx, &options)
	if err != nil {
		return object{}, blobError(err)
	}
	if out.ContentLength == nil || length >= 0 && *out.ContentLength != length {
		return object{}, errors.Join(errors.New("warehouse: Azure answered with another part of a blob than was asked for"), out.Body.Close())
	}
	found := object{body: out.Body, size: *out.ContentLength}
	if out.LastModified != nil {
		found.modified = *out.LastModified
	}
	return found, nil
}

func (o *azureObjects) put(ctx context.Context, key string, content []byte) error {
	_, err := o.client.NewBlockBlobClient(key).Upload(ctx, streaming.NopCloser(bytes.NewReader(content)), &blockblob.UploadOptions{
		HTTPHeaders:      &azblob.HTTPHeaders{BlobContentType: new("application/json")},
		AccessConditions: &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfNoneMatch: new(azcore.ETagAny)}},
	})
	if bloberror.HasCode(err, bloberror.BlobAlreadyExists, bloberror.ConditionNotMet) {
		return fmt.Errorf("%w: %w", fs.ErrExist, unsigned{err})
	}
	return blobError(err)
}

func (o *azureObjects) remove(ctx context.Context, key string) error {
	_, err := o.client.NewBlobClient(key).Delete(ctx, &azblob.DeleteOptions{DeleteSnapshots: new(azblob.DeleteSnapshotsOptionTypeInclude)})
	return blobError(err)
}

func (o *azureObjects) removeMany(ctx context.Context, keys []string) (int, error) {
	return removeEach(ctx, keys, removers, o.remove)
}

// list leaves out folders, which an account with a hierarchical name space keeps
// as empty blobs with a mark.
func (o *azureObjects) list(ctx context.Context, prefix string, each func(string, int64, time.Time) error) error {
	return o.walk(ctx, prefix, func(item *container.BlobItem) error {
		if isFolder(item) {
			return nil
		}
		return each(*item.Name, *item.Properties.ContentLength, *item.Properties.LastModified)
	})
}

func (o *azureObjects) walk(ctx context.Context, prefix string, each func(*container.BlobItem) error) error {
	pages := o.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: &prefix, Include: container.ListBlobsInclude{Metadata: true}})
	for pages.More() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return blobError(err)
		}
		if page.Segment == nil {
			continue
		}
		for _, item := range page.Segment.BlobItems {
			if item.Name == nil || item.Properties == nil || item.Properties.ContentLength == nil || item.Properties.LastModified == nil {
				return errors.New("warehouse: Azure listed a blob without its name, size or time")
			}
			if err := each(item); err != nil {
				return err
			}
		}
	}
	return nil
}

// isFolder knows the mark that Azure and Hadoop give a folder.
func isFolder(item *container.BlobItem) bool {
	for name, value := range item.Metadata {
		if strings.EqualFold(name, "hdi_isfolder") && value != nil && strings.EqualFold(*value, "true") {
			return true
		}
	}
	return false
}

// removeFolders removes marks of folders with nothing in them, from the deepest
// up. Azure itself refuses one that is not empty.
func (o *azureObjects) removeFolders(ctx context.Context, folder string) error {
	var marks []string
	holds := map[string]bool{}
	err := o.walk(ctx, folder, func(item *container.BlobItem) error {
		name := *item.Name
		if folder != "" && name != folder && !strings.HasPrefix(name, folder+"/") {
			return nil
		}
		if isFolder(item) {
			marks = append(marks, name)
			return nil
		}
		for i := strings.LastIndexByte(name, '/'); i >= len(folder); i = strings.LastIndexByte(name[:i], '/') {
			holds[name[:i]] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(marks, func(a, b string) int { return strings.Compare(b, a) })
	for _, mark := range marks {
		if holds[mark] {
			continue
		}
		err := o.remove(ctx, mark)
		if err != nil && !errors.Is(err, ErrMissing) && !bloberror.HasCode(err, "DirectoryIsNotEmpty") {
			return err
		}
	}
	return nil
}

func (o *azureObjects) close() error { return o.opened.Close() }

// blobError tells a missing blob from a missing container, which says nothing
// about the blob. It leaves the queries of addresses out of the text, since the
// signature of a SAS token is in them, and errors are logged.
func blobError(err error) error {
	if err == nil {
		return nil
	}
	if bloberror.HasCode(err, bloberror.BlobNotFound) {
		return fmt.Errorf("%w: %w", ErrMissing, unsigned{err})
	}
	return unsigned{err}
}

var query = regexp.MustCompile(`(https?://[^\s"?]+)\?[^\s"]*`)

// unsigned is an error whose text has no queries of addresses in it.
type unsigned struct{ error }

func (e unsigned) Error() string { return query.ReplaceAllString(e.error.Error(), "$1") }
func (e unsigned) Unwrap() error { return e.error }
