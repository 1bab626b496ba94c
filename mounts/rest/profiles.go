package rest

import "github.com/icefield/icefield/capabilities"

// Profiles returns the presets, one for each vendor that is known, in the order
// of their names in the documentation. Each says what is unusual about it, and
// where that is known from. Where the vendor's own settings (/v1/config) say
// something else, those count.
func Profiles() []Profile {
	return []Profile{polaris(), lakekeeper(), unity(), nessie(), gravitino(), glue(), s3tables(), r2(), bigLake(), snowflake(),
		oneLake(), ossTables(), seaweedFS(), icefield()}
}

// polaris is Apache Polaris.
//
//   - The catalog lies below /api/catalog, its name is both the warehouse and the
//     prefix (Polaris documentation, "Connecting with Spark").
//   - Its own token route wants the scope PRINCIPAL_ROLE:ALL; early releases refuse
//     a token call without it (same page).
//   - Several realms on one host are told apart by the header Polaris-Realm, which
//     the mount sets if it needs to (Polaris configuration, "realm-context").
func polaris() Profile {
	return Profile{Name: "polaris", Path: "/api/catalog", Login: LoginPreset{Kind: "oauth2", Scope: "PRINCIPAL_ROLE:ALL"}}
}

// lakekeeper is Lakekeeper.
//
//   - The catalog lies below /catalog; the warehouse may be "project/warehouse",
//     and the prefix is a UUID (Lakekeeper documentation, "Configuration").
//   - Tokens come from an OpenID provider: there is no token route (same,
//     "Authentication"), so OAuth2 needs a token_url.
func lakekeeper() Profile {
	return Profile{Name: "lakekeeper", Path: "/catalog", Login: LoginPreset{Kind: "oauth2", NoTokenRoute: true}}
}

// unity is Unity Catalog: that of Databricks, and the open one, which has the
// same path.
//
//   - The catalog's name is the warehouse; the prefix is "catalogs/<name>" and holds
//     a slash (Databricks documentation, "Access from Iceberg clients"). The open
//     server publishes its first release's read-only subset at
//     /api/2.1/unity-catalog/iceberg; write that as catalog_url for it.
//   - Schemas are one level (unitycatalog issues 10 and 189).
//   - OAuth2 uses the workspace's /oidc/v1/token with the scope all-apis
//     (Databricks documentation, "OAuth machine-to-machine"); personal tokens go into
//     a bearer block.
//   - A wrong workspace answers with a redirect to a login page, which is a
//     BadGateway and not followed.
//   - The open server's errors have the type BaseException, and it has answered 500
//     for namespaces that do not exist (unitycatalog issues 10, 17 and 50): a 404
//     counts with any type, a 500 stays an error.
//   - Names are stored in lower case, whatever case they are asked for in (Databricks
//     documentation, "Names").
func unity() Profile {
	return Profile{Name: "unity", Path: "/api/2.1/unity-catalog/iceberg-rest", Levels: 1, FoldsCase: true,
		Login: LoginPreset{Kind: "oauth2", Scope: "all-apis", TokenPath: "/oidc/v1/token"}} // #nosec G101 -- the path of Databricks' token route
}

// nessie is Project Nessie.
//
//   - The catalog lies below /iceberg, followed by a branch or tag if it is to be
//     another one than the default ("/iceberg/dev"). The prefix is
//     "<ref>|<warehouse>", percent-encoded once (Nessie documentation, "Iceberg
//     REST").
//   - Tokens come from an OpenID provider; its own token route only says so (same).
//   - Releases up to 0.99 at least publish no endpoint list and have views and HEAD
//     nevertheless (seen).
func nessie() Profile {
	return Profile{Name: "nessie", Path: "/iceberg", Endpoints: withViews(), Login: LoginPreset{Kind: "oauth2", NoTokenRoute: true}}
}

