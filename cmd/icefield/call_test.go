package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// createOrders is the body that creates a table called orders.
const createOrders = `{"name":"orders","schema":{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","type":"long","required":false}]}}`

// call asks as whoever has a key, or as nobody, and returns what came back.
func call(t testing.TB, client *http.Client, method, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		req.Header.Set("X-Api-Key", key)
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(text)
}

// componentIn is what an answer of /ready says of a component.
func componentIn(t testing.TB, ready, name string) (state, reason string) {
	t.Helper()
	var body struct {
		Components []struct{ Name, State, Reason string }
	}
	require.NoError(t, json.Unmarshal([]byte(ready), &body), ready)
	for _, c := range body.Components {
		if c.Name == name {
			return c.State, c.Reason
		}
	}
	require.Fail(t, "no component "+name, ready)
	return "", ""
}
