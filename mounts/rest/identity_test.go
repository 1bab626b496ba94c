package rest

import (
	"net/http"
	"testing"

	"github.com/icefield/icefield/mounts"
)

func TestEveryCallOfARemoteNotesAsWhomItWasAndWhatCameBack(t *testing.T) {
	remote, idp := newBearerRemote(t, func(token string) int {
		if token == "bad" {
			return http.StatusForbidden
		}
		return http.StatusOK
	}), NewIdP(t)
	keys := SigV4Config{Service: "glue", Region: "eu-central-1", AccessKeyID: "KEYID", SecretAccessKey: "secret"}
	for want, login := range map[mounts.RemoteCall]struct {
		auth  Auth
		token string
	}{
		{Identity: "none", Status: 200}:        {NoAuth(), "alice"},
		{Identity: "bearer", Status: 200}:      {Bearer(secretIs("s3cret")), "alice"},
		{Identity: "passthrough", Status: 200}: {Passthrough(), "alice"},
		{Identity: "passthrough", Status: 403}: {Passthrough(), "bad"},
		{Identity: "icefield", Status: 200}:    {OAuth2(OAuth2Config{TokenURL: idp.URL(), ClientID: "icefield", ClientSecret: secretIs("s3cret")}), "alice"},
		{Identity: "exchange", Status: 200}:    {Exchange(ExchangeConfig{TokenURL: idp.URL()}), "alice"},
		{Identity: "KEYID", Status: 200}:       {SigV4(keys), "alice"},
	} {
		k, ctx := at(t, remote.URL, login.auth), as(login.token)
		if _, err := k.do(ctx, configCall(remote.URL)); err != nil {
			t.Errorf("%+v: %v", want, err)
		}
		if got := mounts.CallerFrom(ctx).Scope.Remote(); got != want {
			t.Errorf("noted %+v, want %+v", got, want)
		}
	}
}
