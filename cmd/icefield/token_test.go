package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/icefield/icefield/policy/authn"
)

// tokenCommand runs "icefield token …" with a standard input.
func tokenCommand(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	root := newRoot()
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&errs)
	root.SetArgs(append([]string{"token"}, args...))
	if err := root.ExecuteContext(context.Background()); err != nil {
		return 1, out.String(), errs.String() + err.Error()
	}
	return 0, out.String(), errs.String()
}

func hashText(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// readBlock reads the attributes of the block in a text.
func readBlock(t *testing.T, text string) map[string]string {
	t.Helper()
	file, diags := hclparse.NewParser().ParseHCL([]byte(text), "block.hcl")
	require.False(t, diags.HasErrors(), diags)
	found := map[string]string{}
	block := file.Body.(*hclsyntax.Body).Blocks[0].Body.Blocks[0]
	for name, attr := range block.Body.Attributes {
		value, diags := attr.Expr.Value(nil)
		require.False(t, diags.HasErrors(), diags)
		if value.Type() == cty.String {
			found[name] = value.AsString()
			continue
		}
		var all []string
		for _, one := range value.AsValueSlice() {
			all = append(all, one.AsString())
		}
		found[name] = strings.Join(all, ",")
	}
	return found
}

func TestTokenHashReadsTheKeyWhereNobodySeesIt(t *testing.T) {
	const key = "a-key-that-was-made-elsewhere"
	for _, stdin := range []string{key, key + "\n", key + "\r\n"} {
		code, out, _ := tokenCommand(stdin, "hash", "--name", "etl", "--tenant", "globex", "--role", "writer", "--role", `odd "role" ${x} %{y} \`)
		require.Zero(t, code)
		require.True(t, strings.HasPrefix(out, hashText(key)+"\n"))
		require.Contains(t, out, `api_key "etl" {`)
		require.NotContains(t, out, key)
		require.Equal(t, map[string]string{"tenant": "globex", "roles": `writer,odd "role" ${x} %{y} \`, "hash": hashText(key)}, readBlock(t, strings.SplitN(out, "\n\n", 2)[1]))
	}
	t.Setenv("SOME_KEY", key)
	code, out, _ := tokenCommand("", "hash", "--env", "SOME_KEY", "--tenant", "acme", "--output", "json")
	require.Zero(t, code)
	var report keyReport
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, hashText(key), report.Hash)
	require.Empty(t, report.Key)

	for name, args := range map[string][]string{"as an argument": {"hash", key}, "a variable that is not set": {"hash", "--tenant", "acme", "--env", "NO_SUCH_VARIABLE"},
		"nothing": {"hash", "--tenant", "acme"}, "a name that is none": {"hash", "--tenant", "acme", "--name", "a/b"}, "nobody's": {"hash"}} {
		code, out, errs := tokenCommand("", args...)
		require.Equal(t, 1, code, name)
		require.Empty(t, out, name)
		require.NotContains(t, errs, key, name)
	}
	for _, short := range []string{"too short", strings.Repeat("k", 5000)} {
		code, _, errs := tokenCommand(short, "hash", "--tenant", "acme")
		require.Equal(t, 1, code)
		require.Contains(t, errs, "an API key has 16 to 1024 characters")
		require.NotContains(t, errs, short)
	}
}

func TestTokenMintMakesAKeyThatTheServerTakes(t *testing.T) {
	seen := map[string]bool{}
	for range 20 {
		code, out, _ := tokenCommand("", "mint", "--name", "etl", "--operator", "--output", "json")
		require.Zero(t, code)
		var report keyReport
		require.NoError(t, json.Unmarshal([]byte(out), &report))
		require.Regexp(t, regexp.MustCompile(`^icf_etl_[0-9A-Za-z]{43}$`), report.Key)
		require.False(t, seen[report.Key])
		seen[report.Key] = true
		_, err := authn.HashKey(report.Key)
		require.NoError(t, err)
		require.Equal(t, hashText(report.Key), report.Hash)
		require.Contains(t, report.Block, report.Hash)
		require.Contains(t, report.Block, "operator = true")
		require.NotContains(t, report.Block, report.Key)
		require.NotContains(t, report.Block, "tenant")
	}
	code, out, errs := tokenCommand("", "mint")
	require.Equal(t, 1, code, "nobody says whose key it is")
	require.Contains(t, errs, "--tenant NAME, or --operator")
	require.Empty(t, out)
	code, out, _ = tokenCommand("", "mint", "--tenant", "acme")
	require.Zero(t, code)
	require.Equal(t, 1, strings.Count(out, "icf_ci_"))
	require.Contains(t, out, `roles  = ["reader"]`)
	require.Contains(t, out, `hash   = "sha256:`)
}
