package authn

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/icefield/icefield/policy"
	"github.com/icefield/icefield/policy/authn/authntest"
)

func BenchmarkAuthenticate(b *testing.B) {
	issuer := authntest.New(b, authntest.Options{})
	keys := []Key{ci(b)}
	for n := range 99 {
		keys = append(keys, Key{Name: fmt.Sprint("key", n), Tenant: "acme", Hash: hashOf(fmt.Sprint("the-key-of-somebody-", n))})
	}
	a := opened(b, Config{OIDC: []OIDC{corp(issuer)}, Keys: keys}, quickPace())
	token := issuer.Mint(with(nil))
	ctx := context.Background()
	run := func(name string, c *policy.Credentials, before func()) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				before()
				if _, err := a.Authenticate(ctx, c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("token/remembered", bearerOf(token), func() {})
	run("token/verified", bearerOf(token), a.tokens.Purge)
	run("key/of100", &policy.Credentials{APIKey: ciKey, Client: policy.Client{Addr: clientAddr}}, func() {})
	b.Run("token/remembered/parallel", func(b *testing.B) {
		_, err := a.Authenticate(ctx, bearerOf(token))
		require.NoError(b, err)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := a.Authenticate(ctx, bearerOf(token)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}
