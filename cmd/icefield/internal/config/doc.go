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
//	  listen          = "127.0.0.1:8181"  # or "unix:/run/icefield.sock"; an address that others reach needs an auth block
//	  secret_env      = "ICEFIELD_SECRET" # optional; seals page tokens, at least 16 bytes
//	  request_timeout = "30s"             # of a client's request, all attempts together
//	  max_body        = "64MiB"           # of a client's request
//	  max_memory      = "1GiB"            # for the bodies of remotes' answers under way, of all mounts
//	  shutdown_grace  = "20s"             # for requests that are under way at the end
//
//	  # tls {                             # optional; TLS 1.2 and 1.3. The files are read again when they change
//	  #   cert_file      = "tls.crt"      # with the certificates between it and its authority
//	  #   key_file       = "tls.key"
//	  #   client_ca_file = "clients.crt"  # optional; whose certificates clients can show, see auth
//	  # }
//	  rate_limit {                        # optional; for one client: an IPv4 address, or the /64 of an IPv6 one
//	    requests_per_second = 200
//	    burst               = 400         # at once; twice requests_per_second
//	  }
//	  tenant_rate_limit {                 # optional; for all callers of one tenant together
//	    requests_per_second = 1000
//	    burst               = 2000
//	  }
//	  # Who is believed when it says whom it forwards for (X-Forwarded-For); optional.
//	  # Ranges, addresses, and "unix" for whoever comes by the socket.
//	  trusted_proxies = ["10.0.0.0/8", "2001:db8::1"]
//	  login_lockout {                     # a client that fails to log in is not heard for a while
//	    failures = 10                     # so often; 0 is never
//	    window   = "1m"                   # within so long
//	  }
//	}
//
//	auth {                                # optional; without it everybody is the operator, on this machine only
//	  oidc "corp" {                       # any number of them; users are called corp/…
//	    issuer       = "https://idp.example.com/realms/corp" # as its tokens have it; http on this machine only
//	    audience     = ["icefield"]       # a token is for one of these
//	    tenant_claim = "tenant"           # the claim that names the tenant; or tenant = "acme" for everybody there
//	    roles_claim  = "roles"            # claims are dotted paths, as "realm_access.roles"; "\\." is a dot in a name
//	    name_claim   = "sub"              # must never be another user's later on
//	    operator_roles = ["platform"]     # optional; whoever has one of these roles is an operator,
//	                                      # so only for an issuer that no tenant can have roles written into
//	    leeway       = "30s"              # between the clocks of issuer and server
//	    key_refresh  = "5m"               # a key that the issuer withdraws is good for so long; new ones are fetched at once
//	    # Signatures that are accepted: of kinds where who checks one cannot make it.
//	    algorithms   = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
//	    jwks_url     = "https://idp.example.com/realms/corp/keys" # optional; where its discovery says
//	    # ca_file    = "idp.pem"          # optional; certificates instead of the system's
//	    token_relay  = true               # /v1/oauth/tokens gives this issuer's tokens; true if it is the only one and has no jwks_url
//	    relay_scope  = "icefield"         # optional; asked for there instead of what the client wants; "" is no scope
//	  }
//	  api_key "ci" {                      # any number of them; the caller is called key/ci
//	    tenant  = "acme"
//	    roles   = ["writer"]              # optional
//	    key_env = "ICEFIELD_CI_KEY"       # or key_file, or hash = "sha256:<64 hexadecimal digits>"; at least 16 characters
//	  }
//	  api_key "admin" {
//	    operator = true                   # everything, of every tenant; tenant is optional then
//	    hash     = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
//	  }
//	  # certificate "etl" {               # needs server.tls.client_ca_file; the caller is called certificate/etl
//	  #   tenant   = "acme"
//	  #   roles    = ["writer"]           # optional
//	  #   operator = false
//	  #   dns_name = "etl.acme.example"   # or subject = "CN=etl,O=Acme", uri = "spiffe://…", email = "etl@acme.example"
//	  # }
//	  anonymous {                         # optional; who calls without any credentials, on this machine only
//	    tenant = "acme"
//	    roles  = ["reader"]               # optional
//	  }
//	}
//
//	policy {                              # optional; Cedar policies, read again when they change
//	  files   = ["policies/*.cedar"]      # optional; patterns
//	  builtin = false                     # the policies of admin, writer and reader too; true without files
//	}
//
//	tenant "acme" {                       # optional; policies for what this tenant owns, beside those
//	  policies = ["policies/acme/*.cedar"]
//	}
//
//	audit {                               # optional; who did what, as lines of JSON
//	  sink        = "file"                # "stdout" or "none"
//	  path        = "/var/log/icefield/audit.jsonl"
//	  fail_closed = true                  # what cannot be recorded is not done
//	  max_size    = "100MiB"              # then the next file begins,
//	  keep        = 10                    # and so many of those before are kept
//	  queue       = 10000                 # events that may wait to be written
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
//	  signing = false               # true: S3 requests are signed for clients that ask for it, with the keys of storage
//	  signing_bulk_delete = false   # true: deletions of many objects too; for a store of your own that compares a body with its signed hash
//	  vending "aws" {               # optional; storage credentials for one table, see below
//	    role_arn = "arn:aws:iam::123456789012:role/lake"
//	    duration = "1h"
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
//	  relayed_access    = "read"                  # what those credentials let a client do: who may do less gets none; "write" for a mount that is not read_only
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
// Where the callers' own tokens are used, the remote decides for each of them what
// its credentials give, and there is no relayed_access.
//
// These are the kinds of vending that a native mount can have. What is not said
// comes from the mount's storage properties, or from where each cloud's own tools
// look for it:
//
//	vending "aws" {                 # S3, and what speaks its protocol
//	  role_arn        = "arn:aws:iam::123456789012:role/lake" # to assume, cut down to one table
//	  duration        = "1h"        # 15m to 12h
//	  region          = "eu-central-1"
//	  sts_endpoint    = "https://sts.example.com" # of another store's token service
//	  external_id_env = "EXTERNAL_ID"
//	  access_key_id_env     = "KEY_ID"
//	  secret_access_key_env = "KEY"
//	  session_token_env     = "SESSION_TOKEN"
//	  ca_file      = "sts.pem"      # whose certificates that has
//	  kms_keys     = ["arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"] # that encrypt the bucket
//	  session_tags = false          # true: principal and tenant are tags of the session, for the store's own trail
//	}
//	vending "gcs" {
//	  credentials_file = "lake.json" # a service account's key, or another login of Google's
//	  project_id       = "lake"      # told to clients
//	  sts_endpoint     = "https://sts.example.com"
//	}
//	vending "azure" {
//	  tenant_id         = "5ab5b1c6-5f1c-4f0e-9f5e-0d8a3b2f6c11" # with the next two, or none of them
//	  client_id         = "icefield"
//	  client_secret_env = "AZURE_SECRET"
//	  duration          = "1h"       # 15m to 24h
//	}
//
// A tenant, in owner, tenant and the label of a tenant block, is any text of at
// most 256 bytes without control characters. A login and a mount are called
// [A-Za-z0-9_][A-Za-z0-9_-]*.
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
// configuration, the files that file("…") names, certificates, and whether the
// secrets that it names are there and policy files can be looked for; what these
// hold is read by package policy/cedar. Relative paths
// (file("…"), *_file, policy files, audit.path, bolt://, file warehouses, unix
// sockets) start at the folder of the file they stand in.
//
// A server reads its configuration again when it changes. Equal says of two mounts
// whether anything has; NeedsRestart, which settings of the server have that it
// cannot take over while it runs.
//
// Secret values never become part of a Config, except the server's own secret and
// what storage and catalog_url get from elsewhere (of API keys it has the hashes), and never of a report, not even where somebody wrote one into the file.
//
// It wires nothing: what a Config means is the command's business. Layer: part
// of cmd/icefield; of this module it imports what says which
// names and locations are valid.
package config
