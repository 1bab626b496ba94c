package remote

import (
	"encoding/json"
	"time"

	"github.com/icefield/icefield/capabilities"
)

// How remotes word their errors (wire 1.4, 2.12, 2.14, 5.1).
func errorHabits() []Switch {
	untyped := gaps("the remote does not say what is absent or what kind of 400 it means", "rename/missing destination namespace", "register/missing metadata",
		"views/rename refused", "views/replace dialects", "views/register missing metadata", "contract/messages of refusals",
		"contract/messages between tables and views")
	unclear := gaps("the remote does not say which of two things is absent", "rename/missing destination namespace", "views/rename refused",
		"contract/messages of refusals", "contract/messages between tables and views")
	return []Switch{
		{Name: "unity's errors", Why: "BaseException for everything; wire 2.12", Set: func(q *Quirks) { q.Errors = UnityErrors }, Gaps: untyped},
		{Name: "polaris' errors", Why: "types of its own; wire 5.1", Set: func(q *Quirks) { q.Errors = PolarisErrors }, Gaps: unclear},
		{Name: "glue's errors", Why: "EntityNotFoundException; wire 5.1", Set: func(q *Quirks) { q.Errors = GlueErrors }, Gaps: unclear},
		{Name: "java's class names", Why: "full class names as types; wire 5.1", Set: func(q *Quirks) { q.Errors = JavaErrors }},
		{Name: "stack traces", Why: "stack beside the message; wire 5.1", Set: func(q *Quirks) { q.Errors = StackErrors }},
		{Name: "bare errors", Why: "no type, no code; wire 2.14", Set: func(q *Quirks) { q.Errors = BareErrors }, Gaps: untyped},
		{Name: "412 for a failed requirement", Why: "wire 2.14, 5.3", Set: func(q *Quirks) { q.ConflictStatus = 412 }},
		{Name: "422 for a failed requirement", Why: "wire 5.3", Set: func(q *Quirks) { q.ConflictStatus = 422 }},
		{Name: "400 for a failed requirement", Why: "wire 5.3", Set: func(q *Quirks) { q.ConflictStatus = 400 }},
	}
}

// What remotes cannot do, and how they answer changes (wire 1.1, 2.13, 2.14).
func writeHabits() []Switch {
	lacks := func(ops ...capabilities.Op) func(*Quirks) {
		return func(q *Quirks) { q.Lacks = capabilities.Of(ops...) }
	}
	views := []capabilities.Op{capabilities.ListViews, capabilities.LoadView, capabilities.ViewExists, capabilities.CreateView, capabilities.RegisterView,
		capabilities.ReplaceView, capabilities.RenameView, capabilities.DropView}
	return []Switch{
		{Name: "201 when something was made", Why: "wire 2.14", Set: func(q *Quirks) { q.Created = true }},
		{Name: "200 with a body when nothing is returned", Why: "wire 2.14", Set: func(q *Quirks) { q.Bodies = true }},
		{Name: "no transactions", Why: "Glue, Unity; wire 5.1", Set: lacks(capabilities.CommitTransaction),
			Gaps: gaps("a transaction of one table is sent as its commit", "contract/capabilities are true")},
		{Name: "no views", Why: "Glue, S3 Tables; wire 2.13", Set: lacks(views...)},
		{Name: "no renames", Why: "wire 2.13", Set: lacks(capabilities.RenameTable, capabilities.RenameView)},
		{Name: "nothing newer than 1.5", Why: "catalogs before register-view and unregister; wire 1.1", Set: lacks(capabilities.RegisterView, capabilities.UnregisterTable)},
		{Name: "no HEAD in the list", Why: "wire 1.2", Set: lacks(capabilities.NamespaceExists, capabilities.TableExists, capabilities.ViewExists)},
		{Name: "HEAD in the list, 405", Why: "wire 2.14", Set: func(q *Quirks) { q.NoHEAD = true }},
		{Name: "HEAD in the list, 404 without the route", Why: "profile no_head; wire 5.5", Set: func(q *Quirks) { q.HEADStatus = 404 }},
		{Name: "HEAD in the list, 501", Why: "wire 5.3", Set: func(q *Quirks) { q.HEADStatus = 501 }},
		{Name: "HEAD answers 200", Why: "wire 2.14", Set: func(q *Quirks) { q.HEADOk = 200 }},
	}
}

