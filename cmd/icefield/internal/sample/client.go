package sample

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Catalog is a catalog that was connected to. It is safe for concurrent use.
type Catalog struct {
	base   string
	client *http.Client
}

const maxAnswer = 64 << 20

// Connect asks the catalog at a URL how it wants to be addressed. An empty
// warehouse means the catalog's own.
func Connect(ctx context.Context, address, warehouse string) (*Catalog, error) {
	c := &Catalog{base: strings.TrimRight(address, "/") + "/v1", client: &http.Client{}}
	query := url.Values{}
	if warehouse != "" {
		query.Set("warehouse", warehouse)
	}
	var config struct {
		Defaults, Overrides map[string]string
	}
	if err := c.call(ctx, http.MethodGet, "/config?"+query.Encode(), nil, &config); err != nil {
		return nil, err
	}
	prefix := config.Overrides["prefix"]
	if prefix == "" {
		prefix = config.Defaults["prefix"]
	}
	if prefix != "" {
		c.base += "/" + url.PathEscape(prefix)
	}
	return c, nil
}

// CreateNamespace creates a namespace; the levels above it must exist.
func (c *Catalog) CreateNamespace(ctx context.Context, levels ...string) error {
	body := map[string]any{"namespace": levels, "properties": map[string]string{}}
	return c.call(ctx, http.MethodPost, "/namespaces", body, nil)
}

// Node is a namespace with what lies in it.
type Node struct {
	Name       string   `json:"name"`
	Namespaces []Node   `json:"namespaces"`
	Tables     []string `json:"tables"`
}

const maxDepth = 16

// Tree lists everything that the catalog holds. The root has no name.
func (c *Catalog) Tree(ctx context.Context) (Node, error) { return c.node(ctx, nil) }

func (c *Catalog) node(ctx context.Context, path []string) (Node, error) {
	node := Node{Namespaces: []Node{}, Tables: []string{}}
	if len(path) > maxDepth {
		return node, fmt.Errorf("the namespace %s lies deeper than %d levels", strings.Join(path, "."), maxDepth)
	}
	query := ""
	if len(path) > 0 {
		node.Name = path[len(path)-1]
		query = "?parent=" + url.QueryEscape(strings.Join(path, "\x1f"))
		var tables struct {
			Identifiers []struct{ Name string }
		}
		if err := c.call(ctx, http.MethodGet, namespacePath(path)+"/tables", nil, &tables); err != nil {
			return node, err
		}
		for _, table := range tables.Identifiers {
			node.Tables = append(node.Tables, table.Name)
		}
	}
	var children struct{ Namespaces [][]string }
	if err := c.call(ctx, http.MethodGet, "/namespaces"+query, nil, &children); err != nil {
		return node, err
	}
	for _, child := range children.Namespaces {
		if len(child) != len(path)+1 {
			return node, fmt.Errorf("the catalog lists %q as a child of %q", child, path)
		}
		below, err := c.node(ctx, child)
		if err != nil {
			return node, err
		}
		node.Namespaces = append(node.Namespaces, below)
	}
	return node, nil
}

func namespacePath(levels []string) string {
	return "/namespaces/" + url.PathEscape(strings.Join(levels, "\x1f"))
}

// call sends one request and decodes its answer into out, unless that is nil.
func (c *Catalog) call(ctx context.Context, verb, path string, body, out any) error {
	var payload io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		payload = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, verb, c.base+path, payload)
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s %s: %w", verb, path, err)
	case len(text) > maxAnswer:
		return fmt.Errorf("%s %s: the answer is longer than %d bytes", verb, path, maxAnswer)
	case resp.StatusCode >= 300:
		return answerError(verb, path, resp.StatusCode, text)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s %s: the answer is not the catalog protocol: %w", verb, path, err)
	}
	return nil
}

// Error is what a catalog answered instead of doing what it was asked.
type Error struct {
	Status        int
	Type, Message string
	verb, path    string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s: %d %s: %s", e.verb, e.path, e.Status, e.Type, e.Message)
}

func answerError(verb, path string, status int, text []byte) error {
	var body struct {
		Error struct{ Message, Type string }
	}
	e := &Error{Status: status, verb: verb, path: path}
	if err := json.Unmarshal(text, &body); err != nil {
		e.Message = "the answer is not the catalog protocol"
		return e
	}
	e.Type, e.Message = body.Error.Type, body.Error.Message
	return e
}
