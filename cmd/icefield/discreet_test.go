package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestTheLogHoldsNoLoginThatAStoreRepeats(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out).With("mount", "prod").WithGroup("g")
	log.Error("it failed", "reason", errors.New(`googleapi: got 403: Authorization: Bearer ya29.abcdefghijkl X-Amz-Security-Token: FwoGZXIvYXdz/abc=`),
		"text", `{"authorization":"Basic aWNlZmllbGQ6c2VjcmV0","x-api-key":"0123456789abcdef"}`, "signed", "AWS4-HMAC-SHA256 Credential=AKIA1234567890/x, Signature=y",
		"took", time.Second, "plain", "the bearer of bad news", "n", 1)
	for _, secret := range []string{"ya29", "FwoGZ", "aWNlZ", "01234567", "AKIA"} {
		assert.NotContains(t, out.String(), secret)
	}
	for _, rest := range []string{"googleapi: got 403", "Bearer <redacted>", "the bearer of bad news", `"took_ms":1000`, `"mount":"prod"`, "Signature=y"} {
		assert.Contains(t, unescaped(out.String()), rest)
	}
}

// unescaped is JSON's spelling of < and >, undone.
func unescaped(s string) string {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(s)
}
