package rest

import (
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestSecretsAreTakenOutAndTheRestStays(t *testing.T) {
	const secret = "S3cr/et+with=odd&ch%rs"
	for text, want := range map[string]string{
		"token " + secret + " is bad":           "token <redacted> is bad",
		"q=" + url.QueryEscape(secret) + "&x=1": "q=<redacted>&x=1",
		"starts " + secret[:14] + "…":           "starts <redacted>…",
		"starts " + secret[:8] + "…":            "starts " + secret[:8] + "…",
		"Table does not exist: shared.orders":   "Table does not exist: shared.orders",
		"":                                      "",
		secret + secret:                         "<redacted><redacted>",
		"one " + secret + ", two " + strings.ToUpper(secret[:4]): "one <redacted>, two S3CR",
	} {
		if got := hidden(text, []string{"", secret}); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	if got := hidden("the pin is 1234, not 123", []string{"1234"}); got != "the pin is <redacted>, not 123" {
		t.Errorf("a short secret: %q", got)
	}
}

func TestAnAddressOfTheRemoteIsHiddenWhole(t *testing.T) {
	hide := []string{"cat.internal:8181", "hunter2"}
	for text, want := range map[string]string{
		"see http://cat.internal:8181/api/hidden?q=1 there": "see <address> there",
		"see <http://cat.internal:8181/api>":                "see <<address>>",
		"at https://other/a/hunter2/b, again":               "at <address> again",
		"cat.internal:8181 failed":                          "<redacted> failed",
		"at s3://lake/hunter2/t":                            "at s3://lake/<redacted>/t",
	} {
		if got := plain(text, hide); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestAnErrorThatIsHushedIsStillItself(t *testing.T) {
	raw := &url.Error{Op: "Get", URL: "https://x/secret-secret", Err: io.ErrUnexpectedEOF}
	err := hush(raw, []string{"secret-secret"})
	var inner *url.Error
	if !errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &inner) || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestAnUnreadableAnswerIsToldByPlaceWithoutItsWords(t *testing.T) {
	var into struct {
		Metadata struct {
			Config map[string]string `json:"config"`
		} `json:"metadata"`
	}
	for body, says := range map[string]string{
		`{"metadata":{"config":7}}`:                      `/metadata/config`,
		`{"metadata":{"config":{"hunter2hunter2":7}}}`:   `"…"`,
		`{"hunter2hunter2":1,"hunter2hunter2":2}`:        `duplicate`,
		`{"metadata":{"config":{"a\"hunter2hunter2":]}}`: `invalid`,
	} {
		err := json.Unmarshal([]byte(body), &into)
		if err == nil {
			t.Fatalf("%s can be read", body)
		}
		if got := unquoted(err).Error(); strings.Contains(got, "hunter2") || !strings.Contains(got, says) {
			t.Errorf("%s: %s (was %v)", body, got, err)
		}
	}
}
