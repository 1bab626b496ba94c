// Package vend hands out storage credentials that are good for one table: an
// exchange with the token service of the store, by a login of the mount's own,
// for a key that reads, or reads and writes, below the table's location and
// nowhere else.
//
//	provider, err := vend.AWS(ctx, vend.AWSOptions{RoleARN: "arn:aws:iam::123456789012:role/lake", Region: "eu-central-1"})
//	backend = vend.Around(registry, vend.Options{Provider: provider, Warehouse: "s3://lake/warehouse"})
//
// In the configuration it is a block of a native mount:
//
//	mount "prod" {
//	  backend            = "native"
//	  owner              = "acme"
//	  catalog_url        = "bolt:///var/lib/icefield/prod.db"
//	  warehouse_location = "s3://lake/warehouse"
//	  vending "aws" {
//	    role_arn        = "arn:aws:iam::123456789012:role/lake"
//	    external_id_env = "LAKE_EXTERNAL_ID"
//	    duration        = "1h"                            # 15m to 12h; at most 1h if the mount's own login is a role
//	    region          = "eu-central-1"
//	    # sts_endpoint, ca_file, access_key_id_env, secret_access_key_env, session_token_env;
//	    # kms_keys = ["arn:aws:kms:…"] if the bucket is encrypted with keys of its own; session_tags = true
//	  }
//	  # or: vending "gcs"   { credentials_file, project_id, sts_endpoint }
//	  # or: vending "azure" { tenant_id, client_id, client_secret_env, duration }
//	}
//
// A load, create or register that asks for vended-credentials, and every call of
// LoadCredentials, is checked in this order: it was asked for; policy lets the
// caller have it (mounts.Caller.Storage, which is also the width); the table's
// location lies strictly inside the mount's warehouse, compared by path segments;
// the registry's pointer leads into the folder metadata of that location, since
// the location stands in a file that whoever has a key to write the table's data
// could write anew (a table that chose another write.metadata.path, or was
// registered from a file elsewhere and not changed since, gets none); the
// provider serves such locations. A load that fails one of these is answered
// as it is, without credentials; LoadCredentials, which asks for nothing else, is
// refused. Once they hold, the exchange has to succeed: one that fails is an
// error, and never an answer that merely lacks credentials.
//
// What goes out, in the table's config and in the one storage credential:
//
//	aws    s3.access-key-id s3.secret-access-key s3.session-token s3.session-token-expires-at-ms
//	       client.region s3.region, and the mount's s3.endpoint and s3.path-style-access
//	gcs    gcs.oauth2.token gcs.oauth2.token-expires-at gcs.project-id
//	azure  adls.sas-token.<account>.dfs.core.windows.net adls.sas-token.<account>
//	       adls.sas-token-expires-at-ms.<account>.dfs.core.windows.net adls.sas-token-expires-at-ms.<account>
//	all    expiration-time
//
// The prefix of the credential is the table's location without a trailing slash:
// clients compare it as text with the location itself and with what lies below.
// The key is narrower than that text: a sibling whose name begins like the
// table's is not covered, nor is it listed. Listing the location therefore needs
// its trailing slash. Whatever a table keeps elsewhere (by write.data.path,
// write.metadata.path or write.object-storage.path that leads out of its
// location, or files of a migrated table) is not covered either: such a table
// needs its location moved, or clients with keys of their own.
//
// Answers with credentials have no ETag and are never "not modified": a client
// would go on with keys that end.
//
// A table is created only once its credentials exist, so that a token service
// that is down leaves no table behind whose creator was told of an error.
// Registering does the same where the metadata file lies where it usually does,
// in the folder metadata of the table; where it does not, or where the key of an
// idempotent request is replayed, a failed exchange after the change says that
// the outcome is unknown.
//
// Credentials are remembered by principal, tenant, location and width until a
// third of their life is left, and are never shared between principals. They are
// in no log, error or metric.
//
// It is not policy: who may have what is decided by the guard around it. It does
// not sign requests (policy/sign), and relayed credentials of remote catalogs are
// not its business (mounts/rest).
//
// Layer: policy, above mounts; it imports no backend.
package vend
