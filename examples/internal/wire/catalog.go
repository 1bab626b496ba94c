package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Catalog is one catalog at one base URL. Its methods may be called concurrently.
type Catalog struct {
	base      string
	prefix    string
	separator string
	client    *http.Client
	watch     func(request *http.Request, a *Answer)
}

// New returns the catalog at base; prefix is the path segment after /v1, empty for none.
func New(base, prefix string) *Catalog {
	return &Catalog{
		base: strings.TrimSuffix(base, "/"), prefix: prefix, separator: "\x1f",
		client: &http.Client{
			Timeout:       60 * time.Second,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 8},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// WithSeparator returns the same catalog whose namespace levels are joined by separator instead of 0x1F.
func (c *Catalog) WithSeparator(separator string) *Catalog {
	other := *c
	other.separator = separator
	return &other
}

// Watched returns the same catalog, and calls watch with every answer, before it is looked at. watch may be called
// concurrently.
func (c *Catalog) Watched(watch func(request *http.Request, a *Answer)) *Catalog {
	other := *c
	other.watch = watch
	return &other
}

// Close closes the connections that no request uses. The catalog can go on being used.
func (c *Catalog) Close() { c.client.CloseIdleConnections() }

// Answer is what came back.
type Answer struct {
	Status  int
	Header  http.Header
	Body    []byte
	Type    string // of an error
	Message string // of an error
	Took    time.Duration
}

func (a *Answer) String() string {
	if a == nil {
		return "no answer"
	}
	return fmt.Sprintf("%d in %v: %.500s", a.Status, a.Took, a.Body)
}

// Call sends one request. path stands after the prefix and is sent as it is; body is marshalled unless it is nil. It is an
// error if no answer came or if the answer is not what the protocol allows.
func (c *Catalog) Call(method, path string, body any) (*Answer, error) {
	return c.CallWithKey("", method, path, body)
}

// CallWithKey is Call with an Idempotency-Key; empty for none.
func (c *Catalog) CallWithKey(key, method, path string, body any) (*Answer, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Idempotency-Key", key)
	}
	return c.CallWithHeader(header, method, path, body)
}

// CallWithHeader is Call with more headers.
func (c *Catalog) CallWithHeader(header http.Header, method, path string, body any) (*Answer, error) {
	var payload io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		payload = bytes.NewReader(encoded)
	}
	target := c.base + "/v1"
	if c.prefix != "" {
		target += "/" + url.PathEscape(c.prefix)
	}
	request, err := http.NewRequest(method, target+path, payload)
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	return c.send(request)
}

func (c *Catalog) send(request *http.Request) (*Answer, error) {
	start := time.Now()
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	a := &Answer{Status: response.StatusCode, Header: response.Header}
	a.Body, err = io.ReadAll(response.Body)
	a.Took = time.Since(start)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", request.Method, request.URL, err)
	}
	if c.watch != nil {
		c.watch(request, a)
	}
	if err := a.check(request.Method); err != nil {
		return nil, fmt.Errorf("%s %s: %d %.200s: %w", request.Method, request.URL, a.Status, a.Body, err)
	}
	return a, nil
}