// gravitino is the Iceberg REST server of Apache Gravitino.
//
//   - The catalog lies below /iceberg; with several catalogs, the warehouse chooses
//     one and the prefix is its name (Gravitino documentation, "Iceberg REST catalog
//     service").
//   - Listings have named another namespace than the one asked for (gravitino issues
//     10397 and 10398); what was asked for counts, with any profile.
//   - Tokens come from an OAuth2 provider: there is no token route (same).
func gravitino() Profile {
	return Profile{Name: "gravitino", Path: "/iceberg", Login: LoginPreset{Kind: "oauth2", NoTokenRoute: true}}
}

// glue is the Iceberg endpoint of AWS Glue.
//
//   - https://glue.<region>.amazonaws.com/iceberg, signed for the service glue; the
//     warehouse is the account id, or "<account>:<catalog>" (AWS Glue Developer
//     Guide, "Connecting to the Data Catalog using AWS Glue Iceberg REST endpoint").
//   - Databases are one level (same, "AWS Glue REST APIs for Apache Iceberg
//     specifications": a namespace is a single-level string).
//   - A rate limit comes as 400 with the header X-Amzn-ErrorType (iceberg issue
//     17824).
//   - Names are folded to lower case by the service.
func glue() Profile {
	return Profile{Name: "glue", Path: "/iceberg", Levels: 1, ThrottlesWith400: true, FoldsCase: true, Login: LoginPreset{Kind: "sigv4", Service: "glue"}}
}

// s3tables is Amazon S3 Tables.
//
//   - https://s3tables.<region>.amazonaws.com/iceberg, signed for the service
//     s3tables; the warehouse is the ARN of the table bucket, and so, encoded, is the
//     prefix (Amazon S3 User Guide, "Accessing tables using the Amazon S3 Tables
//     Iceberg REST endpoint").
//   - Namespaces are one level and there are no views (same).
//   - A rate limit may come as a 400, as with other AWS services (iceberg issue
//     17824).
//   - Names are lower case; whether others are refused or folded is up to it, so they
//     count as folded.
func s3tables() Profile {
	return Profile{Name: "s3tables", Path: "/iceberg", Levels: 1, ThrottlesWith400: true, FoldsCase: true, Endpoints: tablesOnly(),
		Login: LoginPreset{Kind: "sigv4", Service: "s3tables"}}
}

// r2 is Cloudflare's R2 Data Catalog.
//
//   - https://catalog.cloudflarestorage.com/<account>/<bucket>; the warehouse is
//     "<account>_<bucket>" and has to be sent (Cloudflare R2 documentation, "R2 Data
//     Catalog").
//   - An API token is the bearer token (same).
func r2() Profile { return Profile{Name: "r2", Login: LoginPreset{Kind: "bearer"}} }

// bigLake is the Iceberg REST catalog of Google's BigLake metastore.
//
//   - https://biglake.googleapis.com/iceberg/v1/restcatalog; the warehouse is
//     "gs://<bucket>" or "bl://…", and the header X-Goog-User-Project names the
//     project that pays: the mount sets it (Google Cloud documentation, "Use the
//     BigLake metastore Iceberg REST catalog").
//   - A Google access token is the bearer token (same). It ends after an hour, so
//     token_file should name a file that is kept fresh.
//   - Namespaces are one level (same, limitations).
//   - `defaults` is missing from its settings, which any profile takes for none, and
//     empty listings come without their list (iceberg issues 2122 and 2148 of the Go,
//     Rust and Python clients).
func bigLake() Profile {
	return Profile{Name: "biglake", Path: "/iceberg/v1/restcatalog", Levels: 1, MissingLists: true, Login: LoginPreset{Kind: "bearer"}}
}

// snowflake is Snowflake's Horizon catalog. Snowflake Open Catalog is a Polaris.
//
//   - https://<account>.snowflakecomputing.com/polaris/api/catalog; the warehouse is
//     the database, and its schemas are one level (Snowflake documentation, "Query
//     Apache Iceberg tables with an external engine through Snowflake Horizon
//     Catalog").
//   - The scope of OAuth2 names a role, "session:role:<ROLE>", and the mount has to
//     set it (same); a programmatic access token is a client secret there.
//   - Unquoted names are upper case, and may be found in any.
func snowflake() Profile {
	return Profile{Name: "snowflake", Path: "/polaris/api/catalog", Levels: 1, FoldsCase: true, Login: LoginPreset{Kind: "oauth2"}}
}

