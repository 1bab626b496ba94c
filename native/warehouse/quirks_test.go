package warehouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// before puts something before an S3 server: answer returns true if it answered.
func before(t *testing.T, answer func(http.ResponseWriter, *http.Request, http.Handler) bool) *Warehouse {
	t.Helper()
	storage := fakeS3(t, "lake")
	target, err := url.Parse(storage["s3.endpoint"])
	if err != nil {
		t.Fatal(err)
	}
	next := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answer(w, r, next) {
			next.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	storage["s3.endpoint"] = server.URL
	return opened(t, "s3://lake/wh", storage)
}

func s3Error(w http.ResponseWriter, status int, code string) bool {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message></Error>`, code)
	return true
}

func TestAnS3ServerWithoutConditionsIsWrittenToAllTheSame(t *testing.T) {
	var refused, plain atomic.Int32
	w := before(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if r.Method != http.MethodPut {
			return false
		}
		if r.Header.Get("If-None-Match") == "" {
			plain.Add(1)
			return false
		}
		refused.Add(1)
		return s3Error(w, http.StatusNotImplemented, "NotImplemented")
	})
	for i := range 3 {
		l := mustWrite(t, w, fmt.Sprint("f", i), i)
		if got, err := w.Read(context.Background(), l); err != nil || len(got) != i {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	if plain.Load() != 3 || refused.Load() == 0 {
		t.Errorf("%d plain writes after %d refused ones", plain.Load(), refused.Load())
	}
	before := refused.Load()
	mustWrite(t, w, "f3", 1)
	if refused.Load() != before {
		t.Error("the server is asked every time")
	}
}

func TestAWriteWhoseAnswerWasLostIsNoConflict(t *testing.T) {
	var puts atomic.Int32
	w := before(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if r.Method != http.MethodPut || puts.Add(1) != 1 {
			return false
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		return s3Error(w, http.StatusServiceUnavailable, "SlowDown")
	})
	l := mustWrite(t, w, "f", 5)
	if puts.Load() < 2 {
		t.Fatal("the client did not repeat the write, so nothing was tested")
	}
	if got, err := w.Read(context.Background(), l); err != nil || len(got) != 5 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := w.Write(context.Background(), l, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("another's write: %v", err)
	}
}

func TestAnS3ServerWithoutBatchesIsEmptiedOneByOne(t *testing.T) {
	var deletes atomic.Int32
	w := before(t, func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		if r.Method == http.MethodPost && r.URL.Query().Has("delete") {
			return s3Error(w, http.StatusNotImplemented, "NotImplemented")
		}
		if r.Method == http.MethodDelete {
			deletes.Add(1)
		}
		return false
	})
	var all []Location
	for i := range 20 {
		all = append(all, mustWrite(t, w, fmt.Sprint("t/f", i), 1))
	}
	if gone, err := w.RemoveAll(context.Background(), all); gone != 20 || err != nil || deletes.Load() != 20 {
		t.Errorf("%d gone by %d requests (%v)", gone, deletes.Load(), err)
	}
	if got := listed(t, w, w.Root()); len(got) != 0 {
		t.Errorf("left are %q", got)
	}
}

func TestFilesThatStayAreCountedAndTheOthersGo(t *testing.T) {
	w := before(t, func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if r.Method != http.MethodPost || !r.URL.Query().Has("delete") {
			return false
		}
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), "held") {
			t.Errorf("the request is %s", body)
		}
		fmt.Fprint(w, `<?xml version="1.0"?><DeleteResult><Error><Key>wh/held</Key><Code>AccessDenied</Code><Message>under legal hold</Message></Error></DeleteResult>`)
		return true
	})
	gone, err := w.RemoveAll(context.Background(), []Location{w.Root().Join("a"), w.Root().Join("held"), w.Root().Join("b")})
	if gone != 2 || err == nil || !strings.Contains(err.Error(), "legal hold") {
		t.Errorf("%d gone, %v", gone, err)
	}
}

func TestKeysThatAreNoLocationsAreListedAndRemoved(t *testing.T) {
	storage := fakeS3(t, "lake")
	for _, key := range []string{"wh/t/data/", "wh/t//f", "wh/t/a../f", "wh/t/__0x2f__", "wh/t/%2e%2e", "wh/t/é"} {
		request, err := http.NewRequest(http.MethodPut, storage["s3.endpoint"]+"/lake/"+strings.ReplaceAll(url.PathEscape(key), "%2F", "/"), strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v, %v", key, answer, err)
		}
		answer.Body.Close()
	}
	w := opened(t, "s3://lake/wh", storage)
	if content, err := w.Read(context.Background(), w.Root().Join("t", "a..", "f")); err != nil || string(content) != "x" {
		t.Errorf("a key that the FileIO library would rewrite: %q, %v", content, err)
	}
	var all []Location
	if err := w.List(context.Background(), w.Root().Join("t"), func(e Entry) error { all = append(all, e.Location); return nil }); err != nil || len(all) != 6 {
		t.Fatalf("listed %v (%v)", all, err)
	}
	if gone, err := w.RemoveAll(context.Background(), all); gone != 6 || err != nil {
		t.Errorf("%d gone, %v", gone, err)
	}
	if got := listed(t, w, w.Root()); len(got) != 0 {
		t.Errorf("left are %q", got)
	}
}

func TestPropertiesThatNothingReadsAreRefused(t *testing.T) {
	for root, storage := range map[string]map[string]string{
		"s3://lake/wh":         {"gcs.no-auth": "true"},
		"gs://lake/wh":         {"s3.region": "us-east-1"},
		"gs://lake2/wh":        {"gcs.no-auth": "perhaps"},
		t.TempDir():            {"s3.region": "us-east-1"},
		"s3://lake/misspelled": {"s3.regoin": "us-east-1"},
		"abfss://lake@account.dfs.core.windows.net/wh": {"adls.sas-token.": "x"},
	} {
		if w, err := Open(context.Background(), root, storage); err == nil {
			_ = w.Close()
			t.Errorf("%s takes %v", root, storage)
		}
	}
}

func TestHintsOfGoogleAndAzureHoldNoSecrets(t *testing.T) {
	for _, tt := range []struct {
		scheme        string
		storage, want map[string]string
	}{
		{"gs", map[string]string{"gcs.oauth2.token": "S", "gcs.jsonkey": "S", "gcs.keypath": "/S", "gcs.service.host": "http://h", "gcs.project-id": "p", "gcs.user-project": "u"},
			map[string]string{"gcs.service.host": "http://h", "gcs.endpoint": "http://h", "gcs.project-id": "p", "gcs.user-project": "u"}},
		{"gs", map[string]string{"gcs.no-auth": "true"}, map[string]string{"gcs.no-auth": "true"}},
		{"abfss", map[string]string{"adls.auth.shared-key.account.name": "S", "adls.auth.shared-key.account.key": "S", "adls.sas-token.account": "S", "adls.connection-string.account": "S",
			"adls.client-id": "S", "adls.protocol": "http", "adls.endpoint": "127.0.0.1:1"}, map[string]string{"adls.protocol": "http", "adls.endpoint": "127.0.0.1:1"}},
	} {
		if got := clientHints(tt.scheme, tt.storage); !maps.Equal(got, tt.want) {
			t.Errorf("%v tells clients %v, want %v", tt.storage, got, tt.want)
		}
	}
}

func TestAzureClientsGoToTheCloudOfTheAccount(t *testing.T) {
	for host, want := range map[string]string{
		"account.dfs.core.windows.net":       "blob.core.windows.net",
		"account.dfs.core.chinacloudapi.cn":  "blob.core.chinacloudapi.cn",
		"account.z01.dfs.storage.azure.net":  "z01.blob.storage.azure.net",
		"onelake.dfs.fabric.microsoft.com":   "blob.fabric.microsoft.com",
		"account.dfs.core.usgovcloudapi.net": "blob.core.usgovcloudapi.net",
	} {
		w := opened(t, "abfss://lake@"+host+"/wh", map[string]string{"adls.sas-token.account": "?sig=x", "adls.sas-token.onelake": "sig=x"})
		account, _, _ := strings.Cut(host, ".")
		got := w.files.(store).objects.(*azureObjects).client.URL()
		if want := "https://" + account + "." + want + "/lake?sig=x"; got != want {
			t.Errorf("%s: the client goes to %s, not %s", host, got, want)
		}
	}
}

func TestErrorsOfAzureHoldNoSignature(t *testing.T) {
	err := blobError(fmt.Errorf("reading: %w", &url.Error{Op: "Get", URL: "https://account.blob.core.windows.net/lake/f?sv=1&sig=SECRET", Err: io.ErrUnexpectedEOF}))
	if strings.Contains(err.Error(), "SECRET") || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}