func (a *Answer) check(method string) error {
	switch {
	case method == http.MethodHead || a.Status == http.StatusNoContent || a.Status == http.StatusNotModified:
		if len(a.Body) > 0 {
			return errors.New("the answer has a body")
		}
		return nil
	case !json.Valid(a.Body):
		return errors.New("the body is not JSON")
	case a.Status == http.StatusOK:
		return nil
	case a.Status < 400:
		return errors.New("the status is not one of the protocol")
	}
	var failure struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
			Code    int    `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &failure); err != nil {
		return err
	}
	a.Type, a.Message = failure.Error.Type, failure.Error.Message
	if failure.Error.Code != a.Status || a.Type == "" || a.Message == "" {
		return errors.New("the error lacks its code, type or message")
	}
	return nil
}

// Error is an answer other than 200 and 204 where one of those was needed.
type Error struct{ *Answer }

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Message) }

// do is Call, with every status other than 200 and 204 as an *Error, and the answer decoded into result.
func (c *Catalog) do(method, path string, body, result any) error {
	a, err := c.Call(method, path, body)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK && a.Status != http.StatusNoContent {
		return &Error{a}
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(a.Body, result)
}

// Namespace returns the path of a namespace: "/namespaces/" and its levels as one segment.
func (c *Catalog) Namespace(levels ...string) string {
	return "/namespaces/" + escape(strings.Join(levels, c.separator))
}

// Table returns the path of a table in a namespace.
func (c *Catalog) Table(name string, levels ...string) string {
	return c.Namespace(levels...) + "/tables/" + escape(name)
}

// escape is url.PathEscape that leaves no byte to the taste of the server: a plus sign is escaped as well.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

// Config is the answer to /v1/config.
type Config struct {
	Defaults    map[string]string `json:"defaults"`
	Overrides   map[string]string `json:"overrides"`
	Endpoints   []string          `json:"endpoints"`
	KeyLifetime string            `json:"idempotency-key-lifetime"`
}

// Config asks for the configuration of a warehouse, empty for none.
func (c *Catalog) Config(warehouse string) (*Config, error) {
	path := "/config"
	if warehouse != "" {
		path += "?warehouse=" + url.QueryEscape(warehouse)
	}
	bare := *c
	bare.prefix = ""
	config := &Config{}
	return config, bare.do(http.MethodGet, path, nil, config)
}

// MustCreateNamespace creates a namespace or fails the test.
func (c *Catalog) MustCreateNamespace(t testing.TB, levels ...string) {
	t.Helper()
	body := map[string]any{"namespace": levels, "properties": map[string]string{}}
	if err := c.do(http.MethodPost, "/namespaces", body, nil); err != nil {
		t.Fatalf("create namespace %q: %v", levels, err)
	}
}

// Schema is that of the tables made here: id, region and amount.
func Schema() any {
	column := func(id int, name, kind string) any {
		return map[string]any{"id": id, "name": name, "type": kind, "required": false}
	}
	return map[string]any{"type": "struct", "schema-id": 0, "fields": []any{
		column(1, "id", "long"), column(2, "region", "string"), column(3, "amount", "int"),
	}}
}

// MustCreateTable creates an empty table or fails the test.
func (c *Catalog) MustCreateTable(t testing.TB, name string, levels ...string) {
	t.Helper()
	body := map[string]any{"name": name, "schema": Schema(), "stage-create": false} // Nessie demands the last one
	if err := c.do(http.MethodPost, c.Namespace(levels...)+"/tables", body, nil); err != nil {
		t.Fatalf("create table %q in %q: %v", name, levels, err)
	}
}

// Table as it was loaded.
type Table struct {
	MetadataLocation string `json:"metadata-location"`
	Metadata         struct {
		UUID       string            `json:"table-uuid"`
		Location   string            `json:"location"`
		Properties map[string]string `json:"properties"`
		Log        []any             `json:"metadata-log"`
	} `json:"metadata"`
	Config map[string]string `json:"config"`
}

// LoadTable loads a table; a failure is an *Error if the server answered.
func (c *Catalog) LoadTable(name string, levels ...string) (*Table, error) {
	table := &Table{}
	return table, c.do(http.MethodGet, c.Table(name, levels...), nil, table)
}

// LoadNamespace returns the properties of a namespace; a failure is an *Error if the server answered.
func (c *Catalog) LoadNamespace(levels ...string) (map[string]string, error) {
	var body struct {
		Properties map[string]string `json:"properties"`
	}
	err := c.do(http.MethodGet, c.Namespace(levels...), nil, &body)
	return body.Properties, err
}

// Commit sends requirements and updates; a failure is an *Error if the server answered.
func (c *Catalog) Commit(requirements, updates []any, name string, levels ...string) (*Table, error) {
	body := map[string]any{
		"identifier":   map[string]any{"namespace": levels, "name": name},
		"requirements": requirements, "updates": updates,
	}
	table := &Table{}
	return table, c.do(http.MethodPost, c.Table(name, levels...), body, table)
}
