//go:build peers

package warehouse

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"
)

// azuriteVersion is the release of Microsoft's emulator of Azure's blob service
// that the tests run against. It needs node and npm.
const azuriteVersion = "3.37.0"

// The one account that the emulator knows, with its published key.
const (
	azuriteAccount = "devstoreaccount1"
	azuriteKey     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// peerServices are servers that Go alone cannot start.
func peerServices() []service {
	absent := func(authority string) string { return "absent-" + authority }
	return []service{
		{"azure", "abfss", func(t testing.TB) (string, map[string]string) {
			name, address, _ := azureContainerOf(t)
			return name + "@" + azuriteAccount + ".dfs.core.windows.net", map[string]string{
				"adls.endpoint": address, "adls.protocol": "http",
				"adls.auth.shared-key.account.name": azuriteAccount, "adls.auth.shared-key.account.key": azuriteKey}
		}, absent},
		{"azure-connection-string", "wasb", func(t testing.TB) (string, map[string]string) {
			name, _, connection := azureContainerOf(t)
			return name + "@" + azuriteAccount + ".blob.core.windows.net", map[string]string{"adls.connection-string." + azuriteAccount: connection}
		}, absent},
		{"azure-sas", "abfs", func(t testing.TB) (string, map[string]string) {
			name, address, connection := azureContainerOf(t)
			client, err := container.NewClientFromConnectionString(connection, name, nil)
			if err != nil {
				t.Fatal(err)
			}
			signed, err := client.GetSASURL(sas.ContainerPermissions{Read: true, Add: true, Create: true, Write: true, Delete: true, List: true}, time.Now().Add(time.Hour), nil)
			if err != nil {
				t.Fatal(err)
			}
			_, token, _ := strings.Cut(signed, "?")
			return name + "@" + azuriteAccount + ".dfs.core.windows.net", map[string]string{
				"adls.endpoint": address, "adls.protocol": "http", "adls.sas-token." + azuriteAccount: token}
		}, absent},
	}
}

// azureContainerOf makes a container in the emulator.
func azureContainerOf(t testing.TB) (name, address, connection string) {
	t.Helper()
	address, name = azurite(t), strings.ToLower("lake-"+rand.Text()[:12])
	connection = fmt.Sprintf("DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;BlobEndpoint=http://%s/%s;", azuriteAccount, azuriteKey, address, azuriteAccount)
	client, err := container.NewClientFromConnectionString(connection, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Create(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	return name, address, connection
}

func TestMarksOfEmptyFoldersGoAndThoseOfOthersStay(t *testing.T) {
	ctx := context.Background()
	start := peerServices()[0].start
	authority, storage := start(t)
	w := opened(t, "abfss://"+authority+"/wh", storage)
	client := w.files.(store).objects.(*azureObjects).client
	mark := func(key string) {
		t.Helper()
		_, err := client.NewBlockBlobClient(key).Upload(ctx, streaming.NopCloser(strings.NewReader("")), &blockblob.UploadOptions{Metadata: map[string]*string{"hdi_isfolder": new("true")}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"wh/t", "wh/t/data", "wh/t/data/x", "wh/t/full", "wh/t2", "wh"} {
		mark(folder)
	}
	mustWrite(t, w, "t/full/f", 1)
	if got := listed(t, w, w.Root()); !slices.Equal(got, []string{"t/full/f 1"}) {
		t.Errorf("marks are listed as files: %q", got)
	}
	if err := w.RemoveEmptyFolders(ctx, w.Root().Join("t")); err != nil {
		t.Fatal(err)
	}
	var left []string
	objects := w.files.(store).objects.(*azureObjects)
	if err := objects.walk(ctx, "", func(item *container.BlobItem) error { left = append(left, *item.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"wh", "wh/t", "wh/t/full", "wh/t/full/f", "wh/t2"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}

// running is the emulator, which all tests of the process share.
var running struct {
	sync.Mutex
	command *exec.Cmd
	address string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if running.command != nil {
		_ = running.command.Process.Kill()
		_ = running.command.Wait()
	}
	os.Exit(code)
}

// azurite starts the emulator, once, and returns its address.
func azurite(t testing.TB) string {
	t.Helper()
	running.Lock()
	defer running.Unlock()
	if running.address != "" {
		return running.address
	}
	command := exec.Command("node", filepath.Join(azuriteFolder(t), "node_modules/azurite/dist/src/blob/main.js"),
		"--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck")
	command.Dir = os.TempDir()
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		t.Fatalf("cannot start the Azure emulator, which needs node: %v", err)
	}
	running.command = command
	var said strings.Builder
	listening := regexp.MustCompile(`listens on http://(127\.0\.0\.1:\d+)`)
	giveUp := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
	defer giveUp.Stop()
	for lines := bufio.NewScanner(output); lines.Scan(); said.WriteString(lines.Text() + "\n") {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			running.address = m[1]
			go func() { _, _ = io.Copy(io.Discard, output) }() // ends with the emulator, in TestMain
			return running.address
		}
	}
	running.command = nil
	_ = command.Process.Kill()
	_ = command.Wait()
	t.Fatalf("the Azure emulator does not come up; it said:\n%s", said.String())
	return ""
}

// azuriteFolder is where the emulator is installed, and kept for the next run.
func azuriteFolder(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(azuriteVersion))
	folder := filepath.Join(cache, "icefield-peers", "azurite-"+hex.EncodeToString(hash[:6]))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(folder+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close() // which gives up the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	complete := filepath.Join(folder, "complete")
	if _, err := os.Stat(complete); err == nil {
		return folder
	}
	install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", folder, "azurite@"+azuriteVersion)
	if printed, err := install.CombinedOutput(); err != nil {
		t.Fatalf("cannot install the Azure emulator: %v\n%s", err, printed)
	}
	if err := os.WriteFile(complete, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}