// How remotes want to be logged in at (wire 1.10, 2.13; design 5).
func loginHabits() []Switch {
	oauth := func(o OAuth) func(*Quirks) {
		return func(q *Quirks) {
			used := o
			used.ClientID, used.ClientSecret = TestClient, TestSecret
			q.OAuth = &used
		}
	}
	return []Switch{
		{Name: "bearer", Why: "R2, Supabase, Dremio; wire 2.13", Set: func(q *Quirks) { q.Bearer = TestToken }},
		{Name: "oauth2", Why: "Polaris; wire 1.10", Set: oauth(OAuth{Scope: "PRINCIPAL_ROLE:ALL", ExpiresIn: 3600})},
		{Name: "oauth2 by form only", Why: "wire 1.10", Set: oauth(OAuth{FormOnly: true, ExpiresIn: 3600})},
		{Name: "oauth2 by Basic only", Why: "many identity providers; wire 1.10", Set: oauth(OAuth{BasicOnly: true, ExpiresIn: 3600})},
		{Name: "oauth2 without expires_in", Why: "wire 1.10", Set: oauth(OAuth{})},
		{Name: "oauth2 with expires_in as text", Why: "wire 1.10", Set: oauth(OAuth{Lifetime: json.RawMessage(`"3600"`)})},
		{Name: "oauth2 with expires_in for ever", Why: "wire 1.10", Set: oauth(OAuth{Lifetime: json.RawMessage(`9223372036854775807`)})},
		{Name: "oauth2 with expires_in zero", Why: "wire 1.10", Set: oauth(OAuth{Lifetime: json.RawMessage(`0`)})},
		{Name: "oauth2 with expires_in null", Why: "wire 1.10", Set: oauth(OAuth{Lifetime: json.RawMessage(`null`)})},
		{Name: "oauth2 token type in capitals", Why: "wire 1.10", Set: oauth(OAuth{Type: "BEARER", ExpiresIn: 3600})},
		{Name: "oauth2 without a token type", Why: "wire 1.10", Set: oauth(OAuth{Type: "-", ExpiresIn: 3600})},
		{Name: "oauth2 with members nobody knows", Why: "Keycloak; wire 1.10", Set: oauth(OAuth{Bare: true, ExpiresIn: 3600})},
		{Name: "oauth2 with a refresh token", Why: "wire 1.10", Set: oauth(OAuth{Refresh: true, ExpiresIn: 3600})},
		{Name: "oauth2 with token exchange", Why: "wire 1.10", Set: oauth(OAuth{Exchange: true, ExpiresIn: 3600})},
		{Name: "oauth2 token that ends, 401", Why: "tokens end unannounced; wire 5.3", Set: oauth(OAuth{Uses: 5, ExpiresIn: 3600})},
		{Name: "oauth2 token that ends, 419", Why: "the spec's status; wire 5.3", Set: oauth(OAuth{Uses: 5, ExpiresIn: 3600, Expired: 419})},
		{Name: "sigv4", Why: "Glue, S3 Tables; wire 2.13", Set: func(q *Quirks) {
			q.SigV4 = &SigV4{Service: "glue", Region: "eu-central-1", AccessKeyID: TestClient, SecretAccessKey: TestSecret}
			q.Prefix = "catalogs/123456789012:lake"
		}},
		{Name: "sigv4 of an API gateway, with a session", Why: "any service name; design 5", Set: func(q *Quirks) {
			q.SigV4 = &SigV4{Service: "execute-api", Region: "us-gov-west-1", AccessKeyID: TestClient, SecretAccessKey: TestSecret, SessionToken: TestToken}
			q.Prefix = "arn%3Aaws%3As3tables%3Aeu-central-1%3A1%3Abucket%2Flake"
		}},
	}
}

// The logins that switches ask for.
const (
	TestClient = "icefield-client"
	TestSecret = "s3cr3t+/=: ü" // #nosec G101 -- of a login that exists only in tests
	TestToken  = "test-bearer-token"
)

// How remotes hand out access to storage (wire 5.2).
func storageHabits() []Switch {
	vend := func(v Vend) func(*Quirks) {
		return func(q *Quirks) { used := v; used.Lifetime = time.Hour; q.Vend = &used }
	}
	return []Switch{
		{Name: "credentials in config only", Why: "older catalogs; wire R20", Set: vend(Vend{InConfig: true})},
		{Name: "credentials in the list only", Why: "newer catalogs; wire R20", Set: vend(Vend{InList: true})},
		{Name: "credentials in both", Why: "wire R20", Set: vend(Vend{InConfig: true, InList: true, Refresh: "{table}/credentials"})},
		{Name: "credentials unasked", Why: "several servers; wire 1.3", Set: vend(Vend{InConfig: true, InList: true, Unasked: true})},
		{Name: "credentials without the route", Why: "renewed by a load; wire 5.2", Set: vend(Vend{InConfig: true, InList: true, NoRoute: true})},
		{Name: "a signing route with an opaque query", Why: "Nessie; wire 2.13", Set: func(q *Quirks) {
			q.Sign = &Sign{URI: "{url}", Endpoint: "{table}/sign?b=opaque%2Fstate&w=%7B1%7D", Query: "b=opaque%2Fstate&w=%7B1%7D"}
		}},
		{Name: "a signing route of old", Why: "v1/aws/s3/sign; wire 1.8", Set: func(q *Quirks) { q.Sign = &Sign{URI: "{url}/", Endpoint: "v1/aws/s3/sign", Path: "v1/aws/s3/sign"} }},
		{Name: "plans", Why: "wire 1.7", Set: func(q *Quirks) { q.Plans = &Plans{ID: "plan-1"} }},
		{Name: "plans that take time", Why: "wire 1.7", Set: func(q *Quirks) { q.Plans = &Plans{ID: "plan/ü+1?", Polls: 2} }},
	}
}
