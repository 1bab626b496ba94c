package config

import (
	"fmt"
	"regexp"

	"github.com/hashicorp/hcl/v2"

	"github.com/icefield/icefield/mounts/rest"
)

// auth reads how to log in: a block, or token_env, which is short for one.
func (l *loader) auth(r *row, content *hcl.BodyContent) {
	blocks := content.Blocks.OfType("auth")
	short := content.Attributes["token_env"]
	for i := 1; i < len(blocks); i++ {
		l.problem(blocks[i].DefRange, "Duplicate block", fmt.Sprintf("A mount logs in one way, and there is an auth block already at %s. Leave one out.", place(blocks[0].DefRange)))
	}
	if short != nil && len(blocks) > 0 {
		l.problem(short.NameRange, "Two ways to log in", fmt.Sprintf(`token_env is short for auth "bearer", and there is an auth block at %s. Leave one out.`, place(blocks[0].DefRange)))
	}
	if short != nil {
		r.Rest.Auth = Auth{Kind: AuthBearer, TokenEnv: l.secretEnv(short)}
	}
	for _, block := range blocks {
		r.Rest.Auth = l.authBlock(block, r.Rest)
	}
	if p, _ := rest.ProfileNamed(r.Rest.Profile); p.Login.Kind == AuthSigV4 && short == nil && len(blocks) == 0 {
		l.warn(content.Attributes["profile"], "No login", fmt.Sprintf(`Catalogs of the profile %q take signed requests only, and without an auth block nothing is signed. Write auth "sigv4" {}, or auth "none" {} if something on the way signs.`, p.Name))
	}
}

func (l *loader) authBlock(block *hcl.Block, remote *Rest) Auth {
	auth := Auth{Kind: block.Labels[0]}
	switch auth.Kind {
	case AuthNone, AuthPassthrough:
		l.content(block.Body, shape{})
	case AuthBearer:
		a := l.content(block.Body, shape{attrs: []string{"token_env", "token_file"}}).Attributes
		auth.TokenEnv, auth.TokenFile = l.secretOf(block, a, "token", "the token", true)
	case AuthOAuth2:
		a := l.content(block.Body, oauth2Shape).Attributes
		l.tokenEndpoint(&auth, a)
		if p, _ := rest.ProfileNamed(remote.Profile); a["token_url"] == nil && p.Login.NoTokenRoute {
			l.missing(block, "token_url", fmt.Sprintf(`Catalogs of the profile %q hand out no tokens themselves. Say who does: token_url = "https://idp.example.com/token".`, remote.Profile))
		}
		auth.ClientID = l.needed(block, a["client_id"], "client_id", "Say who asks for a token: client_id = \"…\".")
		auth.ClientSecretEnv, auth.ClientSecretFile = l.secretOf(block, a, "client_secret", "the client's secret", true)
		auth.Refresh = l.boolean(a["refresh"], false)
	case AuthExchange:
		a := l.content(block.Body, exchangeShape).Attributes
		l.needed(block, a["token_url"], "token_url", `Say where a caller's token is exchanged for one of the remote's: token_url = "https://idp.example.com/token".`)
		l.tokenEndpoint(&auth, a)
		auth.ClientID = l.text(a["client_id"], "")
		auth.ClientSecretEnv, auth.ClientSecretFile = l.secretOf(block, a, "client_secret", "the client's secret", auth.ClientID != "")
		if a["client_id"] == nil && (a["client_secret_env"] != nil || a["client_secret_file"] != nil) {
			l.missing(block, "client_id", "There is a client secret, so say whose it is: client_id = \"…\".")
		}
	case AuthSigV4:
		l.sigv4(&auth, block, remote)
	default:
		advice := "Known kinds: " + orList("", AuthKinds()) + "."
		if near := nearest(auth.Kind, AuthKinds()); near != "" {
			advice = fmt.Sprintf("Did you mean %q?", near)
		}
		l.problem(block.LabelRanges[0], "Unknown kind of auth", "There is no auth of this kind. "+advice)
	}
	return auth
}

