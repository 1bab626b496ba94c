server {
  name            = "lake"
  listen          = "127.0.0.1:8282"
  secret_env      = "LONG"
  request_timeout = "1m"
  max_body        = "128MiB"
  max_memory      = "2GiB"
  shutdown_grace  = "5s"
  trusted_proxies = ["10.0.0.0/8", "192.0.2.1", "unix"]
  rate_limit {
    requests_per_second = 0.5
  }
  tenant_rate_limit {
    requests_per_second = 1000
    burst               = 1500
  }
  login_lockout {
    failures = 3
    window   = "10s"
  }
}

auth {
  oidc "corp" {
    issuer         = "https://idp.example.com/"
    jwks_url       = "https://idp.example.com/keys"
    audience       = ["icefield", "lake"]
    tenant_claim   = "tenant"
    roles_claim    = "https://acme\\.example/claims.roles"
    operator_roles = ["platform"]
    leeway         = "1m"
    key_refresh    = "90s"
    algorithms     = ["ES256"]
    ca_file        = "ca.pem"
    token_relay    = true
    relay_scope    = ""
  }
  oidc "here" {
    issuer     = "http://127.0.0.1:1"
    audience   = ["icefield"]
    tenant     = "acme"
    name_claim = "name"
  }
  api_key "ci" {
    tenant  = "acme"
    roles   = ["writer", "reader"]
    key_env = "KEY"
  }
  api_key "file" {
    tenant   = "acme"
    key_file = "api.key"
  }
  api_key "admin" {
    operator = true
    hash     = "sha256:9F86D081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
  }
  anonymous {
    tenant = "acme"
    roles  = ["reader"]
  }
}

policy {
  files   = ["policies/*.cedar", "/etc/x.cedar"]
  builtin = true
}

tenant "acme" {
  policies = ["policies/acme/*.cedar"]
}

audit {
  sink        = "file"
  path        = "audit.jsonl"
  fail_closed = false
  max_size    = "1MiB"
  keep        = 3
  queue       = 7
}

mount "/" {
  name               = "base"
  backend            = "native"
  catalog_url        = "bolt:///srv/root.db"
  warehouse_location = "/srv/root"
  required           = false
}

mount "prod" {
  backend            = "native"
  catalog_url        = env("CATALOG", "bolt:///srv/prod.db")
  warehouse_location = "s3://prod-bucket/warehouse/"
  owner              = "acme"
  read_only          = true
  metadata_cache     = "0"
  idempotency_lifetime = "1h"
  storage = {
    "s3.region"            = "eu-central-1"
    "s3.secret-access-key" = env("LONG")
  }
  timeout {
    request = "20s"
  }
  limit {
    in_flight = 8
  }
  signing = true
  signing_bulk_delete = true
  vending "aws" {
    role_arn              = "arn:minio:iam:::role/lake"
    ca_file               = "ca.pem"
    kms_keys              = ["arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"]
    session_tags          = true
    duration              = "30m"
    sts_endpoint          = "https://sts.example.com"
    region                = "eu-central-1"
    external_id_env       = "LONG"
    access_key_id_env     = "LONG"
    secret_access_key_env = "LONG"
    session_token_env     = "LONG"
  }
}

mount "partner" {
  backend     = "rest"
  catalog_url = "https://catalog.partner.example/api/catalog/"
  warehouse   = "sales"
  owner       = file("owner.txt")
  read_only   = true
  required    = false
  auth "oauth2" {
    token_url         = "https://idp.partner.example/token"
    client_id         = "icefield"
    client_secret_env = "LONG"
    scope             = "PRINCIPAL_ROLE:ALL"
  }
  timeout {
    connect = "2s"
    request = "10s"
  }
  breaker {
    failures = 3
    open_for = "1m30s"
  }
  limit {
    in_flight = 64
    response  = "1GiB"
  }
}

mount "file-token" {
  backend     = "rest"
  catalog_url = "http://127.0.0.1:8181/v1"
  relayed_access = "read"
  owner       = "acme"
  auth "bearer" {
    token_file = "owner.txt"
  }
}

mount "short" {
  backend     = "rest"
  catalog_url = "http://catalog.partner.example"
  owner       = "acme"
  token_env   = "LONG"
}

mount "writable" {
  backend             = "rest"
  catalog_url         = "https://writable.partner.example"
  owner               = "acme"
  read_only           = false
  profile             = "polaris"
  namespace_separator = "%2E"
  namespace_levels    = 2
  settings_refresh    = "1m"
  credentials         = "withhold"
  ca_file             = "ca.pem"
  allowed_locations   = ["s3://partner-lake/", "abfss://lake@account.dfs.core.windows.net/tables"]
  headers = {
    "polaris-realm" = "sales"
  }
  auth "exchange" {
    token_url          = "https://idp.partner.example/token"
    client_id          = "icefield"
    client_secret_file = "owner.txt"
    scope              = "all"
    audience           = "catalog"
    resource           = "https://catalog.partner.example"
  }
  quirks {
    throttles_with_400 = true
    no_head            = false
  }
  cache {
    ttl           = "10s"
    stale_if_down = "1h"
    size          = "1MiB"
    coalesce      = false
  }
}

mount "signed" {
  backend     = "rest"
  catalog_url = "https://glue.eu-central-1.amazonaws.com/iceberg"
  owner       = "acme"
  auth "sigv4" {
    service               = "glue"
    region                = "eu-central-1"
    role_arn              = "arn:aws:iam::123456789012:role/lake"
    external_id_env       = "LONG"
    access_key_id_env     = "LONG"
    secret_access_key_env = "LONG"
    session_token_env     = "LONG"
    sts_endpoint          = "https://sts.example.com"
  }
}

mount "named" {
  backend     = "rest"
  catalog_url = "https://named.partner.example"
  owner       = "acme"
  auth "oauth2" {
    client_id          = "icefield"
    client_secret_file = "owner.txt"
    audience           = "catalog"
    resource           = "https://catalog.partner.example"
    basic              = true
    refresh            = true
  }
}

mount "through" {
  backend     = "rest"
  catalog_url = "https://through.partner.example"
  owner       = "acme"
  auth "passthrough" {}
}
