package sample

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answering is a catalog that answers everything but its configuration alike.
func answering(t *testing.T, status int, body string) *Catalog {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/config" {
			fmt.Fprint(w, `{"defaults":{"prefix":"a b"},"overrides":{}}`)
			return
		}
		assert.True(t, strings.HasPrefix(r.URL.EscapedPath(), "/v1/a%20b/"), r.URL.EscapedPath())
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	c, err := Connect(t.Context(), s.URL+"/", "")
	require.NoError(t, err)
	return c
}

func TestRefusalsCarryTheCatalogsOwnWords(t *testing.T) {
	err := answering(t, 409, `{"error":{"message":"taken","type":"AlreadyExistsException","code":409}}`).CreateNamespace(t.Context(), "x")
	var refused *Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, 409, refused.Status)
	assert.Equal(t, "taken", refused.Message)
}

func TestAnswersThatAreNotTheProtocolAreErrors(t *testing.T) {
	for status, body := range map[int]string{200: "<html>", 502: "<html>"} {
		_, err := answering(t, status, body).Tree(t.Context())
		assert.ErrorContains(t, err, "not the catalog protocol")
	}
	// A catalog that lists itself as its own child would be walked for ever.
	_, err := answering(t, 200, `{"namespaces":[["x"]],"identifiers":[]}`).Tree(t.Context())
	assert.ErrorContains(t, err, "as a child of")
}

func TestSampleTablesHaveTheRowsTheyPromise(t *testing.T) {
	for rows, table := range map[int64]Table{6: Orders("a", "b"), 8: Events("a", "b"), 3: Notes("a", "b")} {
		assert.Equal(t, rows, table.Rows.NumRows())
		assert.Equal(t, []string{"a"}, table.Namespace)
		assert.Equal(t, "b", table.Name)
		for i, field := range table.Schema.Fields() {
			assert.Equal(t, field.Name, table.Rows.Schema().Field(i).Name)
		}
	}
}