var (
	oauth2Shape   = shape{attrs: []string{"token_url", "client_id", "client_secret_env", "client_secret_file", "scope", "audience", "resource", "basic", "refresh"}}
	exchangeShape = shape{attrs: []string{"token_url", "client_id", "client_secret_env", "client_secret_file", "scope", "audience", "resource", "basic"}}
	sigv4Shape    = shape{attrs: []string{"service", "region", "role_arn", "external_id_env", "access_key_id_env", "secret_access_key_env", "session_token_env", "sts_endpoint"}}
)

// tokenEndpoint reads what is asked for and where.
func (l *loader) tokenEndpoint(auth *Auth, a hcl.Attributes) {
	auth.TokenURL = l.endpoint(a["token_url"], l.text(a["token_url"], ""))
	auth.Scope, auth.Audience, auth.Resource = l.text(a["scope"], ""), l.text(a["audience"], ""), l.text(a["resource"], "")
	auth.Basic = l.boolean(a["basic"], false)
	if clearText(auth.TokenURL) {
		l.warn(a["token_url"], "Credentials in clear text", "The login goes over http, so everybody on the way can read it. Use https if the token endpoint has it.")
	}
}

// secretOf reads a secret that is named by NAME_env or by NAME_file.
func (l *loader) secretOf(block *hcl.Block, a hcl.Attributes, name, what string, needed bool) (variable, path string) {
	env, file := a[name+"_env"], a[name+"_file"]
	switch {
	case env == nil && file == nil && needed:
		l.missing(block, name, fmt.Sprintf(`Say where %s is: %s_env = "NAME" of an environment variable, or %s_file = "path".`, what, name, name))
	case env != nil && file != nil:
		l.problem(file.NameRange, "Two secrets", fmt.Sprintf("%s comes from %s_env or from %s_file, not from both. Leave one out.", capital(what), name, name))
	}
	return l.secretEnv(env), l.secretFile(file)
}

var (
	roleARN = regexp.MustCompile(`^arn:[a-z0-9-]+:iam::[0-9]{12}:role/[\w+=,.@/-]+$`)
	awsHost = regexp.MustCompile(`^https?://[^/]*\.(amazonaws\.com(\.cn)?|api\.aws)(:[0-9]+)?(/|$)`)
	awsName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
)

// sigv4 reads how requests are signed. Without keys here they come from where
// every AWS tool looks for them.
func (l *loader) sigv4(auth *Auth, block *hcl.Block, remote *Rest) {
	a := l.content(block.Body, sigv4Shape).Attributes
	auth.Service, auth.Region = l.text(a["service"], ""), l.text(a["region"], "")
	for name, value := range map[string]string{"service": auth.Service, "region": auth.Region} {
		if value != "" && !awsName.MatchString(value) {
			l.refuse(a[name], "Invalid "+name, fmt.Sprintf("%s has lower-case letters, digits and dashes.", capital(name)))
		}
	}
	if p, _ := rest.ProfileNamed(remote.Profile); a["service"] == nil && p.Login.Service == "" && !awsHost.MatchString(remote.URL) {
		l.missing(block, "service", `Neither the host nor the profile says which service requests are signed for. Say it: service = "glue", "s3tables", "execute-api" or what the remote's documentation says.`)
	}
	auth.RoleARN = l.text(a["role_arn"], "")
	if auth.RoleARN != "" && !roleARN.MatchString(auth.RoleARN) {
		l.refuse(a["role_arn"], "Invalid role", `Write the ARN of a role: role_arn = "arn:aws:iam::123456789012:role/lake".`)
	}
	auth.ExternalIDEnv = l.secretEnv(a["external_id_env"])
	auth.AccessKeyIDEnv = l.secretEnv(a["access_key_id_env"])
	auth.SecretAccessKeyEnv = l.secretEnv(a["secret_access_key_env"])
	auth.SessionTokenEnv = l.secretEnv(a["session_token_env"])
	auth.STSEndpoint = l.endpoint(a["sts_endpoint"], l.text(a["sts_endpoint"], ""))
	l.keysTogether(a)
	together := func(key, other, why string) {
		if a[key] != nil && a[other] == nil {
			l.problem(a[key].NameRange, "Missing "+other, why)
		}
	}
	together("external_id_env", "role_arn", "An external id is for assuming a role. Name the role: role_arn = \"…\", or leave the id out.")
	together("sts_endpoint", "role_arn", "The endpoint is asked for a role. Name the role: role_arn = \"…\", or leave the endpoint out.")
}