// oneLake is the table endpoint of Microsoft Fabric's OneLake.
//
//   - https://onelake.table.fabric.microsoft.com/iceberg; the warehouse is
//     "<workspace>/<item>", as ids or names (Microsoft Fabric documentation, "OneLake
//     table APIs for Iceberg").
//   - It reads only: settings, schemas and tables (same). Schemas are one level.
//   - Tokens come from Microsoft Entra ID with the scope
//     https://storage.azure.com/.default (same).
func oneLake() Profile {
	return Profile{Name: "onelake", Path: "/iceberg", Levels: 1,
		Endpoints: capabilities.Of(capabilities.ListNamespaces, capabilities.LoadNamespace, capabilities.NamespaceExists,
			capabilities.ListTables, capabilities.LoadTable, capabilities.TableExists),
		Login: LoginPreset{Kind: "oauth2", Scope: "https://storage.azure.com/.default", NoTokenRoute: true}}
}

// ossTables is Alibaba Cloud's OSS Tables, which follows S3 Tables.
//
//   - https://<region>.oss-tables.aliyuncs.com/iceberg, signed with SigV4 for the
//     service osstables; the warehouse is the ARN of the table bucket, "acs:osstables:…",
//     and so, encoded, is the prefix (Alibaba Cloud OSS documentation, "Iceberg REST
//     Catalog API compatibility").
//   - No views, no namespaces of several levels, no OAuth2 and no bearer tokens (same).
//   - Names count as folded, as with S3 Tables.
func ossTables() Profile {
	return Profile{Name: "oss-tables", Path: "/iceberg", Levels: 1, ThrottlesWith400: true, FoldsCase: true, Endpoints: tablesOnly(),
		Login: LoginPreset{Kind: "sigv4", Service: "osstables"}}
}

// seaweedFS is the catalog in SeaweedFS.
//
//   - The warehouse is a table bucket, whose name is the prefix; there is no path.
//     The client of its own token route is an access key, and requests that are
//     signed with SigV4, for any service and region, are let in as well (seen).
//   - It publishes no endpoint list, and has views and HEAD nevertheless (seen).
//   - Names have lower-case letters, digits and underscores. A table that is dropped
//     loses its files, whatever the client says (seen).
func seaweedFS() Profile {
	return Profile{Name: "seaweedfs", Endpoints: withViews(), Login: LoginPreset{Kind: "oauth2"}}
}

// icefield is another Icefield. Its address has no path of its own, the warehouse
// is the name of a mount or of the tree, and it says everything of itself.
func icefield() Profile { return Profile{Name: "icefield", Login: LoginPreset{Kind: "bearer"}} }

// withViews is the spec's default set with HEAD and with views.
func withViews() capabilities.Set {
	return capabilities.Default().Union(capabilities.Of(capabilities.NamespaceExists, capabilities.TableExists,
		capabilities.ListViews, capabilities.LoadView, capabilities.ViewExists, capabilities.CreateView,
		capabilities.ReplaceView, capabilities.RenameView, capabilities.DropView))
}

// tablesOnly is what the endpoints of S3 Tables and those that follow it have,
// beside the settings: the spec's default set without changes of namespace
// properties, registering, transactions and reports, and with HEAD (Alibaba Cloud
// OSS documentation, as above, which compares both).
func tablesOnly() capabilities.Set {
	return capabilities.Default().Without(capabilities.Of(capabilities.UpdateNamespaceProperties, capabilities.RegisterTable,
		capabilities.CommitTransaction, capabilities.ReportMetrics)).
		Union(capabilities.Of(capabilities.NamespaceExists, capabilities.TableExists))
}
