// Package config reads the mount table: HCL, in its native or its JSON syntax,
// from one file or from every *.hcl and *.hcl.json file of a folder.
//
//	cfg, report := config.Load("/etc/icefield", config.Options{})
//	report.WriteText(os.Stderr)
//	if report.HasErrors() { … }
//
// A configuration looks like this:
//
//	mount "/" {
//	  backend            = "native"
//	  catalog_url        = "bolt://catalog.db"
//	  warehouse_location = "file:///var/lib/icefield/warehouse"
//	}
//
//	mount "partner" {
//	  backend     = "rest"
//	  catalog_url = "https://catalog.partner.example/api/catalog"
//	  warehouse   = "sales"
//	  owner       = "acme"
//	  token_env   = "PARTNER_TOKEN"
//	}
//
// These are all keys there are, with their defaults; what has none is needed,
// unless it says that it is optional.
//
//	server {
//	  name            = "icefield"        # the whole tree, as a warehouse
//	  listen          = "127.0.0.1:8181"  # a loopback address, or "unix:/run/icefield.sock"
//	  secret_env      = "ICEFIELD_SECRET" # optional; seals page tokens, at least 16 bytes
//	  request_timeout = "30s"             # of a client's request, all attempts together
//	  max_body        = "64MiB"           # of a client's request
//	  max_memory      = "1GiB"            # for the bodies of remotes' answers under way, of all mounts
//	  shutdown_grace  = "20s"             # for requests that are under way at the end
//	}
//
//	mount "/" {                     # the catalog underneath; any other name for a mount in the tree
//	  name      = "root"            # what "/" is called as a catalog of its own
//	  backend   = "native"
//	  owner     = "acme"            # the tenant; optional for "/" only
//	  read_only = false
//	  required  = true              # false: the server starts without it and keeps trying
//
//	  catalog_url        = "bolt:///var/lib/icefield/root.db" # or env("DATABASE_URL") for postgres://…, see below
//	  warehouse_location = "s3://lake/warehouse" # or a file, gs or abfss location
//	  metadata_cache     = "256MiB" # "0" is off
//	  # How long a change that is sent again under its Idempotency-Key is answered
//	  # as before, from a minute to a day; "0s" is off.
//	  idempotency_lifetime = "30m"
//	  storage = {                   # optional; how to reach the warehouse, see below
//	    "s3.region" = "eu-central-1"
//	  }
//	  timeout {
//	    request = "20s" # of one attempt; at most four fifths of the server's
//	  }
//	  breaker {         # for every kind of backend
//	    failures = 5    # so often in a row out of reach,
//	    open_for = "15s"
//	  }
//	  limit {
//	    in_flight = 256 # requests at a time
//	  }
//	}
//
//	mount "partner" {
//	  backend     = "rest"
//	  catalog_url = "https://catalog.partner.example/api/catalog" # the part before /v1
//	  warehouse   = "sales" # optional; what the remote is asked for
//	  owner       = "acme"
//	  read_only   = true    # false: writes are forwarded, once, as they are
//	  required    = true
//
//	  profile             = "polaris" # optional; the habits of a vendor, see below
//	  namespace_separator = "%1F"     # optional; instead of the profile's
//	  namespace_levels    = 16        # optional; how deep namespaces can be there
//	  settings_refresh    = "5m"      # how old the remote's /v1/config may get
//	  headers = {                     # optional; sent with every catalog call
//	    "Polaris-Realm" = "sales"
//	  }
//	  # ca_file         = "partner.pem"           # optional; certificates instead of the system's
//	  credentials       = "forward"               # "withhold": no storage credential of the remote leaves
//	  allowed_locations = ["s3://partner-lake/"]  # optional; where tables lie and credentials are good for
//
//	  auth "oauth2" {       # optional; see below for the other kinds; token_env alone is short for "bearer"
//	    token_url         = "https://idp.partner.example/token" # optional; the remote's own /v1/oauth/tokens
//	    client_id         = "icefield"
//	    client_secret_env = "PARTNER_SECRET"      # or client_secret_file
//	    scope             = "PRINCIPAL_ROLE:ALL"  # optional
//	    audience          = "catalog"             # optional
//	    resource          = "https://catalog.partner.example" # optional
//	    basic             = false                 # true: id and secret in a header
//	    refresh           = false                 # true: a token is renewed by exchanging it, as at the remote's own route
//	  }
//	  timeout {
//	    connect = "2s"
//	    request = "10s"
//	  }
//	  limit {
//	    in_flight = 64
//	    response  = "256MiB" # one answer, as sent and as inflated
//	  }
//	  quirks {               # each optional; instead of the profile's
//	    throttles_with_400 = false # a 400 that speaks of a rate means 429
//	    missing_lists      = false # a list that is missing is empty
//	    no_head            = false # HEAD is never sent
//	  }
//	  cache {
//	    ttl           = "0s"     # an answer is used so long unasked; 0s asks each time whether it still holds
//	    stale_if_down = "0s"     # and so long while the remote is down, marked as stale
//	    size          = "256MiB" # "0" keeps nothing
//	    coalesce      = true     # identical reads at a time share a call
//	  }
//	}
//
// These are the kinds of auth that a mount of a remote can have:
//
//	auth "none" {}
//	auth "bearer" {
//	  token_env = "PARTNER_TOKEN" # or token_file
//	}
//	auth "oauth2" { … }           # client credentials, as above
//	auth "sigv4" {
//	  # All optional, if profile and host say the first two; without keys they come
//	  # from where AWS tools look for them.
//	  service  = "glue"           # "s3tables", "execute-api", …
//	  region   = "eu-central-1"
//	  role_arn              = "arn:aws:iam::123456789012:role/lake" # to assume
//	  external_id_env       = "EXTERNAL_ID"
//	  sts_endpoint          = "https://sts.example.com"
//	  access_key_id_env     = "KEY_ID"
//	  secret_access_key_env = "KEY"
//	  session_token_env     = "SESSION_TOKEN"
//	}
//	auth "passthrough" {}         # each caller's own bearer token
//	auth "exchange" {             # a token for each caller, got for the caller's own (RFC 8693)
//	  token_url          = "https://idp.partner.example/token"
//	  client_id          = "icefield"           # optional, with its secret:
//	  client_secret_file = "/run/secrets/idp"   # or client_secret_env
//	  audience           = "catalog"            # optional, as are scope, resource and basic
//	}
//
// With "passthrough" and "exchange" the remote may answer each caller differently:
// what is cached and coalesced is then kept for one caller, told by the token.
// What a mount asks in the background it asks without a login.
//
// The profiles are those of rest.Profiles: each presets what is known of a
// vendor's catalogs, and every key here goes before it.
//
// A remote's answers are held in memory whole, and reading one takes up to three
// times its size: what a hostile remote can take is about 3 × in_flight ×
// response, within max_memory. Lower them for a remote that is not trusted that far.
// Answers of up to 64 KiB wait for no room, so that slow clients with large ones
// close no mount.
//
// A native mount keeps its registry in a bolt file, for one process, or in a
// PostgreSQL database, for any number of replicas:
// "postgres://user@host:5432/database?sslmode=verify-full", with the parameters of
// package native/store/postgres, among them pool_max_conns=16 (connections of one
// server) and schema=icefield (several registries can share a database). The
// password stands in a variable with the whole URL (catalog_url = env("…")), in
// PGPASSWORD, or in a password file (passfile=…), not in the configuration.
//
// Storage holds Iceberg's FileIO properties for the warehouse's kind: those of
// warehouse.Properties, s3.* and client.region for S3, gcs.* for Google Cloud
// Storage (gs://bucket/prefix), adls.* for Azure
// (abfss://container@account.dfs.core.windows.net/prefix). What no one reads is
// refused. Secrets among them come from env("…") or file("…"); without any, the
// server takes what its surroundings offer, as each cloud's own tools do.
//
// Every mistake of every file is reported together, each with its place and with
// what to do about it. Reading opens no catalog and sends nothing: it reads the
// configuration, the files that file("…") names, and whether the secrets that it
// names are there. Relative paths (file("…"), *_file, bolt://, file warehouses,
// unix sockets) start at the folder of the file they stand in.
//
// A server reads its configuration again when it changes. Equal says of two mounts
// whether anything has; NeedsRestart, which settings of the server have that it
// cannot take over while it runs.
//
// Secret values never become part of a Config, except the server's own secret and
// what storage and catalog_url get from elsewhere, and never of a report, not even where somebody wrote one into the file.
//
// It wires nothing: what a Config means is the command's business. Layer: part
// of cmd/icefield; of this module it imports what says which
// names and locations are valid.
package config
