package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
)

var (
	vendAWSShape = shape{attrs: []string{"role_arn", "external_id_env", "duration", "region", "sts_endpoint", "ca_file",
		"access_key_id_env", "secret_access_key_env", "session_token_env", "kms_keys", "session_tags"}}
	vendGCSShape   = shape{attrs: []string{"credentials_file", "project_id", "sts_endpoint"}}
	vendAzureShape = shape{attrs: []string{"tenant_id", "client_id", "client_secret_env", "duration"}}
)

// schemesOf are the warehouses that a kind of vending has credentials for.
func schemesOf(kind string) []string {
	switch kind {
	case VendAWS:
		return []string{"s3", "s3a", "s3n"}
	case VendGCS:
		return []string{"gs"}
	}
	return []string{"abfs", "abfss", "wasb", "wasbs"}
}

func schemeOf(location string) string {
	scheme, _, _ := strings.Cut(location, "://")
	return strings.ToLower(scheme)
}

// vending reads how storage credentials for single tables are made; nil means not
// at all.
func (l *loader) vending(content *hcl.BodyContent, n *Native) {
	blocks := content.Blocks.OfType("vending")
	if len(blocks) == 0 {
		return
	}
	l.once(content, "vending")
	b := blocks[0]
	kind := b.Labels[0]
	if !slices.Contains(VendingKinds(), kind) {
		advice := "Known kinds: " + orList("", VendingKinds()) + "."
		if near := nearest(kind, VendingKinds()); near != "" {
			advice = fmt.Sprintf("Did you mean %q?", near)
		}
		l.problem(b.LabelRanges[0], "Unknown kind of vending", "There are no storage credentials of this kind. "+advice)
		return
	}
	switch scheme := schemeOf(n.Warehouse); {
	case scheme == "file":
		l.problem(b.LabelRanges[0], "Nothing to vend", "The warehouse is a folder, which has no credentials. Leave vending out.")
	case scheme != "" && !slices.Contains(schemesOf(kind), scheme):
		l.problem(b.LabelRanges[0], "Credentials of another store", fmt.Sprintf("The warehouse begins with %s://, and credentials of this kind are for %s://.", scheme, schemesOf(kind)[0]))
	}
	n.Vending = &Vending{Kind: kind, Duration: time.Hour}
	switch kind {
	case VendAWS:
		l.vendAWS(b, n.Vending)
	case VendGCS:
		l.vendGCS(b, n.Vending)
	case VendAzure:
		l.vendAzure(b, n.Vending)
	}
}

// anyRoleARN is a role at a store that speaks the AWS protocol and is another's:
// not each has accounts.
var anyRoleARN = regexp.MustCompile(`^arn:[a-z0-9-]+:[a-z0-9-]*:[a-z0-9-]*:[A-Za-z0-9_-]*:[A-Za-z]+/[\w+=,.@/-]+$`)

