package sign

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

const (
	endpoint = "https://store.example:9000"
	secret   = "the-mounts-own-secret"
	inTable  = endpoint + "/lake/wh/t1/"
)

// registry is a backend with tables, by name.
type registry struct {
	mounts.Unsupported
	tables map[string]string // locations
	loads  int
	asked  []mounts.Request
}

func (r *registry) backend() mounts.Backend {
	return mounts.Dispatch(func(_ context.Context, req mounts.Request) (mounts.Response, error) {
		r.asked = append(r.asked, req)
		switch req.(type) {
		case *mounts.LoadTableRequest, *mounts.CreateTableRequest, *mounts.RegisterTableRequest:
			r.loads++
			location, ok := r.tables[req.Object().Name]
			if !ok {
				return nil, &mounts.Error{Kind: mounts.NoSuchTable, Op: req.Op(), Ident: req.Object()}
			}
			doc, _ := json.Marshal(map[string]any{"format-version": 2, "location": location})
			return &mounts.Table{Metadata: doc, MetadataLocation: location + "/metadata/1.json", ETag: fmt.Sprintf("%q", location),
				Config: map[string]string{"s3.endpoint": endpoint}}, nil
		}
		return nil, mounts.NotSupported(req)
	}, r)
}

func (*registry) Capabilities() capabilities.Set {
	return capabilities.Of(capabilities.LoadTable, capabilities.CreateTable)
}

func storage() map[string]string {
	return map[string]string{"s3.endpoint": endpoint, "s3.region": "eu-central-1", "s3.access-key-id": "KEYID", "s3.secret-access-key": secret}
}

var morning = time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)

func signed1(t testing.TB, change ...func(*Options)) (mounts.Backend, *registry) {
	t.Helper()
	r := &registry{tables: map[string]string{"t1": "s3://lake/wh/t1", "t1x": "s3://lake/wh/t1x", "out": "s3://lake/elsewhere/t", "other": "s3://other/wh/t1", "local": "file:///wh/t1"}}
	opt := Options{Warehouse: "s3://lake/wh", Storage: storage(), ChecksBodies: true, Now: func() time.Time { return morning }}
	for _, c := range change {
		c(&opt)
	}
	b, err := Around(r.backend(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return b, r
}

func caller(access mounts.StorageAccess) context.Context {
	return mounts.WithCaller(context.Background(), mounts.Caller{Principal: "p", Storage: access})
}

func ident(name string) mounts.Identifier {
	return mounts.Identifier{Namespace: mounts.Namespace{"a"}, Name: name}
}

// ask is a request to sign with so many names and values of headers.
func ask(method, uri string, headers ...string) string {
	return askBody(method, uri, nil, headers...)
}

func askBody(method, uri string, body *string, headers ...string) string {
	header := map[string][]string{}
	for i := 0; i+1 < len(headers); i += 2 {
		header[headers[i]] = []string{headers[i+1]}
	}
	request := map[string]any{"region": "eu-central-1", "method": method, "uri": uri, "headers": header, "provider": nil, "properties": map[string]string{}}
	if body != nil {
		request["body"] = *body
	}
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func signFor(b mounts.Backend, access mounts.StorageAccess, table, body string) (*mounts.Document, error) {
	return b.SignRequest(caller(access), &mounts.SignStorageRequest{Table: ident(table), Body: json.RawMessage(body), State: "whatever"})
}
