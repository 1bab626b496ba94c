package authn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// issuer is an open oidc block.
type issuer struct {
	OIDC
	tenant, roles, name path
	algs                []jose.SignatureAlgorithm
	client              *http.Client
	source              *source
	// jwksURL is where its keys are.
	jwksURL string
	// endpoint is where tokens are to be had; empty without Relay.
	endpoint string
	// grants it has, and how clients may show their secret there; nil: not said.
	grants, methods []string
}

// openIssuer finds an issuer and fetches its keys. The errors name it.
func openIssuer(ctx context.Context, o OIDC, p pace, log *slog.Logger, saw func(outcome string)) (*issuer, error) {
	fail := func(err error) (*issuer, error) {
		return nil, fmt.Errorf("oidc %q: issuer %s: %w", o.Name, o.Issuer, err)
	}
	i := &issuer{OIDC: o, jwksURL: o.JWKSURL}
	if len(i.Algorithms) == 0 {
		i.Algorithms = Algorithms()
	}
	for _, alg := range i.Algorithms {
		i.algs = append(i.algs, jose.SignatureAlgorithm(alg))
	}
	if i.NameClaim == "" {
		i.NameClaim = "sub"
	}
	i.tenant, _ = parsePath(o.TenantClaim) // checked with the configuration
	i.roles, _ = parsePath(o.RolesClaim)
	i.name, _ = parsePath(i.NameClaim)
	var err error
	if i.client, err = newClient(o.CAFile); err != nil {
		return fail(err)
	}
	if o.JWKSURL == "" || o.Relay {
		if err := i.discover(ctx); err != nil {
			return fail(err)
		}
	}
	i.source = &source{pace: p.refreshing(o.KeyRefresh), log: log.With("oidc", o.Name), saw: saw, fetch: func(ctx context.Context) ([]*publicKey, error) {
		return fetchKeys(ctx, i.client, i.jwksURL)
	}}
	if err := openSource(ctx, i.source); err != nil {
		return fail(fmt.Errorf("its keys: %w", err))
	}
	return i, nil
}

// discover reads where keys and tokens are.
func (i *issuer) discover(ctx context.Context) error {
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.Issuer)
	if err != nil {
		return discoveryError(err)
	}
	var document struct {
		JWKS     string   `json:"jwks_uri"`
		Endpoint string   `json:"token_endpoint"`
		Grants   []string `json:"grant_types_supported"`
		Methods  []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := provider.Claims(&document); err != nil {
		return fmt.Errorf("its discovery document is not one: %w", err)
	}
	if i.jwksURL == "" {
		i.jwksURL = document.JWKS
	}
	if err := i.checkEndpoint("jwks_uri", i.jwksURL); err != nil {
		return err
	}
	if !i.Relay {
		return nil
	}
	i.endpoint, i.grants, i.methods = document.Endpoint, document.Grants, document.Methods
	return i.checkEndpoint("token_endpoint", i.endpoint)
}

// checkEndpoint checks a URL out of a discovery document. One on this machine is
// believed from an issuer on this machine only.
func (i *issuer) checkEndpoint(name, at string) error {
	if at == "" {
		return fmt.Errorf("its discovery document has no %s", name)
	}
	err := checkURL(at)
	if err == nil && strings.HasPrefix(at, "http:") && strings.HasPrefix(i.Issuer, "https:") {
		err = errors.New("it must begin with https://, as the issuer does")
	}
	if err != nil {
		return fmt.Errorf("its %s %s: %w", name, shown(at), err)
	}
	return nil
}

func discoveryError(err error) error {
	var mismatch *oidc.IssuerMismatchError
	var network *url.Error
	switch {
	case errors.As(err, &mismatch):
		return fmt.Errorf("the server there says that it is the issuer %q; write the issuer exactly so, if that is the one", clip(mismatch.Discovered))
	case errors.As(err, &network):
		return fmt.Errorf("it cannot be reached: %w", network)
	}
	return fmt.Errorf("its discovery document cannot be read: %s", clip(err.Error()))
}

// clip keeps the pages that proxies answer with out of messages.
func clip(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return strings.ToValidUTF8(s, "")
}

// grantsKind tells whether the token endpoint has a grant, as far as the issuer
// says.
func (i *issuer) grantsKind(grant string) bool {
	return i.grants == nil || slices.Contains(i.grants, grant)
}

func (i *issuer) close() {
	i.source.close()
	i.client.CloseIdleConnections()
}
