package rest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/icefield/icefield/capabilities"
	"github.com/icefield/icefield/mounts"
)

// TestATokenThatWasGotIsNotTakenForAChangeThatWasSent gets a token for a change
// whose own connection is then refused.
func TestATokenThatWasGotIsNotTakenForAChangeThatWasSent(t *testing.T) {
	idp := NewIdP(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	k := at(t, gone.URL, OAuth2(OAuth2Config{TokenURL: idp.URL(), ClientID: "a", ClientSecret: secretIs("b")}))
	_, err := k.do(context.Background(), call{op: capabilities.DropTable, kind: kindCatalog, method: http.MethodDelete, url: gone.URL + "/v1/x"})
	if e := mounts.AsError(err); e == nil || e.Kind != mounts.Unavailable || e.OutcomeUnknown || idp.Count() != 1 {
		t.Errorf("%v, outcome unknown %v, after %d token calls", e, e.OutcomeUnknown, idp.Count())
	}
}