var kmsKey = regexp.MustCompile(`^arn:[a-z0-9-]+:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)

func (l *loader) vendAWS(b *hcl.Block, v *Vending) {
	a := l.content(b.Body, vendAWSShape).Attributes
	v.RoleARN = l.needed(b, a["role_arn"], "role_arn", `Say which role can reach the warehouse: role_arn = "arn:aws:iam::123456789012:role/lake".`)
	v.STSEndpoint = l.endpoint(a["sts_endpoint"], l.text(a["sts_endpoint"], ""))
	if v.RoleARN != "" && !roleARN.MatchString(v.RoleARN) && (a["sts_endpoint"] == nil || !anyRoleARN.MatchString(v.RoleARN)) {
		l.refuse(a["role_arn"], "Invalid role", `Write the ARN of a role: role_arn = "arn:aws:iam::123456789012:role/lake".`)
	}
	l.clearExchange(a["sts_endpoint"], v)
	if v.CAFile = l.path(a["ca_file"], l.text(a["ca_file"], "")); v.CAFile != "" {
		sum := sha256.Sum256(l.authorities(a["ca_file"], v.CAFile))
		v.CASum = hex.EncodeToString(sum[:])
		if !strings.HasPrefix(v.STSEndpoint, "https:") {
			l.refuse(a["ca_file"], "Nothing to certify", "The certificates are for an sts_endpoint of your own that is called over https. Leave ca_file out, or name that.")
		}
	}
	l.each(a["kms_keys"], 10, func(at hcl.Range, s string) {
		if !kmsKey.MatchString(s) {
			l.problem(at, "Invalid key", `Write the ARN of the key that the bucket is encrypted with: "arn:aws:kms:eu-central-1:123456789012:key/…".`)
		}
		v.KMSKeys = append(v.KMSKeys, s)
	})
	v.SessionTags = l.boolean(a["session_tags"], false)
	if v.Region = l.text(a["region"], ""); v.Region != "" && !awsName.MatchString(v.Region) {
		l.refuse(a["region"], "Invalid region", "Region has lower-case letters, digits and dashes.")
	}
	v.Duration = l.duration(a["duration"], v.Duration, 15*time.Minute, 12*time.Hour)
	v.ExternalIDEnv = l.secretEnv(a["external_id_env"])
	v.AccessKeyIDEnv, v.SecretAccessKeyEnv = l.secretEnv(a["access_key_id_env"]), l.secretEnv(a["secret_access_key_env"])
	v.SessionTokenEnv = l.secretEnv(a["session_token_env"])
	l.keysTogether(a)
}

// keysTogether reports half an access key.
func (l *loader) keysTogether(a hcl.Attributes) {
	together := func(key, other, why string) {
		if a[key] != nil && a[other] == nil {
			l.problem(a[key].NameRange, "Missing "+other, why)
		}
	}
	together("access_key_id_env", "secret_access_key_env", "An access key has two parts. Name the other one too: secret_access_key_env = \"…\".")
	together("secret_access_key_env", "access_key_id_env", "An access key has two parts. Name the other one too: access_key_id_env = \"…\".")
	together("session_token_env", "access_key_id_env", "A session token belongs to an access key. Name that too: access_key_id_env = \"…\".")
}

// signing reads whether storage requests are signed, and deletions of many too.
func (l *loader) signing(attr, bulk *hcl.Attribute, n *Native) {
	n.Signing, n.BulkDelete = l.boolean(attr, false), l.boolean(bulk, false)
	if n.BulkDelete && !n.Signing {
		l.problem(bulk.NameRange, "Nothing to sign", "signing_bulk_delete is for mounts that sign. Write signing = true, or leave it out.")
	}
	if scheme := schemeOf(n.Warehouse); n.Signing && scheme != "" && !slices.Contains(schemesOf(VendAWS), scheme) {
		l.refuse(attr, "Nothing to sign", "Storage requests are signed for S3, and the warehouse lies elsewhere. Leave signing out.")
	}
}

// relayed reads what access the credentials of a remote give.
func (l *loader) relayed(r *row, attr *hcl.Attribute) {
	remote := r.Rest
	if remote.Auth.PerCaller() || remote.Withhold {
		if attr != nil {
			why := "the remote is called in each caller's name, and decides itself what credentials give"
			if remote.Withhold {
				why = `credentials = "withhold" lets none pass`
			}
			l.problem(attr.NameRange, "Nothing to set", fmt.Sprintf("relayed_access does nothing here: %s. Leave it out.", why))
		}
		return
	}
	remote.RelayedAccess = AccessWrite
	if r.ReadOnly {
		remote.RelayedAccess = AccessRead
	}
	switch access := l.text(attr, remote.RelayedAccess); access {
	case AccessRead, AccessWrite:
		remote.RelayedAccess = access
	default:
		l.refuse(attr, "Unknown access", `relayed_access is "read" or "write": what the storage credentials of the remote let a client do. Who may do less gets none of them.`)
	}
}

func (l *loader) vendGCS(b *hcl.Block, v *Vending) {
	a := l.content(b.Body, vendGCSShape).Attributes
	// What the login's own token has left is how long the credentials live.
	v.Duration = 0
	v.CredentialsFile = l.secretFile(a["credentials_file"])
	v.ProjectID = l.text(a["project_id"], "")
	v.STSEndpoint = l.endpoint(a["sts_endpoint"], l.text(a["sts_endpoint"], ""))
	l.clearExchange(a["sts_endpoint"], v)
}

func (l *loader) vendAzure(b *hcl.Block, v *Vending) {
	a := l.content(b.Body, vendAzureShape).Attributes
	v.Duration = l.duration(a["duration"], v.Duration, 15*time.Minute, 24*time.Hour)
	v.TenantID, v.ClientID = l.text(a["tenant_id"], ""), l.text(a["client_id"], "")
	v.ClientSecretEnv = l.secretEnv(a["client_secret_env"])
	keys := []string{"tenant_id", "client_id", "client_secret_env"}
	for _, key := range keys {
		for _, other := range keys {
			if a[key] != nil && a[other] == nil {
				l.missing(b, other, "A login at Azure has three parts: tenant_id, client_id and client_secret_env. Without any of them it comes from where Azure's tools look for it.")
				return
			}
		}
	}
}

// clearExchange warns of credentials that others can read on the way.
func (l *loader) clearExchange(attr *hcl.Attribute, v *Vending) {
	if clearText(v.STSEndpoint) {
		l.warn(attr, "Credentials in clear text", "Storage credentials come over http, so everybody on the way can read and use them. Use https if the endpoint has it.")
	}
}
